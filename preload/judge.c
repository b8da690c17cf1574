/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.c - the preload engine: no kernel layer, so every wrapper judges and logs here.
 */
#include "preload/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/prctl.h>
#include <sys/un.h>

#include <linux/openat2.h>

#include "policy/decide.h"
#include "policy/path.h"
#include "preload/arch.h"
#include "preload/socket.h"
#include "preload/text.h"

/* What one call is about, built in scratch memory. */
struct subject {
	struct aw_record head;
	const void *parts[5]; /* path, path2, raw, raw2, address */
};

/* Under a filter of the target's own: no call that libc would not make. */
static bool is_plain(void)
{
	struct aw_self *self = aw_self();

	return self &&
	       atomic_load_explicit(
		       &atomic_load_explicit(&self->ring, memory_order_relaxed)->plain,
		       memory_order_relaxed);
}

static size_t link_text(const char *link, char *to, size_t size)
{
	long len = aw_raw(__NR_readlinkat, AT_FDCWD, link, to, size - 1);

	if (len <= 0 || to[0] != '/')
		return 0;
	to[len] = '\0';
	return (size_t)len;
}

/* The kernel's own name for a descriptor. */
static size_t name_of(int fd, char *to, size_t size)
{
	char link[40];
	size_t n = aw_text_copy(link, sizeof(link), "/proc/self/fd/");

	if (fd == AT_FDCWD)
		return link_text("/proc/self/cwd", to, size);
	if (fd < 0)
		return 0;
	aw_text_number(link + n, (unsigned long)fd);
	return link_text(link, to, size);
}

/* Open with O_PATH, ask the kernel for the name, close. */
static size_t name_by_opening(
	int dir, const char *path, bool follow, char *to, size_t size)
{
	long fd = aw_raw(__NR_openat, dir, path,
		O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW), 0);
	size_t len;

	if (fd < 0)
		return 0;
	len = name_of((int)fd, to, size);
	aw_raw(__NR_close, fd);
	return len;
}

/* Resolve the parent and keep the last component, which need not exist. */
static size_t name_by_parent(int dir, const char *path, size_t len,
	struct aw_scratch *scratch, char *to, size_t size)
{
	size_t cut = len, base;

	while (cut && path[cut - 1] == '/')
		cut--;
	while (cut && path[cut - 1] != '/')
		cut--;
	if (!cut) {
		base = name_of(dir, scratch->base, sizeof(scratch->base));
	} else {
		memcpy(to, path, cut);
		to[cut] = '\0';
		base = name_by_opening(
			dir, to, true, scratch->base, sizeof(scratch->base));
	}
	if (!base)
		return 0;
	return aw_path_join(scratch->base, base, path + cut, len - cut, to, size);
}

/* No such directory, or no /proc: the text alone. */
static size_t name_by_text(int dir, const char *path, size_t len,
	struct aw_scratch *scratch, char *to, size_t size)
{
	size_t base = 1;

	scratch->base[0] = '/';
	if (path[0] != '/')
		base = name_of(dir, scratch->base, sizeof(scratch->base));
	return base ? aw_path_join(scratch->base, base, path, len, to, size) : 0;
}

/* With what is known already, without a call. */
static size_t name_in_mind(int dir, const char *path, size_t len,
	struct aw_scratch *scratch, char *to, size_t size)
{
	struct aw_self *self = aw_self();
	size_t base = 1;

	scratch->base[0] = '/';
	if (path[0] != '/')
		base = dir == AT_FDCWD && self->cwd_len
			       ? aw_cwd(self, scratch->base, sizeof(scratch->base))
			       : 0;
	return base ? aw_path_join(scratch->base, base, path, len, to, size) : 0;
}

static size_t resolve(struct aw_scratch *scratch, int dir, const char *path, size_t len,
	bool follow, char *to, size_t size)
{
	size_t n = 0;

	if (is_plain())
		return name_in_mind(dir, path, len, scratch, to, size);
	if (follow)
		n = name_by_opening(dir, path, true, to, size);
	if (!n)
		n = name_by_parent(dir, path, len, scratch, to, size);
	if (!n)
		n = name_by_text(dir, path, len, scratch, to, size);
	return n;
}

static int dir_argument(int8_t column, const long args[6])
{
	return column < 0 ? AT_FDCWD : (int)args[column];
}

