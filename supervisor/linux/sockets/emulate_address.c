/* SPDX-License-Identifier: Apache-2.0 */
/* emulate_address.c - a target's sockets and the addresses it names, judged. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/linux/netns/unix_listens.h"
#include "supervisor/linux/pidfd.h"
#include "supervisor/linux/sockets/bound.h"
#include "supervisor/linux/sockets/emulate_net.h"
#include "supervisor/linux/sockets/name_route.h"
#include "supervisor/linux/sockets/socket_option.h"
#include "supervisor/linux/sockets/socket_replace.h"
#include "supervisor/linux/sockets/route.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/util/cleanup.h"

int aw_emulate_socket(struct aw_notified *call, int number)
{
	AW_CLOSE int pidfd = aw_pidfd_of_thread(call->target.tid, call->target.who.pid);
	int fd = pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);

	if (fd < 0)
		aw_emulate_answer(call, -errno);
	return fd;
}

static int socket_option(int fd, int option)
{
	socklen_t len = sizeof(int);
	int value = -1;

	return getsockopt(fd, SOL_SOCKET, option, &value, &len) < 0 ? -1 : value;
}

/*
 * Sent to no address at all it goes to where the socket is bound to, or to the loopback
 * (route.c, ip_route_output_key_hash()).  Said in full, so that another thread cannot
 * change by bind what it means.
 */
static void name_home(int fd, struct aw_emulate_address *address)
{
	union aw_any_address *to = &address->any, at;
	struct in6_addr *six = &to->in6.sin6_addr;
	socklen_t len = sizeof(at.storage);
	in_addr_t *four = to->family == AF_INET ? &to->in.sin_addr.s_addr
			  : IN6_IS_ADDR_V4MAPPED(six)
				  ? (in_addr_t *)(void *)&six->s6_addr[12]
				  : NULL;

	memset(&at, 0, sizeof(at));
	if (getsockname(fd, (struct sockaddr *)&at, &len) < 0)
		return;
	if (!four && IN6_IS_ADDR_UNSPECIFIED(six)) {
		*six = in6addr_loopback;
		if (IN6_IS_ADDR_V4MAPPED(&at.in6.sin6_addr)) {
			inet_pton(AF_INET6, "::ffff:127.0.0.1", six);
			address->judged = *to;
		}
		return;
	}
	if (!four || *four)
		return;
	if (at.family == AF_INET)
		*four = at.in.sin_addr.s_addr;
	else if (IN6_IS_ADDR_V4MAPPED(&at.in6.sin6_addr))
		memcpy(four, &at.in6.sin6_addr.s6_addr[12], sizeof(*four));
	if (*four)
		address->judged = *to;
	else
		*four = htonl(INADDR_LOOPBACK);
}

static bool is_internet(const union aw_any_address *any, size_t len)
{
	return (any->family == AF_INET && len >= sizeof(any->in)) ||
	       (any->family == AF_INET6 && len >= 24 /* SIN6_LEN_RFC2133 */);
}

static bool is_strange(int domain)
{
	return domain != AF_UNIX && domain != AF_INET && domain != AF_INET6 &&
	       domain != AF_NETLINK;
}

int aw_emulate_address(struct aw_notified *call, int fd, uint64_t address, uint64_t len,
	struct aw_emulate_address *ret)
{
	memset(&ret->any, 0, sizeof(ret->any));
	ret->len = (size_t)len;
	ret->place.parent = ret->place.object = -1;
	ret->route = AW_ROUTE_AS_IT_IS;
	ret->domain = socket_option(fd, SO_DOMAIN);
	ret->type = socket_option(fd, SO_TYPE);
	ret->protocol = socket_option(fd, SO_PROTOCOL);
	if (ret->domain < 0)
		return errno;
	if (len < sizeof(ret->any.family) || len > sizeof(ret->any.storage))
		return EINVAL;
	if (!aw_target_read(&call->target, address, &ret->any, len))
		return EFAULT;
	/* what the kernel takes for an Internet address is judged as one: ip(7) */
	ret->judged = ret->any;
	if (!ret->any.family && call->row->effect != AW_FX_CONNECT &&
		ret->domain == AF_INET) {
		ret->judged.family = AF_INET;
		if (call->row->effect != AW_FX_BIND)
			ret->any.family = AF_INET;
	}
	/* one that was handed over: what it takes for an address is not for us to say */
	if (is_strange(ret->domain))
		ret->judged.family = AF_PACKET;
	else if (call->row->effect != AW_FX_BIND && is_internet(&ret->any, ret->len))
		name_home(fd, ret);
	return 0;
}

/* What of it can be told where nothing was found. */
static void note_unfound(
	struct aw_notified *call, const struct aw_text *path, const struct aw_text *raw)
{
	call->event.family = AF_UNIX;
	call->event.address = path->len ? *path : *raw;
	call->event.path = call->event.raw = (struct aw_text){NULL, 0};
}

/* A socket file: its place, so that what is judged is what is spoken to. */
static bool find_file(struct aw_notified *call, struct aw_emulate_address *address)
{
	const struct aw_path_walk_params params = {
		.dir = AT_FDCWD, .follow = call->row->effect != AW_FX_BIND};
	struct aw_text path = {NULL, 0}, raw = {NULL, 0};
	bool found;

	memcpy(call->raw, address->any.un.sun_path, sizeof(address->any.un.sun_path));
	call->raw[address->len - offsetof(struct sockaddr_un, sun_path)] = '\0';
	found = aw_emulate_find(call, &params, call->raw, &address->place, &path, &raw);
	aw_creds_restore();
	if (!found)
		note_unfound(call, &path, &raw);
	return found;
}

