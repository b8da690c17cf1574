/* SPDX-License-Identifier: Apache-2.0 */
/* call_file.c - notified calls that name files. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/decide.h"
#include "supervisor/git/git.h"
#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/linux/emulate/guard.h"
#include "supervisor/linux/emulate/machine.h"
#include "supervisor/util/cleanup.h"

/* What the text leads to; false: to nothing that has a name. */
static bool resolve(struct aw_notified *call, int dir, const char *raw, bool follow,
	char *to, struct aw_text *ret_path, struct aw_text *ret_raw, int *ret_errno)
{
	size_t len = strlen(raw), n;

	n = aw_target_resolve(
		&call->target, dir, raw, follow, to, AW_CALL_PATH, ret_errno);
	if (n)
		*ret_path = (struct aw_text){to, n};
	if (n != len || memcmp(raw, to, n) != 0)
		*ret_raw = (struct aw_text){raw, len};
	return n != 0;
}

static bool read_text(
	struct aw_notified *call, uint64_t address, char *raw, int *ret_errno)
{
	if (aw_target_string(&call->target, address, raw, 4096) >= 0)
		return true;
	*ret_errno = errno ? errno : EFAULT;
	return false;
}

bool aw_call_path(struct aw_notified *call, int dir, uint64_t address, bool follow,
	char *raw, char *to, struct aw_text *ret_path, struct aw_text *ret_raw,
	int *ret_errno)
{
	return read_text(call, address, raw, ret_errno) &&
	       resolve(call, dir, raw, follow, to, ret_path, ret_raw, ret_errno);
}

/* The directory argument of a column, as openat(2) takes it. */
static int dir_of(const struct aw_notified *call, int8_t column)
{
	return column < 0 ? AT_FDCWD : (int)call->args[column];
}

