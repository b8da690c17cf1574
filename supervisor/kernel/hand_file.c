/* SPDX-License-Identifier: Apache-2.0 */
/* hand_file.c - files: finding, judging, answering; names made, moved and taken away.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "policy/decide.h"
#include "supervisor/cleanup.h"
#include "supervisor/descend.h"
#include "supervisor/kernel/hand.h"
#include "supervisor/kernel/persona.h"

void aw_hand_answer(struct aw_notified *call, long result)
{
	call->reply = AW_REPLY_VALUE;
	call->value = result < 0 ? 0 : result;
	call->err = result < 0 ? (int)-result : 0;
	call->event.result_known = true;
	call->event.result = call->err;
}

bool aw_hand_give(struct aw_notified *call, int *fd, uint64_t flags)
{
	struct seccomp_notif_addfd add = {.id = call->id,
		.srcfd = (uint32_t)*fd,
		.newfd_flags = flags & O_CLOEXEC ? O_CLOEXEC : 0};
	bool plain = (flags & O_ACCMODE) == O_RDONLY && !(flags & O_NONBLOCK);
	int number;

	if (plain)
		add.flags = SECCOMP_ADDFD_FLAG_SEND;
	number = ioctl(call->watch->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	if (number < 0) {
		call->gone = errno == ENOENT;
		aw_hand_answer(call, -errno);
		return false;
	}
	/* the target must not go on while ours is still open: the last close of a pipe,
	 * or of a program that was written, would come late */
	close(aw_take_fd(fd));
	aw_hand_answer(call, number);
	if (plain)
		call->reply = AW_REPLY_DONE;
	return true;
}

bool aw_hand_waits(struct aw_notified *call)
{
	if (ioctl(call->watch->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id) == 0)
		return true;
	call->gone = call->silent = true;
	call->reply = AW_REPLY_DONE;
	return false;
}

bool aw_hand_read(struct aw_notified *call, uint64_t address, char *raw)
{
	if (aw_target_string(&call->target, address, raw, 4096) >= 0)
		return true;
	aw_call_unreadable(call, errno ? errno : EFAULT);
	return false;
}

/* Nothing can be done; a path that may not be looked at is refused before that. */
static void leads_nowhere(struct aw_notified *call, const struct aw_walk_wish *wish,
	char *raw, struct aw_text *path, struct aw_text *ret_raw, int err)
{
	struct aw_decision decision;
	int ignored;

	aw_persona_drop();
	path->len = aw_target_resolve(&call->target, wish->dir, raw, wish->follow,
		(char *)path->bytes, AW_CALL_PATH, &ignored);
	if (!path->len) {
		path->bytes = raw;
		path->len = strlen(raw);
	}
	*ret_raw = (struct aw_text){raw, strlen(raw)};
	aw_image_decide_path(atomic_load(&call->watch->image), call->event.action,
		path->bytes, path->len, &decision);
	aw_call_decide(call, &decision);
	if (call->reply != AW_REPLY_FAIL)
		aw_hand_answer(call, -err);
}

/* "link/" is what the link leads to, but for calls that name an entry of a folder. */
static bool follows_slash(const struct aw_notified *call, const char *raw)
{
	size_t len = strlen(raw);

	switch ((enum aw_effect)call->row->effect) {
	case AW_FX_OPEN:
		return len && raw[len - 1] == '/' &&
		       !(aw_call_open_flags(call) & O_CREAT);
	case AW_FX_LINK:
		return raw == call->raw && len && raw[len - 1] == '/';
	case AW_FX_WRITE:
	case AW_FX_META:
	case AW_FX_CHDIR:
		return len && raw[len - 1] == '/';
	default:
		return false;
	}
}

bool aw_hand_find(struct aw_notified *call, const struct aw_walk_wish *wish, char *raw,
	struct aw_place *place, struct aw_text *ret_path, struct aw_text *ret_raw)
{
	char *text = raw == call->raw ? call->path : call->path2;
	struct aw_walk_wish now = *wish;
	int err;

