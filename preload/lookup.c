/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.c - names that are looked up: judged and logged before, and what they gave.
 */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>

#include "preload/arguments.h"
#include "preload/gate.h"
#include "preload/text.h"

enum { HOST_MOST = 255 };

bool aw_enter_lookup(enum aw_call call, const char *host, const char *service,
	struct aw_passage *ret)
{
	struct aw_subject s = {.head = {.call = (uint16_t)call, .action = AW_CONNECT}};
	struct aw_decision decision;
	struct aw_self *self;
	long host_len, service_len = 0;

	*ret = (struct aw_passage){.denied = 0};
	if (aw_is_vfork_child() || aw_work() == AW_WORK_NONE || !host ||
		!(self = aw_self()))
		return true;
	host_len = aw_string_length(self, host, 1024);
	if (service)
		service_len = aw_string_length(self, service, 256);
	if (host_len < 0 || service_len < 0)
		return true;
	aw_image_decide_host_in(aw_policy(), aw_profiles(), host, &decision);
	s.head.ts = aw_now();
	s.head.pid = self->pid;
	s.head.verdict = (uint8_t)decision.verdict;
	s.head.rule = decision.rule;
	s.head.raw_len = (uint16_t)host_len;
	s.head.raw2_len = (uint16_t)service_len;
	s.parts[2] = host;
	s.parts[3] = service;
	if (aw_session()->enforce && decision.verdict >= AW_DENY) {
		ret->denied = EACCES;
		s.head.flags |= AW_REC_REFUSED;
	}
	aw_put_call(self, NULL, &s, ret);
	return !ret->denied;
}

/* Loopback tells nothing: it is "localhost" in every policy. */
static bool take(int family, const void *bytes, unsigned char to[AW_RING_ANSWER])
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

	if (family == AF_INET6) {
		memcpy(to, bytes, 16);
		return !IN6_IS_ADDR_LOOPBACK((const struct in6_addr *)(void *)to);
	}
	if (family != AF_INET)
		return false;
	memcpy(to, mapped, sizeof(mapped));
	memcpy(to + 12, bytes, 4);
	return to[12] != 127;
}

static bool take_socket(
	const struct sockaddr *address, unsigned char to[AW_RING_ANSWER])
{
	const struct sockaddr_in *in = (const void *)address;
	const struct sockaddr_in6 *in6 = (const void *)address;

	return address &&
	       take(address->sa_family,
		       address->sa_family == AF_INET6 ? (const void *)&in6->sin6_addr
						      : (const void *)&in->sin_addr,
		       to);
}

/* The result, and in audit what it gave. */
static void tell(enum aw_call call, const struct aw_passage *passage, const char *host,
	const unsigned char *addresses, size_t count, bool failed)
{
	const void *const parts[5] = {addresses, NULL, host, NULL, NULL};
	struct aw_record head = {
		.call = (uint16_t)call, .action = AW_CONNECT, .flags = AW_REC_ANSWER};
	struct aw_self *self;
	size_t len;

	aw_ring_result(&passage->ticket, failed ? AW_REC_FINAL : AW_REC_DONE, 0);
	if (!count || aw_session()->enforce || !(self = aw_self_if_ready()))
		return;
	len = strlen(host);
	if (len > HOST_MOST)
		return;
	head.pid = self->pid;
	head.ts = aw_now();
	head.path_len = (uint16_t)(count * AW_RING_ANSWER);
	head.raw_len = (uint16_t)len;
	/* a hint: where there is no room, nobody waits for it */
	aw_ring_put(atomic_load(&self->ring), &head, parts, AW_REC_DONE, 0, NULL);
}

void aw_leave_lookup(enum aw_call call, const struct aw_passage *passage,
	const char *host, const struct addrinfo *list)
{
	unsigned char addresses[AW_RING_ANSWERS * AW_RING_ANSWER];
	bool failed = !list;
	size_t count = 0;

	if (!passage->ticket.ring)
		return;
	/* one for each kind of socket: an address comes several times in a row */
	for (; list && count < AW_RING_ANSWERS; list = list->ai_next) {
		unsigned char *at = addresses + count * AW_RING_ANSWER;

		if (take_socket(list->ai_addr, at) &&
			(!count || memcmp(at - AW_RING_ANSWER, at, AW_RING_ANSWER)))
			count++;
	}
	tell(call, passage, host, addresses, count, failed);
}

void aw_leave_host(enum aw_call call, const struct aw_passage *passage,
	const char *host, const struct hostent *found)
{
	unsigned char addresses[AW_RING_ANSWERS * AW_RING_ANSWER];
	size_t count = 0;

	if (!passage->ticket.ring)
		return;
	for (int i = 0; found && found->h_addr_list[i] && count < AW_RING_ANSWERS; i++)
		count += take(found->h_addrtype, found->h_addr_list[i],
			addresses + count * AW_RING_ANSWER);
	tell(call, passage, host, addresses, count, !found);
}
