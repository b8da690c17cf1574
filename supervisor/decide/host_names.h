/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_names.h - which of the names that a policy allows has this address?
 *
 * A connection is made to an address, a rule may be about a name.  Where a name service
 * of ours answers the session (name_service.h), an address has the names that it
 * was the answer for, and those that /etc/hosts gives it.  Elsewhere the literal names
 * of the allow rules are looked up here, by a thread of their own on the first
 * question, and again when they are old.  A name that cannot be looked up has no
 * address; wildcards are not looked up at all.
 *
 * All functions may be called by any thread at any time.
 */
#ifndef AW_SUPERVISOR_DECIDE_HOST_NAMES_H
#define AW_SUPERVISOR_DECIDE_HOST_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/error.h"
#include "policy/image/image.h"
#include "supervisor/net/proto/dns.h"

struct aw_hosts;
struct aw_names;

/* Nothing is looked up yet, and image is not referred to afterwards. */
int aw_names_create(
	const struct aw_image *image, struct aw_names **ret, struct aw_error *err);

/* Other rules hold from now on; what is known of names that stay is kept. */
int aw_names_reload(
	struct aw_names *names, const struct aw_image *image, struct aw_error *err);

/*
 * Up to max names that are known to have this address; the port does not matter.  They
 * are good until aw_names_free().  Nobody waits: what is not known, or is old, is
 * looked up behind the back.
 */
size_t aw_names_of(struct aw_names *names, const struct aw_address *address,
	const char *ret[], size_t max);

enum {
	AW_NAMES_FRESH_S =
		60, /* after that they are looked up again, behind the back */
	AW_NAMES_RETRY_S =
		5, /* an unknown address has them looked up again this soon */
	AW_NAMES_KEEP_S = 600, /* an address that a name no longer has counts this long
				*/
};

/*
 * From now on a name service tells what there is to know, and nothing is looked up
 * here.
 */
int aw_names_serve(struct aw_names *names, struct aw_error *err);

/*
 * The service has given this address for a plain name, good for so many seconds.
 * guarded: a public name that leads to a private address, which admits nothing there
 * that rules for the address itself do not.
 */
void aw_names_learn(struct aw_names *names, const char *name,
	const struct aw_address *address, bool guarded, uint32_t ttl);

/*
 * Where a name service runs: up to max names of an address, copied; ret_guarded may be
 * NULL.
 */
size_t aw_names_learned(struct aw_names *names, const struct aw_address *address,
	char (*ret)[AW_DNS_NAME], bool *ret_guarded, size_t max);

/* The host's own file of names; borrowed. */
struct aw_hosts *aw_names_hosts(const struct aw_names *names);

/*
 * Where a name service runs, an address is judged by each name that it has, and the
 * mildest verdict counts; one without a name is judged as it is.  address->host is the
 * name that counted, good until this thread's next call.
 *
 * Elsewhere: a denial that no rule stands behind, judged again with each name that is
 * known for the address; the one that allows it becomes address->host.
 */
void aw_names_decide(struct aw_names *names, const struct aw_image *image,
	uint32_t profiles, enum aw_action action, struct aw_address *address,
	struct aw_decision *decision);

/* Ends the thread at its next chance and frees all; NULL is fine. */
void aw_names_free(struct aw_names *names);

#endif
