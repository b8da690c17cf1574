/* SPDX-License-Identifier: Apache-2.0 */
/* emulate_file.c - names made, moved, linked and taken away for a target. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/image/region.h"
#include "supervisor/git/git.h"
#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/linux/emulate/guard.h"
#include "supervisor/linux/emulate/path_act.h"
#include "supervisor/linux/sockets/guard_socket.h"
#include "supervisor/linux/target/creds.h"

static int dir_of(const struct aw_notified *call, int8_t column)
{
	return column < 0 ? AT_FDCWD : (int)call->args[column];
}

/* The first path of the call, links in its last component followed or not. */
static bool find_first(struct aw_notified *call, bool follow, struct aw_location *ret)
{
	const struct aw_path_walk_params params = {
		.dir = dir_of(call, call->row->dir), .follow = follow};

	return aw_emulate_read(call, call->args[call->row->path], call->raw) &&
	       aw_emulate_find(call, &params, call->raw, ret, &call->event.path,
		       &call->event.raw);
}

/* The descriptor that is the subject; false: answered. */
static bool find_descriptor(struct aw_notified *call, struct aw_location *ret)
{
	int err = aw_location_of_descriptor(
		&call->target, (int)call->args[call->row->dir], ret);

	if (err) {
		aw_emulate_answer(call, -err);
		return false;
	}
	memcpy(call->path, ret->name, ret->len + 1);
	call->event.path = (struct aw_text){call->path, ret->len};
	return true;
}

static bool find_second(struct aw_notified *call, struct aw_location *ret)
{
	const struct aw_path_walk_params params = {
		.dir = dir_of(call, call->row->dir2)};

	return aw_emulate_read(call, call->args[call->row->path2], call->raw2) &&
	       aw_emulate_find(call, &params, call->raw2, ret, &call->event.path2,
		       &call->event.raw2);
}

static void done(struct aw_notified *call, long result)
{
	aw_emulate_answer(call, result < 0 ? -errno : result);
}

/* What is taken away does no harm to git, and a directory is no configuration. */
static bool may_for_git(struct aw_notified *call, const struct aw_location *place)
{
	bool folder = call->sys == AW_SYS_mkdir || call->sys == AW_SYS_mkdirat;

	return call->row->effect == AW_FX_DELETE || aw_git_enter(call, place, folder);
}

static bool take(struct aw_notified *call)
{
	int err = aw_creds_assume(call->watch, &call->target);

	if (err)
		aw_emulate_answer(call, -err);
	return !err;
}

/* True: the call would make a name that is there, see aw_emulate_is_taken(). */
static bool makes_again(struct aw_notified *call, const struct aw_location *place)
{
	return call->row->effect != AW_FX_DELETE && aw_emulate_is_taken(call, place);
}

/* mkdir, mknod, unlink, rmdir. */
static void in_folder(struct aw_notified *call)
{
	struct aw_location place;
	unsigned mode = (unsigned)call->args[call->row->path + 1];
	dev_t device = (dev_t)(uint32_t)call->args[call->row->path + 2];

	if (!find_first(call, false, &place))
		return;
	if (!makes_again(call, &place) && aw_emulate_may(call, &place, NULL) &&
		may_for_git(call, &place) && take(call)) {
		switch (call->sys) {
		case AW_SYS_mkdir:
		case AW_SYS_mkdirat:
			done(call, aw_location_make_directory(&place, mode));
			break;
		case AW_SYS_mknod:
		case AW_SYS_mknodat:
			done(call, aw_location_make_node(&place, mode, device));
			break;
		case AW_SYS_rmdir:
			done(call, aw_location_remove(&place, AT_REMOVEDIR));
			break;
		default:
			done(call,
				aw_location_remove(&place, call->sys == AW_SYS_unlinkat
								   ? (int)call->args[2]
								   : 0));
		}
	}
	aw_git_leave(call);
	aw_location_release(&place);
}

/* True: a rule would be got round by what gets a name (guard.h); answered, or asked. */
static bool gets_round(struct aw_notified *call, const struct aw_location *from,
	const struct aw_location *to, bool moves)
{
	const struct aw_guard_thing thing = {
		from->object < 0 ? 0 : from->st.st_mode, from->object};
	const struct aw_text old = {from->name, from->len}, new = {to->name, to->len};
	struct aw_decision decision;

	aw_creds_restore(); /* links are looked at with our own rights */
	if (!aw_guard_entry(atomic_load(&call->watch->image), &call->target, &thing,
		    &old, &new, moves, &decision) &&
		!aw_guard_sockets(call, from, to, &decision))
		return false;
	aw_call_decide(call, &decision);
	return call->reply != AW_REPLY_CONTINUE;
}

