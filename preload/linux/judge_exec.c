/* SPDX-License-Identifier: Apache-2.0 */
/* judge_exec.c - the preload engine: programs about to be started. */
#include <errno.h>
#include <fcntl.h>

#include "preload/arguments.h"
#include "preload/gate.h"
#include "preload/linux/arch.h"
#include "preload/linux/ask_socket.h"
#include "preload/linux/real_path.h"
#include "preload/text.h"

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
	char *vector, size_t vector_len, struct aw_subject *s)
{
	s->head.ts = aw_now();
	s->head.pid = aw_self_if_ready() && !aw_is_vfork_child()
			      ? self->pid
			      : (int)aw_raw(__NR_getpid);
	s->head.action = AW_EXEC;
	s->parts[3] = vector;
	s->head.raw2_len = (uint16_t)vector_len;
	s->parts[1] = scratch->path2;
	s->head.path2_len = (uint16_t)aw_name_of(AT_FDCWD, scratch->path2, AW_PATH_MAX);
}

static void judge_exec(
	const struct aw_subject *s, char *const *argv, struct aw_decision *ret)
{
	size_t argc = 0;

	while (argv && argv[argc])
		argc++;
	*ret = (struct aw_decision){AW_DENY, AW_NO_RULE};
	if (s->head.path_len)
		aw_image_decide_exec_in(aw_policy(), aw_profiles(), s->parts[0],
			s->head.path_len, (const char *const *)argv, argc, ret);
}

/*
 * The ring to log an exec in.  A forked child that only executes something need not say
 * hello: its parent's ring does, as long as it is its parent's own; what a grandchild
 * wrote there would be taken for a child's.
 */
static struct aw_ring *ring_for_exec(bool any)
{
	struct aw_self *self = aw_self_if_ready();
	struct aw_ring *ring = aw_ring_inherited();

	if (!self && ring && !any && ring->owner != (int)aw_raw(__NR_getppid)) {
		self = aw_self();
		ring = NULL;
	}
	return self ? atomic_load(&self->ring) : ring;
}

/*
 * Judge here and log through a ring, with any by the one of a grandparent too.  False:
 * no ring, or nobody reads it.
 */
static bool exec_by_ring(
	struct aw_subject *s, char *const *argv, bool any, int *ret_denied)
{
	struct aw_ring *ring = ring_for_exec(any);
	struct aw_decision decision;

	judge_exec(s, argv, &decision);
	*ret_denied = aw_session()->enforce && decision.verdict != AW_ALLOW
			      ? aw_refusal(decision.verdict)
			      : 0;
	s->head.verdict = (uint8_t)decision.verdict;
	s->head.rule = decision.rule;
	return ring && s->head.path_len &&
	       aw_ring_put(ring, &s->head, s->parts,
		       *ret_denied ? AW_REC_DONE : AW_REC_FINAL, (unsigned)*ret_denied,
		       NULL) &&
	       !atomic_load(&ring->closed);
}

/* The supervisor judges and logs; false: it cannot be reached. */
static bool exec_by_socket(
	const struct aw_subject *s, size_t vector_len, int *ret_denied)
{
	struct aw_wire_head head = {.type = AW_WIRE_EXEC,
		.call = s->head.call,
		.action = AW_EXEC,
		.ts = s->head.ts,
		.len = {s->head.path_len, 0, s->head.raw_len, (uint32_t)vector_len}};
	struct aw_wire_answer answer = {0};

	if (aw_is_plain() || !aw_socket_ask(&head, s->parts, &answer, true))
		return false;
	*ret_denied = answer.refuse ? answer.err : 0;
	return true;
}

enum { VECTOR_IN_RING = 4096 };

bool aw_enter_exec(
	enum aw_call call, int dir, const char *path, int how, char *const *argv)
{
	const long args[6] = {dir, (long)path, 0, 0, how, 0};
	struct aw_subject s = {.head = {.call = (uint16_t)call}};
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
	vector = aw_is_plain() ? NULL : join_vector(argv, &len, &mapped);
	if (aw_subject_files(self, scratch, &aw_syscalls[AW_SYS_execveat], args, &s)) {
		describe_exec(self, scratch, vector,
			len <= VECTOR_IN_RING ? len : VECTOR_IN_RING, &s);
		local = !aw_session()->ask && !aw_session()->enforce &&
			len <= VECTOR_IN_RING;
		done = (local && exec_by_ring(&s, argv, false, &denied)) ||
		       exec_by_socket(&s, len, &denied) ||
		       exec_by_ring(&s, argv, true, &denied);
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
