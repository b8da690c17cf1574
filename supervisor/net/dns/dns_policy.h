/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dns_policy.h - which names may be looked up, and what may be the answer.
 *
 * One question at a time; nothing here waits.  Any thread may be in here with a case of
 * its own.
 */
#ifndef AW_SUPERVISOR_NET_DNS_DNS_POLICY_H
#define AW_SUPERVISOR_NET_DNS_DNS_POLICY_H

#include "policy/load/load.h"
#include "supervisor/decide/host_names.h"
#include "supervisor/net/dns/name_servers.h"
#include "supervisor/net/dns/resolve.h"
#include "supervisor/net/proto/dns.h"

struct aw_dns_policy {
	struct aw_names *names;		 /* borrowed */
	struct aw_name_servers *servers; /* borrowed */
};

/* A question on its way, and what came of it. */
struct aw_name_case {
	struct aw_dns_question q;
	const struct aw_image *image;		       /* borrowed */
	const struct aw_variable_names *private_names; /* borrowed; or NULL */
	uint32_t profiles;

	struct aw_decision decision;
	char judged[AW_DNS_NAME]; /* whose rules count, and who gets the addresses */
	bool reverse;		  /* a question for the names of: */
	struct aw_address about;
	char reason[200]; /* of a refusal, for the log and the program; or "" */

	int code;	   /* enum aw_dns_code of the answer */
	int why;	   /* enum aw_dns_why */
	int result;	   /* for the log: 0 or an errno */
	char answers[256]; /* for the log: addresses, as members of a JSON list */
};

/* May it be looked up?  Fills in all but the last part; a refusal fills in that, too. */
void aw_name_judge(const struct aw_dns_policy *law, struct aw_name_case *c);

/*
 * The whole answer, where it is known without asking anybody: a refusal, localhost, and
 * what stands in /etc/hosts.  Its length, 0: the servers have to be asked.
 */
size_t aw_name_answer_here(const struct aw_dns_policy *law, struct aw_name_case *c,
	unsigned char *to, size_t room);

/*
 * The answer made of what a server said, addresses looked at and remembered; or of its
 * failure (len 0).  Its length.
 */
size_t aw_name_answer(const struct aw_dns_policy *law, struct aw_name_case *c,
	const struct aw_resolved *answer, unsigned char *to, size_t room);

/* An answer with a code alone. */
size_t aw_name_answer_code(
	struct aw_name_case *c, int code, int result, unsigned char *to, size_t room);

#endif