/* Is a link in the last component followed? */
static bool follows(const struct aw_syscall *row, const long args[6])
{
	long flags = row->flags >= 0 ? args[row->flags] : 0;

	switch ((enum aw_last)row->last) {
	case AW_LAST_F:
	case AW_LAST_H:
		return true;
	case AW_LAST_K:
		return false;
	case AW_LAST_O:
		return !(flags & O_NOFOLLOW) &&
		       (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
	case AW_LAST_A:
		return !(flags & AT_SYMLINK_NOFOLLOW);
	case AW_LAST_L:
		return flags & AT_SYMLINK_FOLLOW;
	}
	return true;
}

/* One end of a call: resolved into to, what was passed into *raw when that differs. */
static bool path_end(struct aw_self *self, struct aw_scratch *scratch, int dir,
	const char *path, bool follow, char *to, uint16_t *ret_len, const void **raw,
	uint16_t *raw_len)
{
	long len = aw_string_length(self, path, AW_PATH_MAX);
	size_t n;

	if (len < 0)
		return false;
	n = len ? resolve(scratch, dir, path, (size_t)len, follow, to, AW_PATH_MAX)
		: name_of(dir, to, AW_PATH_MAX);
	*ret_len = (uint16_t)n;
	if (n != (size_t)len || memcmp(to, path, n) != 0) {
		*raw = path;
		*raw_len = (uint16_t)len;
	}
	return n != 0;
}

/* What a symbolic link says, seen from the folder that it is made in. */
static void link_end(struct aw_self *self, struct aw_scratch *scratch, const char *text,
	struct subject *s)
{
	long len = aw_string_length(self, text, AW_PATH_MAX);
	size_t parent = s->head.path_len, n;

	while (parent > 1 && scratch->path[parent - 1] != '/')
		parent--;
	if (len <= 0)
		return;
	n = aw_path_join(
		scratch->path, parent, text, (size_t)len, scratch->path2, AW_PATH_MAX);
	if (n && !is_plain() &&
		(parent = name_by_opening(AT_FDCWD, scratch->path2, false,
			 scratch->base, AW_PATH_MAX))) {
		memcpy(scratch->path2, scratch->base, parent);
		n = parent;
	}
	s->head.path2_len = (uint16_t)n;
	s->parts[3] = text;
	s->head.raw2_len = (uint16_t)len;
}

static bool files(struct aw_self *self, struct aw_scratch *scratch,
	const struct aw_syscall *row, const long args[6], struct subject *s)
{
	int dir = dir_argument(row->dir, args);

	s->parts[0] = scratch->path;
	s->parts[1] = scratch->path2;
	if (row->path == AW_ARG_FD ||
		(row->effect == AW_FX_WRITE && !args[row->path])) {
		s->head.path_len =
			(uint16_t)name_of(dir, scratch->path, sizeof(scratch->path));
		return s->head.path_len != 0;
	}
	if (!path_end(self, scratch, dir, (const char *)args[row->path],
		    follows(row, args), scratch->path, &s->head.path_len, &s->parts[2],
		    &s->head.raw_len))
		return false;
	if (row->path2 < 0)
		return true;
	if (row->effect == AW_FX_SYMLINK) {
		link_end(self, scratch, (const char *)args[row->path2], s);
		return true;
	}
	return path_end(self, scratch, dir_argument(row->dir2, args),
		(const char *)args[row->path2], false, scratch->path2,
		&s->head.path2_len, &s->parts[3], &s->head.raw2_len);
}

/* Copy a socket address; a Unix path is resolved as a file is. */
static bool address(struct aw_self *self, struct aw_scratch *scratch, const void *from,
	long len, struct subject *s)
{
	struct sockaddr_storage *copy = (void *)scratch->path2;
	const struct sockaddr_un *un = (const void *)copy;

	if (!from || len < 2 || len > (long)sizeof(*copy) || !aw_readable(self, from) ||
		!aw_readable(self, (const char *)from + len - 1))
		return false;
	memset(copy, 0, sizeof(*copy) + 1);
	memcpy(copy, from, (size_t)len);
	s->parts[4] = copy;
	s->head.address_len = (uint16_t)len;
	if (copy->ss_family == AF_UNIX && len > 2 && un->sun_path[0]) {
		s->parts[0] = scratch->path;
		s->head.path_len = (uint16_t)resolve(scratch, AT_FDCWD, un->sun_path,
			strlen(un->sun_path), true, scratch->path,
			sizeof(scratch->path));
	}
	return true;
}

static bool network(struct aw_self *self, struct aw_scratch *scratch, int effect,
	const struct aw_syscall *row, const long args[6], struct subject *s)
{
	const struct msghdr *msg = (const struct msghdr *)args[row->path];

	if (effect != AW_FX_SENDMSG)
		return address(self, scratch, (const void *)args[row->path],
			args[row->flags], s);
	if (!msg || !aw_readable(self, msg) || !msg->msg_name)
		return false;
	return address(self, scratch, msg->msg_name, (long)msg->msg_namelen, s);
}

static void to_address(const struct subject *s, struct aw_address *ret)
{
	const unsigned char *bytes = s->parts[4];
	const struct sockaddr_un *un = s->parts[4];

	*ret = (struct aw_address){.family = un->sun_family};
	ret->port = (uint16_t)(bytes[2] << 8 | bytes[3]);
	if (ret->family == AF_INET) {
		memcpy(ret->bytes, bytes + 4, 4);
	} else if (ret->family == AF_INET6) {
		memcpy(ret->bytes, bytes + 8, 16);
	} else if (ret->family == AF_UNIX) {
		ret->port = 0;
		ret->path = s->parts[0];
		ret->path_len = s->head.path_len;
	} else {
		ret->port = 0;
	}
}

static void decide(const struct aw_syscall *row, struct subject *s)
{
	const struct aw_ends ends = {
		s->parts[0], s->head.path_len, s->parts[1], s->head.path2_len};
	enum aw_action action = (enum aw_action)s->head.action;
	struct aw_decision decision;
	struct aw_address to;

	if (s->head.address_len) {
		to_address(s, &to);
		aw_image_decide_address(aw_policy(), action, &to, &decision);
	} else {
		aw_decide_files(aw_policy(), (enum aw_effect)row->effect, action, &ends,
			&decision);
	}
	s->head.verdict = (uint8_t)decision.verdict;
	s->head.rule = decision.rule;
}

static int refusal(enum aw_verdict verdict)
{
	return verdict == AW_HIDE ? ENOENT : EACCES;
}

/* The supervisor judges and logs; true when the call may be made. */
static bool ask(const struct aw_syscall *row, const struct subject *s, int *ret_denied)
{
	struct aw_wire_head head = {.type = AW_WIRE_ASK,
		.call = s->head.call,
		.action = s->head.action,
		.effect = row ? row->effect : AW_FX_LOOKUP,
		.ts = s->head.ts,
		.len = {s->head.path_len, s->head.path2_len, s->head.raw_len,
			s->head.raw2_len, s->head.address_len}};
	struct aw_wire_answer answer;

	if (!aw_socket_ask(&head, s->parts, &answer)) {
		*ret_denied = aw_session()->enforce ? EACCES : 0; /* fail closed */
		return *ret_denied == 0;
	}
	*ret_denied = answer.refuse ? answer.err : 0;
	return !answer.refuse;
}

/* Put the record; a full ring goes over the socket. */
static void put(struct aw_self *self, const struct aw_syscall *row,
	const struct subject *s, struct aw_passage *ret)
{
	struct aw_ring *ring = atomic_load(&self->ring);
	enum aw_record_state state = ret->denied ? AW_REC_DONE : AW_REC_PENDING;
	int denied;

	while (!aw_ring_put(
		ring, &s->head, s->parts, state, (unsigned)ret->denied, &ret->ticket)) {
		if (is_plain() || aw_ring_wait(ring))
			continue;
		ret->ticket.ring = NULL;
		ask(row, s, &denied);
		return;
	}
	if (!is_plain())
		aw_ring_pushed(ring);
}

static bool judge(struct aw_self *self, const struct aw_syscall *row, struct subject *s,
	struct aw_passage *ret)
{
	const struct aw_page *page = aw_session();

	if (page->ask)
		return ask(row, s, &ret->denied);
	decide(row, s);
	if (s->head.verdict == AW_ASK && page->enforce)
		return ask(row, s, &ret->denied);
	if (row->effect == AW_FX_META && s->head.verdict != AW_HIDE)
		return true; /* metadata: only what is hidden is worth a line */
	if (page->enforce && s->head.verdict >= AW_DENY) {
		ret->denied = refusal((enum aw_verdict)s->head.verdict);
		s->head.flags |= AW_REC_REFUSED;
	}
	put(self, row, s, ret);
	return !ret->denied;
}

void aw_note_filter(bool now)
{
	struct aw_self *self = aw_self();
	struct aw_scratch *scratch;

	if (!now || !self || aw_work() != AW_WORK_PRELOAD)
		return; /* with a kernel layer the supervisor says so */
	scratch = aw_scratch_claim(self);
	if (scratch) {
		aw_cwd(self, scratch->base,
			sizeof(scratch->base)); /* while it may be asked */
		aw_scratch_release(self, scratch);
	}
	atomic_store(&atomic_load(&self->ring)->plain, 1);
}

static uint64_t open_flags(
	struct aw_self *self, const struct aw_syscall *row, const long args[6])
{
	const struct open_how *how;

	if (row->flags < 0)
		return 0;
	if (row->last != AW_LAST_H)
		return (uint64_t)args[row->flags];
	how = (const struct open_how *)args[row->flags];
	return aw_readable(self, how) ? how->flags : 0;
}

static bool describe(struct aw_self *self, struct aw_scratch *scratch,
	const struct aw_syscall *row, const long args[6], struct subject *s)
{
	s->head.action = (uint8_t)aw_action_of_effect(
		(enum aw_effect)row->effect, open_flags(self, row, args));
	if (row->effect >= AW_FX_CONNECT && row->effect <= AW_FX_SENDMMSG)
		return network(self, scratch, row->effect, row, args, s);
	return files(self, scratch, row, args, s);
}

bool aw_enter_slow(
	enum aw_call call, int sys, const long args[6], struct aw_passage *ret)
{
	const struct aw_syscall *row = &aw_syscalls[sys];
	struct subject s = {.head = {.call = (uint16_t)call}};
	struct aw_scratch *scratch;
	struct aw_self *self;
	bool allowed = true;

	ret->denied = 0;
	if (row->effect == AW_FX_META && !aw_session()->hides)
		return true;
	if (row->effect == AW_FX_SECCOMP || row->effect == AW_FX_PRCTL)
		aw_note_filter(
			row->effect == AW_FX_SECCOMP || args[0] == PR_SET_SECCOMP);
	if (row->path == AW_ARG_NONE || !(self = aw_self()) ||
		!(scratch = aw_scratch_claim(self)))
		return true;
	s.head.ts = aw_now();
	s.head.pid = aw_is_vfork_child() ? (int)aw_raw(__NR_getpid) : self->pid;
	if (describe(self, scratch, row, args, &s))
		allowed = judge(self, row, &s, ret);
	aw_scratch_release(self, scratch);
	if (!allowed)
		*aw_errno() = ret->denied;
	return allowed;
}

/* argv as one block of terminated strings; NULL when it cannot be had. */
static char *join_vector(char *const *argv, size_t *ret_len, size_t *ret_mapped)
{
	size_t len = 0, at = 0;
	char *block;

	for (size_t i = 0; argv && argv[i]; i++)
		len += strlen(argv[i]) + 1;
	if (len > AW_WIRE_MAX / 2)
		len = AW_WIRE_MAX / 2;
	*ret_mapped = len + 1;
	block = (char *)aw_raw(__NR_mmap, 0, len + 1, 3 /* read, write */,
		0x22 /* private, anonymous */, -1, 0);
	if ((long)block < 0 && (long)block > -4096)
		return NULL;
	for (size_t i = 0; argv && argv[i] && at < len; i++)
		at += aw_text_copy(block + at, len - at, argv[i]) + 1;
	*ret_len = at < len ? at : len;
	return block;
}

/* The vector, its bytes and the working directory, in the order of a record's parts. */
static void describe_exec(struct aw_self *self, struct aw_scratch *scratch,
	char *vector, size_t vector_len, struct subject *s)
{
	s->head.ts = aw_now();
	s->head.pid = aw_self_if_ready() && !aw_is_vfork_child()
			      ? self->pid
			      : (int)aw_raw(__NR_getpid);
	s->head.action = AW_EXEC;
	s->parts[3] = vector;
	s->head.raw2_len = (uint16_t)vector_len;
	s->parts[1] = scratch->path2;
	s->head.path2_len = (uint16_t)name_of(AT_FDCWD, scratch->path2, AW_PATH_MAX);
}

static void judge_exec(
	const struct subject *s, char *const *argv, struct aw_decision *ret)
{
	size_t argc = 0;

	while (argv && argv[argc])
		argc++;
	*ret = (struct aw_decision){AW_DENY, AW_NO_RULE};
	if (s->head.path_len)
		aw_image_decide_exec(aw_policy(), s->parts[0], s->head.path_len,
			(const char *const *)argv, argc, ret);
}

/*
 * Judge here and log through a ring; a forked child that has not said hello uses the
 * one of its parent.  False: no ring, or nobody reads it.
 */
static bool exec_by_ring(struct subject *s, char *const *argv, int *ret_denied)
{
	struct aw_self *self = aw_self_if_ready();
	struct aw_ring *ring = self ? atomic_load(&self->ring) : aw_ring_inherited();
	struct aw_decision decision;

	judge_exec(s, argv, &decision);
	*ret_denied = aw_session()->enforce && decision.verdict != AW_ALLOW
			      ? refusal(decision.verdict)
			      : 0;
	s->head.verdict = (uint8_t)decision.verdict;
	s->head.rule = decision.rule;
	return ring && s->head.path_len &&
	       aw_ring_put(ring, &s->head, s->parts,
		       *ret_denied ? AW_REC_DONE : AW_REC_PENDING,
		       (unsigned)*ret_denied, NULL) &&
	       !atomic_load(&ring->closed);
}

/* The supervisor judges and logs; false: it cannot be reached. */
static bool exec_by_socket(const struct subject *s, size_t vector_len, int *ret_denied)
{
	struct aw_wire_head head = {.type = AW_WIRE_EXEC,
		.call = s->head.call,
		.action = AW_EXEC,
		.ts = s->head.ts,
		.len = {s->head.path_len, 0, s->head.raw_len, (uint32_t)vector_len}};
	struct aw_wire_answer answer = {0};

	if (is_plain() || !aw_socket_ask(&head, s->parts, &answer))
		return false;
	*ret_denied = answer.refuse ? answer.err : 0;
	return true;
}

enum { VECTOR_IN_RING = 4096 };

bool aw_enter_exec(
	enum aw_call call, int dir, const char *path, int how, char *const *argv)
{
	const long args[6] = {dir, (long)path, 0, 0, how, 0};
	struct subject s = {.head = {.call = (uint16_t)call}};
	struct aw_self *self = atomic_load(&aw_self_page);
	struct aw_scratch *scratch;
	size_t len = 0, mapped = 0;
	char *vector;
	bool done = false, local;
	int denied = 0;

	if (aw_work() != AW_WORK_PRELOAD || !self ||
		aw_string_length(self, path, AW_PATH_MAX) < 0 ||
		!aw_vector_readable(argv) || !(scratch = aw_scratch_claim(self)))
		return true; /* what cannot be read is EFAULT, and the kernel's to say
			      */
	vector = is_plain() ? NULL : join_vector(argv, &len, &mapped);
	if (files(self, scratch, &aw_syscalls[AW_SYS_execveat], args, &s)) {
		describe_exec(self, scratch, vector,
			len <= VECTOR_IN_RING ? len : VECTOR_IN_RING, &s);
		local = !aw_session()->ask && !aw_session()->enforce &&
			len <= VECTOR_IN_RING;
		done = (local && exec_by_ring(&s, argv, &denied)) ||
		       exec_by_socket(&s, len, &denied) ||
		       exec_by_ring(&s, argv, &denied);
	}
	if (!done && aw_session()->enforce)
		denied = EACCES; /* fail closed */
	if (vector)
		aw_raw(__NR_munmap, vector, mapped);
	aw_scratch_release(self, scratch);
	if (denied)
		*aw_errno() = denied;
	return !denied;
}

bool aw_enter_lookup(enum aw_call call, const char *host, const char *service)
{
	struct subject s = {.head = {.call = (uint16_t)call, .action = AW_CONNECT}};
	struct aw_passage passage = {0};
	struct aw_decision decision;
	struct aw_self *self;
	long host_len, service_len = 0;

	if (aw_is_vfork_child() || aw_work() == AW_WORK_NONE || !host ||
		!(self = aw_self()))
		return true;
	host_len = aw_string_length(self, host, 1024);
	if (service)
		service_len = aw_string_length(self, service, 256);
	if (host_len < 0 || service_len < 0)
		return true;
	aw_image_decide_host(aw_policy(), host, &decision);
	s.head.ts = aw_now();
	s.head.pid = self->pid;
	s.head.verdict = (uint8_t)decision.verdict;
	s.head.rule = decision.rule;
	s.head.raw_len = (uint16_t)host_len;
	s.head.raw2_len = (uint16_t)service_len;
	s.parts[2] = host;
	s.parts[3] = service;
	if (aw_session()->enforce && decision.verdict >= AW_DENY) {
		passage.denied = EACCES;
		s.head.flags |= AW_REC_REFUSED;
	}
	put(self, NULL, &s, &passage);
	return !passage.denied;
}