static bool is_directory(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* guard.h: what enforce would refuse. */
static bool gets_round(struct aw_notified *call, struct aw_decision *ret)
{
	const struct aw_image *image = atomic_load(&call->watch->image);
	const struct aw_event *event = &call->event;
	struct aw_guard_thing thing = {0};
	char path[AW_CALL_PATH + 32];
	AW_CLOSE int fd = -1;
	struct stat st;

	if (call->row->effect == AW_FX_SYMLINK)
		return event->path.len && event->raw2.len &&
		       aw_guard_link(
			       image, &call->target, &event->path, call->raw2, ret);
	if ((call->row->effect != AW_FX_RENAME && call->row->effect != AW_FX_LINK) ||
		!event->path.len || !event->path2.len)
		return false;
	aw_git_path(&call->target.who, event->path.bytes, event->path.len, path,
		sizeof(path));
	fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return false;
	thing = (struct aw_guard_thing){st.st_mode, fd};
	return aw_guard_entry(image, &call->target, &thing, &event->path, &event->path2,
		call->row->effect == AW_FX_RENAME, ret);
}

/* machine.h: what enforce would refuse. */
static void foresee_machine(struct aw_notified *call, struct aw_decision *decision)
{
	struct aw_event *event = &call->event;
	const char *why;

	if (call->watch->enforce || decision->verdict > AW_ASK ||
		!call->target.who.plain_root ||
		!aw_machine_may_be(event->action, &event->path))
		return;
	why = aw_machine_would_keep(atomic_load(&call->watch->image), event->action,
		call->sys, &event->path, call->target.tid, decision->rule);
	if (!why)
		return;
	event->why = why;
	*decision = (struct aw_decision){AW_DENY, AW_NO_RULE};
}

static void decide_file(struct aw_notified *call, enum aw_action action)
{
	const struct aw_event *event = &call->event;
	const struct aw_call_paths ends = {event->path.bytes, event->path.len,
		event->path2.bytes, event->path2.len};
	struct aw_decision decision, round;

	aw_decide_files(atomic_load(&call->watch->image),
		call->target.who.role.profiles, (enum aw_effect)call->row->effect,
		action, &ends, &decision);
	if (call->row->effect == AW_FX_META && decision.verdict != AW_HIDE)
		call->silent = true;
	call->why.text[0] = '\0';
	if (decision.verdict == AW_ALLOW && gets_round(call, &round))
		decision = round;
	if (call->row->effect == AW_FX_RENAME && decision.verdict == AW_ALLOW &&
		aw_git_would_refuse(atomic_load(&call->watch->image), &call->target.who,
			&event->path, &event->path2, &call->why))
		decision = (struct aw_decision){AW_DENY, call->why.rule};
	foresee_machine(call, &decision);
	aw_call_decide(call, &decision);
	aw_git_tell(&call->why, &call->event, &call->rule);
}

/* The second end: where a rename or link goes, what a symbolic link says. */
static void second_end(struct aw_notified *call)
{
	struct aw_event *event = &call->event;
	char parent[AW_CALL_PATH];
	int ignored;

	if (call->row->path2 < 0)
		return;
	if (call->row->effect != AW_FX_SYMLINK) {
		aw_call_path(call, dir_of(call, call->row->dir2),
			call->args[call->row->path2], false, call->raw2, call->path2,
			&event->path2, &event->raw2, &ignored);
		return;
	}
	if (aw_target_string(
		    &call->target, call->args[call->row->path2], call->raw2, 4096) <= 0)
		return;
	event->raw2 = (struct aw_text){call->raw2, strlen(call->raw2)};
	memcpy(parent, event->path.bytes, event->path.len);
	parent[event->path.len] = '\0';
	*strrchr(parent, '/') = '\0';
	if (call->raw2[0] != '/' &&
		strlen(parent) + 1 + event->raw2.len < sizeof(call->path2)) {
		strcat(strcat(parent, "/"), call->raw2);
		event->path2.len = aw_target_resolve(&call->target, AT_FDCWD, parent,
			false, call->path2, sizeof(call->path2), &ignored);
	} else {
		event->path2.len = aw_target_resolve(&call->target, AT_FDCWD,
			call->raw2, false, call->path2, sizeof(call->path2), &ignored);
	}
	event->path2.bytes = call->path2;
}

/* What is there already is in its way. */
static bool makes_only(const struct aw_notified *call)
{
	uint64_t flags = aw_call_open_flags(call);

	switch ((enum aw_effect)call->row->effect) {
	case AW_FX_CREATE:
	case AW_FX_SYMLINK:
		return true;
	case AW_FX_OPEN:
		return (flags & (O_CREAT | O_EXCL | O_PATH)) == (O_CREAT | O_EXCL);
	default:
		return false;
	}
}

/* Nothing can be made where no directory is. */
static bool has_no_parent(const struct aw_notified *call)
{
	char parent[AW_CALL_PATH];
	const char *slash = strrchr(call->path, '/');
	struct stat st;

	if (!slash || !call->target.who.plain_root)
		return false;
	snprintf(parent, sizeof(parent), "%.*s", (int)(slash - call->path), call->path);
	return *parent && stat(parent, &st) < 0 &&
	       (errno == ENOENT || errno == ENOTDIR);
}

/* What looking the path up has told already. */
static void foresee(struct aw_notified *call, int looked_up)
{
	enum aw_action action = call->event.action;

	if (call->watch->enforce || action == AW_RENAME)
		return;
	if (!looked_up && makes_only(call))
		looked_up = EEXIST;
	else if (looked_up && action == AW_CREATE)
		looked_up = has_no_parent(call) ? ENOENT : 0;
	if (!looked_up)
		return;
	call->event.result_known = true;
	call->event.result = looked_up;
}

/* The file behind a handle, which is no path: opened here and asked for its name. */
static size_t name_of_handle(struct aw_notified *call, char *to, size_t size)
{
	union {
		struct file_handle head;
		char room[sizeof(struct file_handle) + MAX_HANDLE_SZ];
	} handle;
	AW_CLOSE int mount = -1, fd = -1;
	char link[64];
	ssize_t n;

	if (!aw_target_read(
		    &call->target, call->args[1], &handle, sizeof(handle.head)) ||
		handle.head.handle_bytes > MAX_HANDLE_SZ ||
		!aw_target_read(&call->target, call->args[1], &handle,
			sizeof(handle.head) + handle.head.handle_bytes))
		return 0;
	snprintf(link, sizeof(link), "/proc/%d/%s", call->target.tid,
		(int)call->args[0] == AT_FDCWD ? "cwd" : "fd/");
	if ((int)call->args[0] != AT_FDCWD)
		snprintf(link + strlen(link), 16, "%d", (int)call->args[0]);
	mount = open(link, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	fd = mount < 0 ? -1
		       : open_by_handle_at(mount, &handle.head, O_PATH | O_CLOEXEC);
	if (fd < 0)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, to, size - 1);
	return n > 0 && to[0] == '/' ? (size_t)n : 0;
}

/* Enforce cannot judge what it cannot name. */
static void on_handle(struct aw_notified *call)
{
	struct aw_decision decision = {AW_DENY, AW_NO_RULE};
	size_t n = name_of_handle(call, call->path, sizeof(call->path));

	call->event.path = (struct aw_text){call->path, n};
	if (n)
		aw_image_decide_path_in(atomic_load(&call->watch->image),
			call->target.who.role.profiles, call->event.action, call->path,
			n, &decision);
	else if (!call->watch->enforce)
		decision.verdict = AW_ALLOW;
	aw_call_decide(call, &decision);
}

/* A descriptor is the subject itself; false: there is nothing to judge. */
static bool on_descriptor(struct aw_notified *call)
{
	size_t n = aw_target_name(&call->target, dir_of(call, call->row->dir),
		call->path, sizeof(call->path));

	call->event.path = (struct aw_text){call->path, n};
	if (!n)
		aw_call_unreadable(
			call, errno == EACCES || errno == EPERM ? EPERM : EBADF);
	return n != 0;
}

/* False: there is nothing to judge, or it was the shim's hello, which leads nowhere. */
static bool find_path(struct aw_notified *call, uint64_t flags, int *ret_errno)
{
	const struct aw_syscall *row = call->row;
	bool opens = row->effect == AW_FX_OPEN;

	if (read_text(call, call->args[row->path], call->raw, ret_errno)) {
		if (opens && aw_call_meets_shim(call))
			return false;
		if (resolve(call, dir_of(call, row->dir), call->raw,
			    aw_call_follows(call, flags), call->path, &call->event.path,
			    &call->event.raw, ret_errno))
			return true;
	} else if (opens && call->target.who.execing) {
		aw_call_arrived(call, false);
	}
	aw_call_unreadable(call, *ret_errno ? *ret_errno : EFAULT);
	return false;
}

void aw_call_file(struct aw_notified *call)
{
	const struct aw_syscall *row = call->row;
	struct aw_event *event = &call->event;
	uint64_t flags = aw_call_open_flags(call);
	int looked_up = 0;

	event->action = aw_action_of_effect((enum aw_effect)row->effect, flags);
	if (row->effect == AW_FX_HANDLE) {
		on_handle(call);
		return;
	}
	if (row->path == AW_ARG_FD ||
		(row->effect == AW_FX_WRITE && !call->args[row->path])) {
		if (!on_descriptor(call))
			return;
	} else if (!find_path(call, flags, &looked_up)) {
		return;
	}
	second_end(call);
	decide_file(call, event->action);
	foresee(call, looked_up);
	call->moves = row->effect == AW_FX_CHDIR ||
		      (row->effect == AW_FX_RENAME && is_directory(call->path));
	if (call->sys == AW_SYS_chroot)
		aw_processes_set_moved_root(call->watch->tree, call->target.who.pid);
}
