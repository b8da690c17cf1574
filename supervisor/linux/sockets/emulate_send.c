/* SPDX-License-Identifier: Apache-2.0 */
/* emulate_send.c - messages that carry an address, copied whole and sent for the
 * target.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "supervisor/linux/sockets/emulate_control.h"
#include "supervisor/linux/sockets/emulate_net.h"
#include "supervisor/linux/sockets/emulate_relay.h"
#include "supervisor/linux/sockets/message.h"
#include "supervisor/linux/sockets/name_route.h"
#include "supervisor/linux/sockets/socket_replace.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/util/cleanup.h"

enum {
	DATA_MAX = 4 * 1024 * 1024, /* larger than any datagram; of a stream, a part */
	VECTOR_MAX = 1024,	    /* UIO_MAXIOV */
};

/* Whether an address in a message means anything. */
enum kind {
	ADDRESSED,
	STREAM,	     /* goes where it is connected to: none */
	UNIX_STREAM, /* the same, and none may be given */
	PACKETS,     /* the same, a message at a time */
	NETLINK,     /* speaks to the kernel; the address is a port id */
};

/* One message, all of it ours. */
struct message {
	uint64_t name, name_len; /* in the target */
	struct aw_emulate_address address;
	char *data; /* owned */
	size_t len;
	struct aw_control_messages control; /* owned */
	size_t sent;
	enum kind kind;
};

static bool is_stream(enum kind kind)
{
	return kind == STREAM || kind == UNIX_STREAM;
}

static bool is_connected(int fd)
{
	struct sockaddr_storage peer;
	socklen_t len = sizeof(peer);

	return getpeername(fd, (struct sockaddr *)&peer, &len) == 0;
}

static void release(struct message *m)
{
	free(m->data);
	aw_control_release(&m->control);
	aw_location_release(&m->address.place);
}

static bool read_header(
	struct aw_notified *call, uint64_t address, struct aw_message_header *ret)
{
	char bytes[AW_MESSAGE_HEADER(8)];

	if (!aw_target_read(
		    &call->target, address, bytes, AW_MESSAGE_HEADER(call->word)))
		return false;
	*ret = aw_message_header(bytes, call->word);
	return true;
}

static int read_part(
	struct aw_notified *call, struct message *m, uint64_t base, uint64_t len)
{
	char *data;

	if (len > DATA_MAX - m->len)
		return EMSGSIZE;
	data = realloc(m->data, m->len + len + 1);
	if (!data)
		return ENOMEM;
	m->data = data;
	if (len && !aw_target_read(&call->target, base, data + m->len, len))
		return EFAULT;
	m->len += len;
	return 0;
}

static int read_vector(
	struct aw_notified *call, const struct aw_message_header *h, struct message *m)
{
	const size_t size = AW_MESSAGE_PART(call->word);
	char bytes[AW_MESSAGE_PART(8)];
	uint64_t base, len;
	int err = 0;

	if (h->vector_count > VECTOR_MAX)
		return EMSGSIZE;
	for (uint64_t i = 0; i < h->vector_count && !err; i++) {
		if (!aw_target_read(&call->target, h->vector + i * size, bytes, size))
			return EFAULT;
		aw_message_part(bytes, call->word, &base, &len);
		err = read_part(call, m, base, len);
	}
	return err;
}

static int read_message(struct aw_notified *call, uint64_t address, struct message *m)
{
	struct aw_message_header h;
	int err;

	if (!read_header(call, address, &h))
		return EFAULT;
	m->name = h.name;
	m->name_len = h.name_len;
	err = read_vector(call, &h, m);
	return err ? err
		   : aw_control_read(call, h.control, h.control_len,
			     m->kind == ADDRESSED, &m->control);
}

/*
 * Of the very socket that is sent on: by the time the target went on with its number
 * that could be another one.
 */
static enum kind kind_of(int fd, uint64_t flags)
{
	int domain = 0, type = 0, protocol = 0;
	socklen_t len = sizeof(int);

	if (flags & MSG_FASTOPEN ||
		getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) < 0 ||
		getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0 ||
		getsockopt(fd, SOL_SOCKET, SO_PROTOCOL, &protocol, &len) < 0)
		return ADDRESSED;
	if (domain == AF_UNIX && type == SOCK_SEQPACKET)
		return PACKETS;
	if (domain == AF_NETLINK)
		return NETLINK;
	if (domain == AF_UNIX && type == SOCK_STREAM)
		return UNIX_STREAM;
	return (domain == AF_INET || domain == AF_INET6) && type == SOCK_STREAM &&
			       protocol == IPPROTO_TCP
		       ? STREAM
		       : ADDRESSED;
}