	now.follow |= follows_slash(call, raw);
	err = aw_place_find(call->watch, &call->target, &now, raw, place);
	ret_path->bytes = text;
	if (err) {
		leads_nowhere(call, wish, raw, ret_path, ret_raw, err);
		return false;
	}
	memcpy(text, place->name, place->len + 1);
	ret_path->len = place->len;
	if (strcmp(raw, text) != 0)
		*ret_raw = (struct aw_text){raw, strlen(raw)};
	return true;
}

/* "/proc/PID" of the target itself is what rules call /proc/self. */
static size_t as_self(const struct aw_notified *call, const struct aw_place *place,
	char *to, size_t size)
{
	char own[32];
	int n = snprintf(own, sizeof(own), "/proc/%d", call->target.who.pid);

	if (strncmp(place->name, own, (size_t)n) != 0 ||
		(place->name[n] && place->name[n] != '/'))
		return 0;
	return (size_t)snprintf(to, size, "/proc/self%s", place->name + n);
}

/* Below /proc/PID of a process of ours. */
static bool is_supervisor(const struct aw_watch *watch, const char *name)
{
	const pid_t ours[] = {watch->self, watch->front};

	for (size_t i = 0; i < 2; i++) {
		char own[32];
		int n = snprintf(own, sizeof(own), "/proc/%d/", ours[i]);

		if (strncmp(name, own, (size_t)n) == 0)
			return true;
	}
	return false;
}

/*
 * What /proc tells of a process only to those who may trace it (proc(5)).  Done by us
 * it would be told of any process of the same user, so it is kept to those of the
 * session.
 */
static bool is_private_of_outsider(const struct aw_watch *watch, const char *name)
{
	static const char *const open_to_all[] = {"stat", "statm", "status", "cmdline",
		"comm", "cgroup", "sched", "schedstat", "loginuid", "sessionid",
		"oom_score", "oom_score_adj", "oom_adj", "cpuset", "limits", "wchan",
		"mounts", "mountinfo", "mountstats", "net", "task", "coredump_filter"};
	const char *what;
	char *end;
	long pid;

	if (watch->own_pids || strncmp(name, "/proc/", 6) != 0)
		return false;
	pid = strtol(name + 6, &end, 10);
	if (end == name + 6 || *end != '/' || aw_descends((pid_t)pid, watch->self))
		return false;
	what = end + 1;
	if (strncmp(what, "task/", 5) == 0 && (what = strchr(what + 5, '/')))
		what++;
	for (size_t i = 0; what && i < sizeof(open_to_all) / sizeof(*open_to_all);
		i++) {
		size_t n = strlen(open_to_all[i]);

		if (strncmp(what, open_to_all[i], n) == 0 &&
			(!what[n] || what[n] == '/'))
			return false;
	}
	return what != NULL;
}

/* Pipes, sockets and memory that was never in a folder: no rule can be about them. */
static bool has_no_name(const struct aw_place *place)
{
	static const char memory[] = "/memfd:";
	struct statfs fs;

	if (place->object < 0 || !place->len)
		return false;
	if (place->name[0] != '/')
		return true;
	return place->st.st_nlink == 0 &&
	       strncmp(place->name, memory, sizeof(memory) - 1) == 0 &&
	       fstatfs(place->object, &fs) == 0 &&
	       (fs.f_type == TMPFS_MAGIC || fs.f_type == HUGETLBFS_MAGIC);
}

/* The target has it open already, for the same; /dev/stdout may be a pipe. */
static bool has_it_already(const struct aw_place *place, enum aw_action action)
{
	mode_t needed = action == AW_READ			    ? S_IRUSR
			: action == AW_WRITE || action == AW_CREATE ? S_IWUSR
								    : 0;

	return needed && place->own & needed && has_no_name(place);
}

