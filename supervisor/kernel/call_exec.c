/* SPDX-License-Identifier: Apache-2.0 */
/* call_exec.c - a process is about to become another program. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/kernel/call.h"
#include "supervisor/program.h"
#include "supervisor/say.h"

/* The vector in the two forms that the log and the policy take. */
static const char **argv_of(struct aw_notified *call)
{
	const char **argv = calloc(call->argv.count + 1, sizeof(*argv));

	call->argv_text = calloc(call->argv.count + 1, sizeof(*call->argv_text));
	for (size_t i = 0; argv && call->argv_text && i < call->argv.count; i++) {
		argv[i] = call->argv.text + call->argv.at[i];
		call->argv_text[i] = (struct aw_text){argv[i], call->argv.len[i]};
	}
	return argv;
}

static void decide(struct aw_notified *call)
{
	struct aw_event *event = &call->event;
	struct aw_decision decision;
	const char **argv = argv_of(call);

	event->argv = call->argv_text;
	event->argc = call->argv_text ? call->argv.count : 0;
	event->argv_truncated = call->argv.truncated;
	aw_image_decide_exec(atomic_load(&call->watch->image), event->path.bytes,
		event->path.len, argv, argv ? call->argv.count : 0, &decision);
	free(argv);
	aw_call_decide(call, &decision);
}

/* Set-id programs keep our privileges when the filter needed no_new_privs: say so once.
 */
static void warn_of_privileges(
	struct aw_notified *call, const struct aw_program *program)
{
	static _Atomic bool said;
	struct aw_watch *watch = call->watch;

	if (!program->privileged || !watch->no_new_privs)
		return;
	aw_watch_warn(watch, &call->target.who, "no_new_privs",
		"%s does not raise privileges under watch without CAP_SYS_ADMIN",
		call->path);
	if (!watch->quiet && !atomic_exchange(&said, true))
		aw_say("%s will not raise privileges while it is watched by an "
		       "ordinary "
		       "user; --engine preload leaves it alone",
			call->path);
}

static enum aw_shim_state expectation(
	const struct aw_notified *call, const struct aw_program *program)
{
	if (!call->watch->shim[0] || call->watch->engine != AW_HYBRID)
		return AW_SHIM_NONE;
	if (program->kind != AW_PROGRAM_DYNAMIC)
		return AW_SHIM_NONE;
	return program->privileged && !call->watch->no_new_privs ? AW_SHIM_NONE
								 : AW_SHIM_EXPECTED;
}

void aw_call_exec(struct aw_notified *call)
{
	const struct aw_syscall *row = call->row;
	bool at = row->dir >= 0;
	uint64_t flags = at ? call->args[4] : 0;
	struct aw_event *event = &call->event;
	struct aw_program program;
	int looked_up = 0;

	event->action = AW_EXEC;
	event->cwd.len =
		aw_target_name(&call->target, AT_FDCWD, call->cwd, sizeof(call->cwd));
	event->cwd.bytes = call->cwd;
	if (!aw_call_path(call, at ? (int)call->args[0] : AT_FDCWD,
		    call->args[row->path], !(flags & AT_SYMLINK_NOFOLLOW), call->raw,
		    call->path, &event->path, &event->raw, &looked_up)) {
		aw_call_unreadable(call, looked_up ? looked_up : EFAULT);
		return;
	}
	if (!looked_up) /* a shell tries many names: no need to read a long vector each
			   time */
		aw_target_vector(
			&call->target, call->args[at ? 2 : 1], call->word, &call->argv);
	decide(call);
	if (call->reply == AW_REPLY_FAIL)
		return;
	if (looked_up) {
		event->result_known = true;
		event->result = looked_up;
		return;
	}
	event->kind = AW_EV_EXEC;
	aw_program_inspect(call->path, &program);
	warn_of_privileges(call, &program);
	aw_processes_exec(call->watch->tree, call->target.who.pid,
		expectation(call, &program), call->path,
		program.kind == AW_PROGRAM_DYNAMIC && !program.script &&
			call->target.who.plain_root);
}