/* "." and ".." and "/" cannot be renamed: rename(2), EBUSY. */
static bool is_no_name(const struct aw_location *place)
{
	const char *last = place->last;

	return last[0] == '/' ||
	       (last[0] == '.' && (!last[1] || (last[1] == '.' && !last[2])));
}

/* Under its name a path goes on: a directory or a symbolic link. */
static bool leads_on(const struct aw_location *place)
{
	return place->object >= 0 &&
	       (S_ISDIR(place->st.st_mode) || S_ISLNK(place->st.st_mode));
}

/*
 * Does a rule guard something below one of the names that it does not below the other?
 * Programs are guarded where they are alone: another one may take their place.
 */
static bool is_guarded(const struct aw_notified *call, const struct aw_location *from,
	const struct aw_location *to, unsigned flags)
{
	const struct aw_image *image = atomic_load(&call->watch->image);
	uint32_t profiles = call->target.who.role.profiles;
	struct aw_decision ignored;

	return aw_image_carries(image, profiles, to->name, to->len, from->name,
		       from->len, &ignored) ||
	       aw_image_carries(image, profiles, from->name, from->len, to->name,
		       to->len, &ignored) ||
	       aw_image_carries_programs(image, profiles, true, from->name, from->len,
		       to->name, to->len, &ignored) ||
	       (flags & RENAME_EXCHANGE &&
		       aw_image_carries_programs(image, profiles, true, to->name,
			       to->len, from->name, from->len, &ignored));
}

/*
 * Whether something may have a name depends on what it is where a rule is about what
 * lies below that name (guard.h), and renameat2(2) takes whatever is there by then.  So
 * there the very thing that was judged is moved, a directory when a human said so; and
 * nothing is exchanged.
 */
static void rename_guarded(struct aw_notified *call, const struct aw_location *from,
	const struct aw_location *to, unsigned flags)
{
	if (flags & ~(unsigned)RENAME_NOREPLACE)
		aw_emulate_answer(call, -EPERM);
	else if (!S_ISDIR(from->st.st_mode) && strchr(from->last, '/'))
		aw_emulate_answer(call, -ENOTDIR);
	else
		done(call, aw_location_move(from, to, flags));
}

static void rename_it(struct aw_notified *call, const struct aw_location *from,
	const struct aw_location *to)
{
	unsigned flags = call->sys == AW_SYS_renameat2 ? (unsigned)call->args[4] : 0;

	if (gets_round(call, from, to, true) ||
		(flags & RENAME_EXCHANGE && gets_round(call, to, from, true)) ||
		!aw_git_enter_rename(call, from, to, flags))
		return;
	if (from->object < 0) { /* what comes there now was not looked at */
		aw_emulate_answer(
			call, aw_location_is_apart(from, to) ? -EXDEV : -ENOENT);
		return;
	}
	if (!take(call))
		return;
	call->moves = S_ISDIR(from->st.st_mode);
	call->leads = leads_on(from) || (flags & RENAME_EXCHANGE && leads_on(to));
	if (is_guarded(call, from, to, flags))
		rename_guarded(call, from, to, flags);
	else
		done(call, aw_location_rename(from, to, flags));
}

static void link_it(struct aw_notified *call, const struct aw_location *from,
	const struct aw_location *to)
{
	if (from->object < 0 ||
		(strchr(from->last, '/') && !S_ISDIR(from->st.st_mode))) {
		aw_emulate_answer(call, from->object < 0 ? -ENOENT : -ENOTDIR);
		return;
	}
	if (gets_round(call, from, to, false) || !aw_git_enter(call, from, false) ||
		!aw_git_enter(call, to, false) || !take(call))
		return;
	call->leads = leads_on(from);
	done(call, aw_location_link_to(from, to));
}

/* The source of a link: by path, or with AT_EMPTY_PATH a descriptor. */
static bool find_source(struct aw_notified *call, struct aw_location *ret)
{
	uint64_t flags = call->row->effect == AW_FX_LINK && call->row->flags >= 0
				 ? (uint32_t)call->args[call->row->flags]
				 : 0;

	if (flags & ~(uint64_t)(AT_EMPTY_PATH | AT_SYMLINK_FOLLOW)) {
		call->silent = true;
		aw_emulate_answer(call, -EINVAL);
		return false;
	}
	if (!(flags & AT_EMPTY_PATH))
		return find_first(call, flags & AT_SYMLINK_FOLLOW, ret);
	if (!aw_emulate_read(call, call->args[call->row->path], call->raw))
		return false;
	if (call->raw[0])
		return find_first(call, flags & AT_SYMLINK_FOLLOW, ret);
	return find_descriptor(call, ret);
}