/*
 * Nobody is there to be reached, or the name is taken: that is the answer, whatever the
 * rules are, and no denial.  What is hidden is not there.
 */
static int answer_without_rules(
	const struct aw_notified *call, const struct aw_emulate_address *address)
{
	const struct aw_location *place = &address->place;
	struct aw_decision seen;

	if (place->parent < 0)
		return 0;
	if (call->event.action != AW_BIND && place->object < 0)
		return aw_call_is_absent(call, place->name) ? ENOENT : 0;
	if (call->event.action != AW_BIND)
		return S_ISSOCK(place->st.st_mode) ? 0 : ECONNREFUSED;
	if (place->object < 0)
		return 0;
	aw_image_decide_path_in(atomic_load(&call->watch->image),
		call->target.who.role.profiles, AW_READ, place->name, place->len,
		&seen);
	return seen.verdict == AW_ALLOW ? EADDRINUSE : 0;
}

static void answer_for_kernel(struct aw_notified *call, int err)
{
	static const struct aw_decision none = {AW_ALLOW, AW_NO_RULE};

	if (!aw_emulate_waits(call))
		return;
	aw_call_decide(call, &none);
	call->event.result_known = true;
	call->event.result = err;
	aw_emulate_answer(call, -err);
}

static bool is_answered_without_rules(
	struct aw_notified *call, const struct aw_emulate_address *address)
{
	int err = answer_without_rules(call, address);

	if (err)
		answer_for_kernel(call, err);
	return err != 0;
}

/* What a server has left may be taken over: as the kernel says it, and no denial. */
static bool is_left(const struct aw_notified *call,
	const struct aw_emulate_address *address, const struct aw_decision *decision)
{
	return call->watch->enforce && decision->verdict == AW_DENY &&
	       call->event.action != AW_BIND && address->place.object >= 0 &&
	       !aw_unix_has_owner(&address->place.st);
}

size_t aw_emulate_abstract_len(const struct aw_emulate_address *address)
{
	const struct sockaddr_un *un = &address->any.un;
	size_t before = offsetof(struct sockaddr_un, sun_path);

	return address->any.family == AF_UNIX && address->len > before &&
			       !un->sun_path[0]
		       ? address->len - before
		       : 0;
}

/* The session's own servers may be spoken to even where no rule names them. */
static bool is_own_server(const struct aw_watch *watch,
	const struct aw_emulate_address *address, const struct aw_address *to)
{
	if (to->family != AF_UNIX)
		return false;
	if (address->place.object >= 0)
		return aw_bound_has_file(watch, &address->place.st);
	return aw_emulate_abstract_len(address) &&
	       aw_bound_has_name(watch, address->any.un.sun_path,
		       aw_emulate_abstract_len(address), address->type);
}

bool aw_emulate_may_address(
	struct aw_notified *call, struct aw_emulate_address *address)
{
	const struct aw_image *image = atomic_load(&call->watch->image);
	uint32_t profiles = call->target.who.role.profiles;
	struct aw_event *event = &call->event;
	struct aw_decision decision, file;
	struct aw_text path = {NULL, 0};
	struct aw_address to;

	/* to a socket of another family a path is an error, whatever it is */
	if (address->domain == AF_UNIX &&
		aw_address_is_unix_path(&address->judged, address->len)) {
		if (!find_file(call, address))
			return false;
		path = (struct aw_text){address->place.name, address->place.len};
	}
	aw_address_describe(&address->judged, address->len, path, call->path2,
		sizeof(call->path2), &to, event);
	if (path.len) { /* the event outlives the place */
		memcpy(call->path2, path.bytes, path.len + 1);
		event->address = (struct aw_text){call->path2, path.len};
	}
	event->path = event->raw = (struct aw_text){NULL, 0};
	if (is_answered_without_rules(call, address))
		return false;
	aw_image_decide_address_in(image, profiles, event->action, &to, &decision);
	address->route = aw_route_of_name(call, &to, &decision);
	if (decision.verdict != AW_ALLOW && decision.rule == AW_NO_RULE &&
		is_own_server(call->watch, address,
			&to)) { /* unless a profile is against it */
		aw_image_decide_address_in(image, profiles | AW_PROFILES_ALONE,
			event->action, &to, &decision);
		address->route = aw_route_of_own_name(call, &to);
	}
	if (aw_name_route_is_cache(call, &to, &decision)) {
		aw_emulate_answer(call, -ENOENT);
		call->silent = true;
		return false;
	}
	aw_route_decide(call, address, &to, &decision);
	if (to.host)
		event->host = (struct aw_text){to.host, strlen(to.host)};
	if (path.len && event->action != AW_BIND) { /* a denied file stays denied */
		aw_image_decide_path_in(
			image, profiles, event->action, path.bytes, path.len, &file);
		if (file.verdict > decision.verdict)
			decision = file;
	}
	if (is_left(call, address, &decision)) {
		answer_for_kernel(call, ECONNREFUSED);
		return false;
	}
	aw_call_decide(call, &decision);
	return call->reply == AW_REPLY_CONTINUE && aw_emulate_waits(call);
}

/* The address to use in a call of ours: a socket file by the descriptor that holds it. */
void aw_emulate_use(struct aw_emulate_address *address)
{
	struct sockaddr_un *un = &address->any.un;

	if (address->place.object < 0)
		return;
	address->len = offsetof(struct sockaddr_un, sun_path) + 1 +
		       (size_t)snprintf(un->sun_path, sizeof(un->sun_path),
			       "/proc/self/fd/%d", address->place.object);
}
