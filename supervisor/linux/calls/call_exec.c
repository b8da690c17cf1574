/* SPDX-License-Identifier: Apache-2.0 */
/* call_exec.c - a process is about to become another program. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/cli/say.h"
#include "supervisor/decide/entry.h"
#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/process/program.h"
#include "supervisor/util/cleanup.h"

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
	aw_image_decide_exec_in(atomic_load(&call->watch->image),
		call->target.who.role.profiles, event->path.bytes, event->path.len,
		argv, argv ? call->argv.count : 0, &decision);
	free(argv);
	aw_call_decide(call, &decision);
}

/* Set-id programs keep our privileges when the filter needed no_new_privs: say so once. */
static void warn_of_privileges(
	struct aw_notified *call, const struct aw_program *program)
{
	static _Atomic bool said;
	struct aw_watch *watch = call->watch;

	if (!program->privileged || !watch->no_new_privs)
		return;
	aw_watch_warn(watch, &call->target.who, "no_new_privs",
		"%s does not raise privileges here (no_new_privs)", call->path);
	if (!watch->quiet && !atomic_exchange(&said, true))
		aw_say(geteuid() == 0
				? "%s will not raise privileges behind this sandbox; "
				  "--runner exec has none around it"
				: "%s will not raise privileges while it is watched by an "
				  "ordinary user; --engine preload leaves it alone",
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

/* Where this process can open what the target calls by that path. */
static const char *path_for_us(const struct aw_notified *call, char *to, size_t size)
{
	if (call->target.who.plain_root)
		return call->path;
	snprintf(to, size, "/proc/%d/root%s", call->target.tid, call->path);
	return to;
}

/* The file that an answer will be about. */
static void note_file(struct aw_notified *call)
{
	char name[AW_CALL_PATH + 32];
	struct stat st;

	if (!call->watch->holds || stat(path_for_us(call, name, sizeof(name)), &st) < 0)
		return;
	call->device = st.st_dev;
	call->inode = st.st_ino;
}

/* Has no name in the file system that a rule could be about: from memory, or deleted. */
static bool is_nameless(const struct aw_notified *call)
{
	static const char deleted[] = " (deleted)";
	size_t n = call->event.path.len, d = sizeof(deleted) - 1;

	return strncmp(call->path, "/memfd:", 7) == 0 || call->path[0] != '/' ||
	       (n > d && memcmp(call->path + n - d, deleted, d) == 0);
}

/* Enforce: what cannot be judged is not run. */
static bool refuse_nameless(struct aw_notified *call, uint64_t flags)
{
	struct aw_decision decision = {AW_DENY, AW_NO_RULE};

	if (!call->watch->holds ||
		(!(flags & AT_EMPTY_PATH && !call->raw[0]) && !is_nameless(call)))
		return false;
	call->event.why = "a program without a name in a directory cannot be judged";
	aw_call_decide(call, &decision);
	return true;
}

/*
 * The interpreter of a script, say: asked about before it has done anything.  True when
 * it may stay; else the call waits, or the answer was no.
 */
static bool may_have_become(
	struct aw_notified *call, const struct aw_decision *decision)
{
	const char *exe = call->target.who.exe;
	struct aw_event event = {.kind = AW_EV_CALL,
		.ts = call->event.ts,
		.call = "execve",
		.action = AW_EXEC,
		.path = {exe, strlen(exe)},
		.port = -1,
		.enforced = true};
	struct aw_rule rule;
	bool may;

	aw_watch_judge(call->watch, &event, decision, &rule, false);
	may = aw_call_ask(call, &event);
	call->verifying = call->reply == AW_REPLY_ASK;
	if (!call->verifying)
		aw_watch_log(call->watch, &event);
	return may;
}

bool aw_call_verify(struct aw_notified *call)
{
	const char *exe = call->target.who.exe;
	struct aw_decision decision;
	size_t len = strlen(exe);

	call->verifying = false;
	if (!call->watch->holds || exe[0] != '/')
		return true;
	aw_image_decide_exec_in(atomic_load(&call->watch->image), call->profiles_before,
		exe, len, NULL, 0, &decision);
	/* the interpreter of a script that was allowed may be without a rule */
	if (decision.verdict == AW_ALLOW ||
		(decision.rule == AW_NO_RULE &&
			aw_processes_is_foreseen(
				call->watch->tree, call->target.who.pid)))
		return true;
	if (decision.verdict == AW_ASK &&
		(may_have_become(call, &decision) || call->verifying))
		return !call->verifying;
	aw_watch_warn(call->watch, &call->target.who, "exec",
		"process %d became %s, which it may not run, and was killed",
		call->target.who.pid, exe);
	kill(call->target.who.pid, SIGKILL);
	call->silent = true;
	call->reply = AW_REPLY_FAIL;
	call->err = EPERM;
	return false;
}

/* What the process will be once it is another program; the line says so already. */
static void enter(struct aw_notified *call, const char *file)
{
	struct aw_process_info *who = &call->target.who, parent;
	AW_FREE const char **argv = calloc(call->argv.count + 1, sizeof(*argv));
	struct aw_started started = {.path = call->path,
		.raw = call->raw[0] ? call->raw : NULL,
		.file = file,
		.argv = argv,
		.pid = who->pid};
	struct aw_proc_mark mark = {.known = false};
	struct aw_role role;

	for (; argv && started.argc < call->argv.count; started.argc++)
		argv[started.argc] = call->argv.text + call->argv.at[started.argc];
	if (aw_processes_peek(call->watch->tree, who->ppid, &parent))
		started.parent = parent.pid;
	aw_entry_foresee(call->watch, who, &started, &role);
	if (role.mcp || role.profiles)
		mark = aw_proc_mark(who->pid);
	/* an exec ends the other threads before it moves anything: who waits after the
	 * mark was taken is in front of all of them */
	if (!aw_emulate_waits(call))
		return;
	aw_processes_turn(call->watch->tree, who->pid, &role, &mark);
	who->role = role;
}

/* What is expected of it: aw_call_verify() compares. */
static void announce(struct aw_notified *call, const struct aw_program *program)
{
	bool odd = program->kind == AW_PROGRAM_UNKNOWN ||
		   program->kind == AW_PROGRAM_FOREIGN;
	struct aw_exec exec = {.tid = call->target.tid,
		.shim = expectation(call, program),
		.program = call->path,
		.sure = program->kind == AW_PROGRAM_DYNAMIC && !program->script &&
			call->target.who.plain_root && !call->watch->holds,
		.odd = odd && program->files[0].inode};

	memcpy(exec.files, program->files, sizeof(exec.files));
	if (!exec.files[0].inode) /* one that may be run and not read */
		exec.files[0] = (struct aw_file_id){call->device, call->inode};
	aw_processes_exec(call->watch->tree, call->target.who.pid, &exec);
}

void aw_call_exec(struct aw_notified *call)
{
	const struct aw_syscall *row = call->row;
	const struct aw_decision nothing = {AW_ALLOW, AW_NO_RULE};
	bool at = row->dir >= 0;
	uint64_t flags = at ? call->args[4] : 0;
	struct aw_event *event = &call->event;
	char name[AW_CALL_PATH + 32];
	struct aw_program program;
	int looked_up = 0;

	event->action = AW_EXEC;
	event->cwd.len =
		aw_target_name(&call->target, AT_FDCWD, call->cwd, sizeof(call->cwd));
	event->cwd.bytes = call->cwd;
	if (!aw_call_path(call, at ? (int)call->args[0] : AT_FDCWD,
		    call->args[row->path], !(flags & AT_SYMLINK_NOFOLLOW), call->raw,
		    call->path, &event->path, &event->raw, &looked_up)) {
		/* the text could be read, and its directory has no name */
		if (!looked_up)
			looked_up =
				call->raw[0] || flags & AT_EMPTY_PATH ? EBADF : ENOENT;
		aw_call_unreadable(call, looked_up);
		return;
	}
	if (!looked_up && refuse_nameless(call, flags))
		return;
	if (!looked_up) /* a shell tries many names: no need to read a long vector each
			   time */
		aw_target_vector(
			&call->target, call->args[at ? 2 : 1], call->word, &call->argv);
	call->would_fail = call->watch->holds ? looked_up : 0;
	note_file(call);
	if (looked_up && aw_call_is_absent(call, call->path))
		aw_call_decide(call, &nothing);
	else
		decide(call);
	call->would_fail = 0;
	if (call->reply != AW_REPLY_CONTINUE)
		return;
	if (looked_up) {
		event->result_known = true;
		event->result = looked_up;
		if (call->watch->holds) { /* what is not judged does not go on */
			call->reply = AW_REPLY_FAIL;
			call->err = looked_up;
		}
		return;
	}
	event->kind = AW_EV_EXEC;
	aw_program_inspect(path_for_us(call, name, sizeof(name)), &program);
	warn_of_privileges(call, &program);
	if (program.privileged && !call->watch->no_new_privs)
		aw_processes_set_rights(call->watch->tree, call->target.who.pid);
	announce(call, &program);
	enter(call, path_for_us(call, name, sizeof(name)));
}
