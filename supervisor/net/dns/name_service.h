/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_service.h - answers the questions for names of a session (mode enforce, engines
 * hybrid and kernel).
 *
 * Whoever asks the name servers of /etc/resolv.conf, over UDP or TCP, is answered by
 * us: for names that some rule allows, with what the host's own resolver finds; for
 * others with NXDOMAIN, and nothing leaves the machine.  What was answered is
 * remembered (host_names.h), and each question is an event.
 *
 * The servers' addresses are ours in a network namespace: the sandbox's, where it has
 * one, and else one that is made for this.  Where none can be made, a port of the
 * host's loopback stands in.
 *
 * All functions may be called by any thread at any time.
 */
#ifndef AW_SUPERVISOR_NET_DNS_NAME_SERVICE_H
#define AW_SUPERVISOR_NET_DNS_NAME_SERVICE_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/types.h>

#include "policy/load/load.h"
#include "supervisor/linux/netns/netns.h"

struct aw_name_service;
struct aw_watch;

/* How a process gets at the service. */
enum aw_name_reach {
	AW_NAMES_INSIDE, /* by itself, in the sandbox's network */
	AW_NAMES_APART, /* over a socket of the service's network in place of its own */
	AW_NAMES_NEARBY, /* at another address: a client that looks at it is lost */
};

/* Does this policy judge names otherwise than all alike? */
bool aw_name_service_is_needed(const struct aw_policy *policy);

/*
 * watch and its names outlive the service; they are served from now on.  inner: the
 * sandbox's network, or NULL.  What cannot be served is a warning in the log.
 */
int aw_name_service_start(struct aw_watch *watch, struct aw_netns *netns,
	const struct aw_policy *policy, struct aw_name_service **ret,
	struct aw_error *err);

/* Another policy holds; what it says of private names is copied. */
void aw_name_service_reload(
	struct aw_name_service *service, const struct aw_policy *policy);

enum aw_name_reach aw_name_service_reach(const struct aw_name_service *service);

/* Is this, its port included, where the service is asked? */
bool aw_name_service_is_at(
	struct aw_name_service *service, const struct aw_address *address);

/* AW_NAMES_APART: the network that is asked over; else NULL. */
struct aw_netns *aw_name_service_network(const struct aw_name_service *service);

/* AW_NAMES_NEARBY: the address that stands in, for a socket of this domain; 0: none. */
socklen_t aw_name_service_stand_in(const struct aw_name_service *service, int domain,
	int type, struct sockaddr_storage *ret);

/*
 * What comes over this socket is a process's: for its profiles, and for the log.
 * Nobody else is answered.  A socket without a port gets one, as its first use would
 * do.
 */
void aw_name_service_note(
	struct aw_name_service *service, int fd, pid_t pid, uint32_t profiles);

/* Nobody is answered any more; NULL is fine. */
void aw_name_service_stop(struct aw_name_service *service);

#endif
