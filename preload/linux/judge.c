/* SPDX-License-Identifier: Apache-2.0 */
/*
 * judge.c - the preload engine: no kernel layer, so every wrapper judges and logs here.
 */
#include "preload/gate.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include "policy/decide.h"
#include "preload/arguments.h"
#include "preload/linux/arch.h"
#include "preload/linux/ask_socket.h"
#include "preload/linux/real_path.h"
#include "preload/text.h"

static void to_address(const struct aw_subject *s, struct aw_address *ret)
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

static void decide(const struct aw_syscall *row, struct aw_subject *s)
{
	const struct aw_call_paths ends = {
		s->parts[0], s->head.path_len, s->parts[1], s->head.path2_len};
	enum aw_action action = (enum aw_action)s->head.action;
	struct aw_decision decision;
	struct aw_address to;

	if (s->head.address_len) {
		to_address(s, &to);
		aw_image_decide_address_in(
			aw_policy(), aw_profiles(), action, &to, &decision);
	} else {
		aw_decide_files(aw_policy(), aw_profiles(), (enum aw_effect)row->effect,
			action, &ends, &decision);
	}
	s->head.verdict = (uint8_t)decision.verdict;
	s->head.rule = decision.rule;
}

int aw_refusal(enum aw_verdict verdict)
{
	return verdict == AW_HIDE ? ENOENT : EACCES;
}

/* What is not there is missing, whatever rules say of its name; else 0. */
static int missing(const struct aw_syscall *row, const struct aw_subject *s)
{
	const char *path = s->parts[0];
	struct stat st;
	long ret;

	if (s->head.verdict != AW_DENY || s->head.action == AW_CREATE ||
		s->head.action == AW_BIND || row->path2 >= 0 || !s->head.path_len ||
		path[0] != '/')
		return 0;
	ret = aw_raw(__NR_newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW);
	return ret == -ENOENT || ret == -ENOTDIR ? (int)-ret : 0;
}

/* The supervisor judges and logs; true when the call may be made. */
static bool ask(
	const struct aw_syscall *row, const struct aw_subject *s, int *ret_denied)
{
	struct aw_wire_head head = {.type = AW_WIRE_ASK,
		.call = s->head.call,
		.action = s->head.action,
		.effect = row ? row->effect : AW_FX_LOOKUP,
		.ts = s->head.ts,
		.len = {s->head.path_len, s->head.path2_len, s->head.raw_len,
			s->head.raw2_len, s->head.address_len}};
	struct aw_wire_answer answer;

	if (!aw_socket_ask(&head, s->parts, &answer, s->head.verdict != AW_ASK)) {
		*ret_denied = aw_session()->enforce ? EACCES : 0; /* fail closed */
		return *ret_denied == 0;
	}
	*ret_denied = answer.refuse ? answer.err : 0;
	return !answer.refuse;
}

void aw_put_call(struct aw_self *self, const struct aw_syscall *row,
	const struct aw_subject *s, struct aw_passage *ret)
{
	struct aw_ring *ring = atomic_load(&self->ring);
	enum aw_record_state state = ret->denied ? AW_REC_DONE : AW_REC_PENDING;
	int denied;

	while (!aw_ring_put(
		ring, &s->head, s->parts, state, (unsigned)ret->denied, &ret->ticket)) {
		if (aw_is_plain() || aw_ring_wait(ring))
			continue;
		ret->ticket.ring = NULL;
		ask(row, s, &denied);
		return;
	}
	if (!aw_is_plain())
		aw_ring_pushed(ring);
}

/* What is renamed onto git's configuration has to be read: the supervisor does. */
static bool brings_git_config(const struct aw_syscall *row, const struct aw_subject *s)
{
	uint32_t rule;

	return row->effect == AW_FX_RENAME && s->head.verdict == AW_ALLOW &&
	       aw_image_keyed(aw_policy(), s->parts[1], s->head.path2_len, &rule);
}

static bool judge(struct aw_self *self, const struct aw_syscall *row,
	struct aw_subject *s, struct aw_passage *ret)
{
	const struct aw_page *page = aw_session();

	if (page->ask)
		return ask(row, s, &ret->denied);
	decide(row, s);
	if ((s->head.verdict == AW_ASK && page->enforce) || brings_git_config(row, s))
		return ask(row, s, &ret->denied);
	if (row->effect == AW_FX_META && s->head.verdict != AW_HIDE)
		return true; /* metadata: only what is hidden is worth a line */
	if (page->enforce && (ret->denied = missing(row, s))) {
		s->head.verdict = AW_ALLOW;
		s->head.rule = AW_NO_RULE;
	} else if (page->enforce && s->head.verdict >= AW_DENY) {
		ret->denied = row->effect == AW_FX_CONNECT
				      ? (int)page->refusal
				      : aw_refusal((enum aw_verdict)s->head.verdict);
		s->head.flags |= AW_REC_REFUSED;
	}
	aw_put_call(self, row, s, ret);
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
	const struct aw_syscall *row, const long args[6], struct aw_subject *s)
{
	s->head.action = (uint8_t)aw_action_of_effect(
		(enum aw_effect)row->effect, open_flags(self, row, args));
	if (row->effect >= AW_FX_CONNECT && row->effect <= AW_FX_SENDMMSG)
		return aw_subject_network(self, scratch, row->effect, row, args, s);
	return aw_subject_files(self, scratch, row, args, s);
}

/* Without one it only asks what the kernel knows: seccomp(2), EFAULT. */
static bool names_filter(const long args[6])
{
	return args[0] == SECCOMP_SET_MODE_FILTER && args[2];
}

bool aw_enter_slow(
	enum aw_call call, int sys, const long args[6], struct aw_passage *ret)
{
	const struct aw_syscall *row = &aw_syscalls[sys];
	struct aw_subject s = {.head = {.call = (uint16_t)call}};
	struct aw_scratch *scratch;
	struct aw_self *self;
	bool allowed = true;

	ret->denied = 0;
	if (row->effect == AW_FX_META && !aw_session()->hides)
		return true;
	if (row->effect == AW_FX_SECCOMP)
		aw_note_filter(
			args[0] == SECCOMP_SET_MODE_STRICT || names_filter(args));
	if (row->effect == AW_FX_PRCTL && args[0] == PR_SET_SECCOMP)
		aw_note_filter(args[1] == SECCOMP_MODE_STRICT || args[2]);
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