static void judge(struct aw_notified *call, enum aw_action action,
	const struct aw_place *place, struct aw_decision *ret)
{
	const struct aw_image *image = atomic_load(&call->watch->image);
	char self[AW_PLACE_PATH + 32];
	struct aw_decision own;
	size_t n;

	aw_image_decide_path(image, action, place->name, place->len, ret);
	n = as_self(call, place, self, sizeof(self));
	if (ret->rule == AW_NO_RULE && has_it_already(place, action))
		ret->verdict = AW_ALLOW;
	if (n) {
		aw_image_decide_path(image, action, self, n, &own);
		if (ret->rule == AW_NO_RULE || own.verdict > ret->verdict)
			*ret = own;
	}
	/* a disk is every file on it: only a rule that names it gives it */
	if ((place->object >= 0 && S_ISBLK(place->st.st_mode) &&
		    ret->rule == AW_NO_RULE && action != AW_METADATA) ||
		((is_supervisor(call->watch, place->name) ||
			 is_private_of_outsider(call->watch, place->name)) &&
			action != AW_METADATA))
		*ret = (struct aw_decision){AW_DENY, AW_NO_RULE};
}

bool aw_hand_may(struct aw_notified *call, const struct aw_place *place,
	const struct aw_place *second)
{
	enum aw_action action = call->event.action;
	enum aw_effect effect = (enum aw_effect)call->row->effect;
	struct aw_decision decision, other;

	judge(call, effect == AW_FX_LINK ? AW_WRITE : action, place, &decision);
	if (second) {
		judge(call, action, second, &other);
		if (other.verdict > decision.verdict)
			decision = other;
	}
	if (effect == AW_FX_META && decision.verdict != AW_HIDE)
		call->silent = true;
	aw_call_decide(call, &decision);
	return call->reply != AW_REPLY_FAIL && aw_hand_waits(call);
}

bool aw_hand_is_taken(struct aw_notified *call, const struct aw_place *place)
{
	struct aw_decision made, seen;

	if (place->object < 0)
		return false;
	judge(call, call->event.action, place, &made);
	if (made.verdict == AW_ALLOW)
		return false;
	judge(call, AW_READ, place, &seen);
	if (seen.verdict != AW_ALLOW)
		return false;
	aw_call_decide(call, &seen);
	aw_hand_answer(call, -EEXIST);
	return true;
}

static int dir_of(const struct aw_notified *call, int8_t column)
{
	return column < 0 ? AT_FDCWD : (int)call->args[column];
}

/* The first path of the call, links in its last component followed or not. */
static bool find_first(struct aw_notified *call, bool follow, struct aw_place *ret)
{
	const struct aw_walk_wish wish = {
		.dir = dir_of(call, call->row->dir), .follow = follow};

	return aw_hand_read(call, call->args[call->row->path], call->raw) &&
	       aw_hand_find(call, &wish, call->raw, ret, &call->event.path,
		       &call->event.raw);
}

/* The descriptor that is the subject; false: answered. */
static bool find_descriptor(struct aw_notified *call, struct aw_place *ret)
{
	int err = aw_place_of_descriptor(
		&call->target, (int)call->args[call->row->dir], ret);

	if (err) {
		aw_hand_answer(call, -err);
		return false;
	}
	memcpy(call->path, ret->name, ret->len + 1);
	call->event.path = (struct aw_text){call->path, ret->len};
	return true;
}

static bool find_second(struct aw_notified *call, struct aw_place *ret)
{
	const struct aw_walk_wish wish = {.dir = dir_of(call, call->row->dir2)};

	return aw_hand_read(call, call->args[call->row->path2], call->raw2) &&
	       aw_hand_find(call, &wish, call->raw2, ret, &call->event.path2,
		       &call->event.raw2);
}

static void done(struct aw_notified *call, long result)
{
	aw_hand_answer(call, result < 0 ? -errno : result);
}

static bool take(struct aw_notified *call)
{
	int err = aw_persona_take(call->watch, &call->target);

	if (err)
		aw_hand_answer(call, -err);
	return !err;
}

/* True: the call would make a name that is there, see aw_hand_is_taken(). */
static bool makes_again(struct aw_notified *call, const struct aw_place *place)
{
	return call->row->effect != AW_FX_DELETE && aw_hand_is_taken(call, place);
}