/* link alone: the new name is there, and nothing but that stands in the way. */
static bool links_again(struct aw_notified *call, const struct aw_location *from,
	const struct aw_location *to)
{
	struct aw_decision decision;

	if (call->row->effect != AW_FX_LINK || from->object < 0)
		return false;
	aw_emulate_judge(call, AW_WRITE, from, &decision);
	return decision.verdict == AW_ALLOW && aw_emulate_is_taken(call, to);
}

/* rename and link. */
static void from_to(struct aw_notified *call)
{
	struct aw_location from, to;

	if (!find_source(call, &from))
		return;
	if (find_second(call, &to)) {
		if (call->row->effect == AW_FX_RENAME &&
			(is_no_name(&from) || is_no_name(&to)))
			aw_emulate_answer(call, -EBUSY);
		else if (!links_again(call, &from, &to) &&
			 aw_emulate_may(call, &from, &to)) {
			if (call->row->effect == AW_FX_RENAME)
				rename_it(call, &from, &to);
			else
				link_it(call, &from, &to);
			aw_git_leave(call);
		}
		aw_location_release(&to);
	}
	aw_location_release(&from);
}

/* The same for a symbolic link that is made. */
static bool links_round(struct aw_notified *call, const struct aw_location *place)
{
	const struct aw_text name = {place->name, place->len};
	struct aw_decision decision;

	aw_creds_restore();
	if (!aw_guard_link(atomic_load(&call->watch->image), &call->target, &name,
		    call->raw2, &decision))
		return false;
	aw_call_decide(call, &decision);
	return call->reply != AW_REPLY_CONTINUE;
}

/* What a link says is judged when it is followed, but where a rule would be left. */
static void symlink_it(struct aw_notified *call)
{
	struct aw_location place;

	if (!aw_emulate_read(call, call->args[call->row->path2], call->raw2) ||
		!find_first(call, false, &place))
		return;
	call->event.raw2 = (struct aw_text){call->raw2, strlen(call->raw2)};
	call->leads = true;
	if (is_no_name(&place))
		aw_emulate_answer(call, -EEXIST);
	else if (!aw_emulate_is_taken(call, &place) &&
		 aw_emulate_may(call, &place, NULL) && !links_round(call, &place) &&
		 aw_git_enter(call, &place, false) && take(call))
		done(call, aw_location_make_link(&place, call->raw2));
	aw_git_leave(call);
	aw_location_release(&place);
}

/* access(2) that asks for write. */
static bool asks_to_write(const struct aw_notified *call)
{
	switch (call->sys) {
	case AW_SYS_access:
		return call->args[1] & W_OK;
	case AW_SYS_faccessat:
	case AW_SYS_faccessat2:
		return call->args[2] & W_OK;
	default:
		return false;
	}
}

/*
 * The kernel knows modes and mounts, and neither the rules nor what we would do on
 * behalf.  A program that believes its answer goes where it may not write.  Of a
 * directory it is asked whether anything may be written below.
 */
static void answer_access(struct aw_notified *call, const struct aw_location *place)
{
	struct aw_decision decision;
	struct aw_region below;

	if (place->object < 0 || S_ISSOCK(place->st.st_mode))
		return;
	if (S_ISDIR(place->st.st_mode)) {
		aw_image_region(atomic_load(&call->watch->image), place->name,
			place->len, &below);
		decision = below.mildest_write;
	} else {
		aw_emulate_judge(call, AW_WRITE, place, &decision);
	}
	if (decision.verdict <= AW_ASK)
		return;
	call->reply = AW_REPLY_FAIL;
	call->err = EACCES;
}

/*
 * chdir and chroot change the target itself: only it can do them. Metadata is looked
 * at, not opened; what is hidden is not there.
 */
static void judge_only(struct aw_notified *call)
{
	struct aw_location place;
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
	if (aw_emulate_may(call, &place, NULL) && chdir) {
		call->moves = true;
		call->leads = call->sys == AW_SYS_chroot;
		if (call->leads)
			aw_processes_set_all_moved_root(call->watch->tree);
	}
	if (call->reply == AW_REPLY_CONTINUE && asks_to_write(call))
		answer_access(call, &place);
	aw_location_release(&place);
}

static void refuse_handle(struct aw_notified *call)
{
	struct aw_decision decision = {AW_DENY, AW_NO_RULE};

	call->event.why = "a handle tells no path that could be judged";
	aw_call_decide(call, &decision);
}

static void on_open(struct aw_notified *call)
{
	if (!aw_emulate_read(call, call->args[call->row->path], call->raw))
		return;
	if (call->row->effect == AW_FX_OPEN && aw_call_is_shims(call))
		return;
	aw_emulate_open(call);
}

void aw_emulate_file(struct aw_notified *call)
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
		aw_emulate_change(call);
		break;
	default:
		judge_only(call);
		break;
	}
}