/* What is left of it; a stream may take a part at a time. What is out counts. */
static long send_ours(int fd, struct message *m, int flags)
{
	long n;

	do {
		struct iovec iov = {m->data + m->sent, m->len - m->sent};
		struct msghdr msg = {.msg_name = m->name ? &m->address.any : NULL,
			.msg_namelen = m->name ? (socklen_t)m->address.len : 0,
			.msg_iov = &iov,
			.msg_iovlen = 1,
			.msg_control = m->control.len ? m->control.bytes : NULL,
			.msg_controllen = m->control.len};

		n = sendmsg(fd, &msg, flags | MSG_NOSIGNAL);
		if (n > 0) {
			m->sent += (size_t)n;
			m->control.len = 0; /* went with the first part */
		}
	} while (n > 0 && is_stream(m->kind) && m->sent < m->len);
	return n < 0 && !m->sent ? n : (long)m->sent;
}

/* What send(2) does to who has not asked for an error alone. */
static void signal_broken_pipe(
	const struct aw_target *target, const struct message *m, uint64_t flags)
{
	if (is_stream(m->kind) && !(flags & MSG_NOSIGNAL))
		syscall(SYS_tgkill, target->who.pid, target->tid, SIGPIPE);
}

static long send_waiting(struct aw_waiting *w)
{
	struct message *m = w->data;
	long result = send_ours(w->fd, m, (int)w->flags);

	if (result < 0 && errno == EPIPE) {
		signal_broken_pipe(&w->target, m, w->flags);
		errno = EPIPE;
	}
	return result;
}

static void drop_message(void *message)
{
	release(message);
	free(message);
}

/* The receiver has no room: wait for it elsewhere, with all that is left to send. */
static bool wait_for_room(
	struct aw_notified *call, int *fd, struct message *m, uint64_t flags)
{
	struct aw_waiting waiting = {.watch = call->watch,
		.id = call->id,
		.target = call->target,
		.flags = flags,
		.second = -1,
		.work = send_waiting,
		.drop = drop_message};
	struct message *all;

	if (flags & MSG_DONTWAIT || fcntl(*fd, F_GETFL) & O_NONBLOCK ||
		!(all = malloc(sizeof(*all))))
		return false;
	*all = *m;
	*m = (struct message){.address.place = {.parent = -1, .object = -1}};
	waiting.data = all;
	waiting.bytes = all->len + all->control.len;
	waiting.files = (unsigned)all->control.right_count;
	waiting.done = (long)all->sent;
	waiting.fd = fcntl(*fd, F_DUPFD_CLOEXEC, 0);
	aw_emulate_wait(call, &waiting);
	return true;
}

/* Where it goes: judged, unless the kernel itself is spoken to. */
static bool find_address(
	struct aw_notified *call, int fd, struct message *m, int *ret_errno)
{
	*ret_errno = 0;
	if (m->kind == UNIX_STREAM && m->name && m->name_len) {
		call->silent = true;
		*ret_errno = is_connected(fd) ? EISCONN : EOPNOTSUPP;
		return false;
	}
	if (is_stream(m->kind) || m->kind == PACKETS)
		m->name = 0;
	call->silent = !m->name || m->kind == NETLINK;
	if (!m->name)
		return true;
	*ret_errno = aw_emulate_address(call, fd, m->name, m->name_len, &m->address);
	if (*ret_errno || m->kind == NETLINK)
		return !*ret_errno;
	if (!aw_emulate_may_address(call, &m->address)) {
		/* 0: answered otherwise, or later */
		*ret_errno = call->reply == AW_REPLY_ASK ? EAGAIN : call->err;
		return false;
	}
	*ret_errno = aw_relay_may_begin(call, fd, &m->address) ? 0 : call->err;
	aw_emulate_use(&m->address);
	return !*ret_errno;
}

/* With the target's rights, as far as there is room for it. */
static int send_now(
	struct aw_notified *call, int fd, struct message *m, uint64_t flags, long *ret)
{
	int err = aw_creds_assume(call->watch, &call->target);

	if (err)
		return err;
	*ret = send_ours(fd, m, (int)flags | MSG_DONTWAIT);
	err = *ret < 0 ? errno : 0;
	aw_creds_restore();
	return err;
}