/* mkdir, mknod, unlink, rmdir. */
static void in_folder(struct aw_notified *call)
{
	struct aw_place place;
	unsigned mode = (unsigned)call->args[call->row->path + 1];
	dev_t device = (dev_t)(uint32_t)call->args[call->row->path + 2];

	if (!find_first(call, false, &place))
		return;
	if (!makes_again(call, &place) && aw_hand_may(call, &place, NULL) &&
		take(call)) {
		switch (call->sys) {
		case AW_SYS_mkdir:
		case AW_SYS_mkdirat:
			done(call, mkdirat(place.parent, place.last, mode));
			break;
		case AW_SYS_mknod:
		case AW_SYS_mknodat: /* the number as the kernel has it, not libc's */
			done(call, syscall(SYS_mknodat, place.parent, place.last, mode,
					   device));
			break;
		case AW_SYS_rmdir:
			done(call, unlinkat(place.parent, place.last, AT_REMOVEDIR));
			break;
		default:
			done(call, unlinkat(place.parent, place.last,
					   call->sys == AW_SYS_unlinkat
						   ? (int)call->args[2]
						   : 0));
		}
	}
	aw_place_release(&place);
}

/*
 * Would something leave the reach of a rule, with the folder above it, or come into it,
 * where it could not have been made?
 */
static bool carries_rules(struct aw_notified *call, const struct aw_place *from,
	const struct aw_place *to)
{
	const struct aw_image *image = atomic_load(&call->watch->image);
	struct aw_decision decision = {AW_DENY, AW_NO_RULE};

	if (from->object < 0 || !S_ISDIR(from->st.st_mode) ||
		(!aw_image_carries(image, from->name, from->len, to->name, to->len,
			 &decision.rule) &&
			!aw_image_carries(image, to->name, to->len, from->name,
				from->len, &decision.rule)))
		return false;
	aw_call_decide(call, &decision);
	return true;
}

/* "." and ".." and "/" cannot be renamed: rename(2), EBUSY. */
static bool is_no_name(const struct aw_place *place)
{
	const char *last = place->last;

	return last[0] == '/' ||
	       (last[0] == '.' && (!last[1] || (last[1] == '.' && !last[2])));
}

static void rename_it(struct aw_notified *call, const struct aw_place *from,
	const struct aw_place *to)
{
	unsigned flags = call->sys == AW_SYS_renameat2 ? (unsigned)call->args[4] : 0;

	if (carries_rules(call, from, to) ||
		(flags & RENAME_EXCHANGE && carries_rules(call, to, from)) ||
		!take(call))
		return;
	call->moves = from->object >= 0 && S_ISDIR(from->st.st_mode);
	done(call, renameat2(from->parent, from->last, to->parent, to->last, flags));
}

static void link_it(struct aw_notified *call, const struct aw_place *from,
	const struct aw_place *to)
{
	if (from->object < 0 ||
		(strchr(from->last, '/') && !S_ISDIR(from->st.st_mode))) {
		aw_hand_answer(call, from->object < 0 ? -ENOENT : -ENOTDIR);
		return;
	}
	if (!take(call))
		return;
	/* the very file that was judged; the name of a descriptor is a link to follow
	 */
	if (S_ISLNK(from->st.st_mode))
		done(call, linkat(from->parent, from->last, to->parent, to->last, 0));
	else
		done(call,
			linkat(aw_place_own_folder(), aw_place_link(from->object).text,
				to->parent, to->last, AT_SYMLINK_FOLLOW));
}

/* The source of a link: by path, or with AT_EMPTY_PATH a descriptor. */
static bool find_source(struct aw_notified *call, struct aw_place *ret)
{
	uint64_t flags = call->row->effect == AW_FX_LINK && call->row->flags >= 0
				 ? call->args[call->row->flags]
				 : 0;

	if (!(flags & AT_EMPTY_PATH))
		return find_first(call, flags & AT_SYMLINK_FOLLOW, ret);
	if (!aw_hand_read(call, call->args[call->row->path], call->raw))
		return false;
	if (call->raw[0])
		return find_first(call, flags & AT_SYMLINK_FOLLOW, ret);
	return find_descriptor(call, ret);
}