/* Judge and send one message that is ours; its result, or -errno. */
static long send_one(struct aw_notified *call, int *fd, struct message *m,
	uint64_t flags, bool alone)
{
	long result = 0;
	int err;

	if (!find_address(call, *fd, m, &err))
		return -err;
	aw_control_route(&m->control, *fd, m->name ? &m->address.any : NULL);
	/* the pages would be ours, and in use for something else by then */
	if (flags & MSG_ZEROCOPY)
		return -ENOBUFS;
	/* what is said with the first segment would go past the relay */
	if (flags & MSG_FASTOPEN && m->name && aw_relay_wants(call, &m->address))
		return -EOPNOTSUPP;
	err = m->name ? aw_replace_change(call, fd, m->address.route) : 0;
	if (err)
		return -err;
	if (m->name)
		aw_name_route_note(call, *fd, &m->address);
	if (alone && flags & MSG_FASTOPEN && wait_for_room(call, fd, m, flags))
		return 0;
	err = send_now(call, *fd, m, flags, &result);
	/* nobody has the name inside: it was meant to be outside */
	if (err == ECONNREFUSED && m->name && m->address.route == AW_ROUTE_EITHER &&
		!aw_replace_change(call, fd, AW_ROUTE_OUTSIDE))
		err = send_now(call, *fd, m, flags, &result);
	if ((err == EAGAIN || (is_stream(m->kind) && !err && m->sent < m->len)) &&
		alone && wait_for_room(call, fd, m, flags))
		return 0;
	if (err == EPIPE)
		signal_broken_pipe(&call->target, m, flags);
	return err ? -err : result;
}

static void one(struct aw_notified *call, int *fd, enum kind kind)
{
	bool to = call->row->effect == AW_FX_SENDTO;
	uint64_t flags = to ? call->args[3] : call->args[2];
	struct message m = {
		.kind = kind, .address.place = {.parent = -1, .object = -1}};
	long result;
	int err;

	if (to) {
		m.name = call->args[4];
		m.name_len = (uint32_t)call->args[5];
		err = read_part(call, &m, call->args[1], call->args[2]);
	} else {
		err = read_message(call, call->args[1], &m);
	}
	call->silent = !m.name || call->reply == AW_REPLY_FAIL;
	result = err ? -err : send_one(call, fd, &m, flags, true);
	/* refused and waiting are answers already */
	if (call->reply == AW_REPLY_CONTINUE)
		aw_emulate_answer(call, result);
	release(&m);
}

static void log_before(struct aw_notified *call)
{
	struct aw_event event = call->event;

	event.call = aw_call_name((unsigned)call->sys);
	aw_watch_sign(&event, &call->target.who);
	aw_watch_log(call->watch, &event);
}

/* Each message is a line of its own; the last is logged by the caller. */
static void many(struct aw_notified *call, int *fd, enum kind kind)
{
	uint64_t size = call->word == 8 ? 64 : 32, at = call->word == 8 ? 56 : 28;
	uint64_t count = call->args[2] > VECTOR_MAX ? VECTOR_MAX : call->args[2];
	const struct aw_event blank = call->event;
	long sent = 0, result = 0;
	bool pending = false;

	for (uint64_t i = 0; i < count && result >= 0; i++) {
		struct message m = {
			.kind = kind, .address.place = {.parent = -1, .object = -1}};
		uint64_t header = call->args[1] + i * size;
		int err;

		if (pending)
			log_before(call);
		call->event = blank;
		err = read_message(call, header, &m);
		call->silent = !m.name || call->reply == AW_REPLY_FAIL;
		result = err ? -err : send_one(call, fd, &m, call->args[3], false);
		pending = !call->silent;
		release(&m);
		if (result >= 0) {
			uint32_t len = (uint32_t)result;

			sent++;
			if (!aw_target_write(
				    &call->target, header + at, &len, sizeof(len)))
				result = -EFAULT;
		}
	}
	if (sent && call->reply == AW_REPLY_ASK) /* asked when the rest is sent */
		aw_questions_leave(call->watch->questions, call->id, AW_LEFT_SERVED, 0);
	if (sent && (call->reply == AW_REPLY_FAIL || call->reply == AW_REPLY_ASK))
		call->reply = AW_REPLY_VALUE; /* the ones before it are out */
	if (call->reply != AW_REPLY_FAIL && call->reply != AW_REPLY_ASK) {
		aw_emulate_answer(call, sent ? sent : result);
		call->silent |= !pending;
	}
}

void aw_emulate_send(struct aw_notified *call)
{
	AW_CLOSE int fd = -1;
	uint64_t flags =
		call->row->effect == AW_FX_SENDTO || call->row->effect == AW_FX_SENDMMSG
			? call->args[3]
			: call->args[2];

	fd = aw_emulate_socket(call, (int)call->args[0]);
	if (fd < 0) {
		call->silent = true;
		return;
	}
	if (call->row->effect == AW_FX_SENDMMSG)
		many(call, &fd, kind_of(fd, flags));
	else
		one(call, &fd, kind_of(fd, flags));
}