/* link alone: the new name is there, and nothing but that stands in the way. */
static bool links_again(struct aw_notified *call, const struct aw_place *from,
	const struct aw_place *to)
{
	struct aw_decision decision;

	if (call->row->effect != AW_FX_LINK || from->object < 0)
		return false;
	judge(call, AW_WRITE, from, &decision);
	return decision.verdict == AW_ALLOW && aw_hand_is_taken(call, to);
}

/* rename and link. */
static void from_to(struct aw_notified *call)
{
	struct aw_place from, to;

	if (!find_source(call, &from))
		return;
	if (find_second(call, &to)) {
		if (call->row->effect == AW_FX_RENAME &&
			(is_no_name(&from) || is_no_name(&to)))
			aw_hand_answer(call, -EBUSY);
		else if (!links_again(call, &from, &to) &&
			 aw_hand_may(call, &from, &to)) {
			if (call->row->effect == AW_FX_RENAME)
				rename_it(call, &from, &to);
			else
				link_it(call, &from, &to);
		}
		aw_place_release(&to);
	}
	aw_place_release(&from);
}

/* What a link says is not a place yet: judged when it is followed. */
static void symlink_it(struct aw_notified *call)
{
	struct aw_place place;

	if (!aw_hand_read(call, call->args[call->row->path2], call->raw2) ||
		!find_first(call, false, &place))
		return;
	call->event.raw2 = (struct aw_text){call->raw2, strlen(call->raw2)};
	if (!aw_hand_is_taken(call, &place) && aw_hand_may(call, &place, NULL) &&
		take(call))
		done(call, symlinkat(call->raw2, place.parent, place.last));
	aw_place_release(&place);
}

/* chdir and chroot change the target itself: only it can do them. Metadata is looked
 * at, not opened; what is hidden is not there. */
static void judge_only(struct aw_notified *call)
{
	struct aw_place place;
	bool chdir = call->row->effect == AW_FX_CHDIR;

	if (call->row->path == AW_ARG_FD
			? !find_descriptor(call, &place)
			: !find_first(call,
				  chdir || aw_call_follows(
						   call, aw_call_open_flags(call)),
				  &place)) {
		if (call->reply == AW_REPLY_VALUE) /* the kernel says it as well */
			call->reply = AW_REPLY_CONTINUE;
		call->silent |= !chdir && call->reply != AW_REPLY_FAIL;
		return;
	}
	if (aw_hand_may(call, &place, NULL) && chdir) {
		call->moves = true;
		if (call->sys == AW_SYS_chroot)
			aw_processes_set_moved_root(
				call->watch->tree, call->target.who.pid);
	}
	aw_place_release(&place);
}

static void refuse_handle(struct aw_notified *call)
{
	struct aw_decision decision = {AW_DENY, AW_NO_RULE};

	aw_call_decide(call, &decision);
}

static void on_open(struct aw_notified *call)
{
	if (!aw_hand_read(call, call->args[call->row->path], call->raw))
		return;
	if (call->row->effect == AW_FX_OPEN && aw_call_is_shims(call))
		return;
	aw_hand_open(call);
}

void aw_hand_file(struct aw_notified *call)
{
	enum aw_effect effect = (enum aw_effect)call->row->effect;

	call->event.action = aw_action_of_effect(effect, 0);
	switch (effect) {
	case AW_FX_OPEN:
	case AW_FX_CREAT:
	case AW_FX_READ:
		on_open(call);
		break;
	case AW_FX_HANDLE:
		refuse_handle(call);
		break;
	case AW_FX_CREATE:
	case AW_FX_DELETE:
		in_folder(call);
		break;
	case AW_FX_RENAME:
	case AW_FX_LINK:
		from_to(call);
		break;
	case AW_FX_SYMLINK:
		symlink_it(call);
		break;
	case AW_FX_WRITE:
		aw_hand_change(call);
		break;
	default:
		judge_only(call);
		break;
	}
}
