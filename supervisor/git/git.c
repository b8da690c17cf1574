/* SPDX-License-Identifier: Apache-2.0 */
/* git.c - what may be done to a configuration of git's, and what makes a repository. */
#include "supervisor/git/git.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/linux/target/creds.h"

/* Nobody else puts a name of these into a directory, or opens it for writing,
 * meanwhile.
 */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct aw_image *image_of(const struct aw_notified *call)
{
	return atomic_load(&call->watch->image);
}

static void hold(struct aw_notified *call)
{
	if (!call->in_git)
		pthread_mutex_lock(&lock);
	call->in_git = true;
}

void aw_git_leave(struct aw_notified *call)
{
	if (call->in_git)
		pthread_mutex_unlock(&lock);
	call->in_git = false;
}

void aw_git_tell(
	const struct aw_git_why *why, struct aw_event *event, struct aw_rule *rule)
{
	if (!why->text[0])
		return; /* the rule says it all */
	*rule = (struct aw_rule){.file = why->file,
		.line = why->line,
		.text = why->text,
		.layer = "built-in"};
	event->rule = rule;
}

static bool refuse(struct aw_notified *call)
{
	const struct aw_decision decision = {AW_DENY, call->why.rule};

	aw_call_decide(call, &decision);
	aw_git_tell(&call->why, &call->event, &call->rule);
	aw_git_leave(call);
	return false;
}

/* Where the reason is another than that there is such a rule. */
static bool refuse_for(struct aw_notified *call, const char *file, const char *what)
{
	struct aw_git_why *why = &call->why;

	snprintf(why->file, sizeof(why->file), "%s", file);
	snprintf(why->text, sizeof(why->text), "%s", what);
	why->line = 1;
	return refuse(call);
}

/* The name of what lies in a directory of ours. */
static void name_in(int folder, const char *name, char *to, size_t size)
{
	size_t n = aw_own_descriptor_name(folder, to, size);

	snprintf(to + n, size - n, "/%s", name);
}

/* A copy of what is there in its place: who holds that open holds it no longer. */
static int make_afresh(
	struct aw_notified *call, int folder, const struct aw_git_text *text)
{
	struct aw_git_fresh fresh;
	int err = aw_creds_assume(call->watch, &call->target);

	if (!err)
		err = aw_git_make_fresh(folder, text, &fresh);
	if (err)
		return err;
	err = aw_creds_assume(call->watch, &call->target);
	if (!err && renameat(folder, fresh.name, folder, AW_GIT_CONFIG) < 0)
		err = errno;
	if (err)
		unlinkat(folder, fresh.name, 0);
	return err;
}

/* A config that is in the directory already is judged, and a fresh one put in its
 * place.
 */
static bool config_may_stay(struct aw_notified *call, int folder)
{
	char name[AW_CALL_PATH];
	struct aw_git_text text;
	bool may;
	int err;

	if (!aw_git_rule(image_of(call), &call->why.rule) ||
		!aw_git_holds_file(folder, AW_GIT_CONFIG))
		return true;
	name_in(folder, AW_GIT_CONFIG, name, sizeof(name));
	err = aw_creds_assume(call->watch, &call->target);
	if (!err)
		err = aw_git_read(folder, AW_GIT_CONFIG, false, &text);
	if (err)
		return refuse_for(call, name, "git-config: it cannot be read");
	may = aw_git_may(image_of(call), &text, NULL, name, &call->why);
	if (may)
		err = make_afresh(call, folder, &text);
	aw_git_text_free(&text);
	if (!may)
		return refuse(call);
	if (!err)
		return true;
	aw_git_leave(call);
	aw_emulate_answer(call, -err);
	return false;
}

static bool hooks_may_stay(struct aw_notified *call, int folder)
{
	char name[AW_CALL_PATH];

	if (!aw_git_hooks_rule(image_of(call), &call->why.rule) ||
		!aw_git_has_hooks(folder))
		return true;
	name_in(folder, AW_GIT_HOOKS, name, sizeof(name));
	return refuse_for(call, name, "git-hooks: in what becomes a repository");
}

/* "objects" or "refs" is about to come into the directory. */
static bool make_repository(struct aw_notified *call, int folder)
{
	return (!aw_git_holds(folder, AW_GIT_OBJECTS) &&
		       !aw_git_holds(folder, AW_GIT_REFS)) ||
	       (hooks_may_stay(call, folder) && config_may_stay(call, folder));
}

bool aw_git_enter(
	struct aw_notified *call, const struct aw_location *place, bool folder)
{
	uint32_t *rule = &call->why.rule;

	call->why.text[0] = '\0';
	if (aw_git_minds(place))
		hold(call);
	if (!folder && (aw_git_is_config(call, place, rule) ||
			       aw_git_is_hook(call, place, rule)))
		return refuse(call);
	return place->object >= 0 || !aw_git_makes(place) ||
	       make_repository(call, place->parent);
}

/* What comes has been read and judged: a copy takes the place, the original goes. */
static int put_in_place(struct aw_notified *call, const struct aw_git_text *text,
	const struct aw_location *from, const struct aw_location *to, unsigned flags)
{
	struct aw_git_fresh fresh;
	struct stat st;
	int err = aw_creds_assume(call->watch, &call->target);

	if (!err && fstat(to->parent, &st) < 0)
		err = errno;
	if (!err && st.st_dev != text->st.st_dev)
		err = EXDEV;
	/* the rename takes it out of there: what would refuse that comes first */
	if (!err && faccessat(from->parent, ".", W_OK | X_OK, AT_EACCESS) < 0)
		err = errno;
	if (!err)
		err = aw_git_make_fresh(to->parent, text, &fresh);
	if (err)
		return -err;
	err = aw_creds_assume(call->watch, &call->target);
	if (!err && renameat2(to->parent, fresh.name, to->parent, to->last, flags) < 0)
		err = errno;
	if (err) {
		unlinkat(to->parent, fresh.name, 0);
		return -err;
	}
	/* not before: git keeps others away by that name */
	if (fstatat(from->parent, from->last, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		st.st_dev == text->st.st_dev && st.st_ino == text->st.st_ino &&
		unlinkat(from->parent, from->last, 0) < 0)
		return -errno;
	return 0;
}

/* By descriptor: what was found when the call was looked at. */
static int read_place(const struct aw_location *place, struct aw_git_text *ret)
{
	return aw_git_read(aw_own_descriptors(), aw_descriptor_path(place->object).text,
		true, ret);
}

/* rename(2): two names of one file stay as they are, and that is a success. */
static bool is_same(const struct aw_location *from, const struct aw_location *to)
{
	return from->object >= 0 && to->object >= 0 &&
	       from->st.st_ino == to->st.st_ino && from->st.st_dev == to->st.st_dev;
}

static bool rename_onto(struct aw_notified *call, const struct aw_location *from,
	const struct aw_location *to, unsigned flags)
{
	struct aw_git_text now, before = {.fd = -1};
	bool had = to->object >= 0 && S_ISREG(to->st.st_mode);
	int err;

	hold(call);
	if (from->object < 0 || strchr(from->last, '/') || is_same(from, to)) {
		aw_emulate_answer(call, from->object < 0	   ? -ENOENT
					: strchr(from->last, '/')  ? -ENOTDIR
					: flags & RENAME_NOREPLACE ? -EEXIST
								   : 0);
		aw_git_leave(call);
		return false;
	}
	if (!S_ISREG(from->st.st_mode))
		return refuse_for(call, to->name, "git-config: not a regular file");
	err = read_place(from, &now);
	if (err)
		return refuse_for(call, to->name,
			err == EFBIG ? "git-config: larger than 1 MiB"
				     : "git-config: it cannot be read");
	had = had && read_place(to, &before) == 0;
	if (!aw_git_may(
		    image_of(call), &now, had ? &before : NULL, to->name, &call->why)) {
		refuse(call);
	} else {
		aw_emulate_answer(call, put_in_place(call, &now, from, to, flags));
		aw_git_leave(call);
	}
	aw_git_text_free(&now);
	aw_git_text_free(&before);
	return false;
}

bool aw_git_enter_rename(struct aw_notified *call, const struct aw_location *from,
	const struct aw_location *to, unsigned flags)
{
	bool swaps = flags & (RENAME_EXCHANGE | RENAME_WHITEOUT);
	uint32_t *rule = &call->why.rule;

	call->why.text[0] = '\0';
	if (aw_git_minds(from) || aw_git_minds(to))
		hold(call);
	if (swaps && (aw_git_is_config(call, from, rule) ||
			     aw_git_is_config(call, to, rule)))
		return refuse_for(call, to->name, "git-config: exchanged, not renamed");
	if (aw_git_is_hook(call, to, rule) ||
		(swaps && aw_git_is_hook(call, from, rule)))
		return refuse(call);
	if (!swaps && aw_git_is_config(call, to, rule))
		return rename_onto(call, from, to, flags);
	return !aw_git_makes(to) || make_repository(call, to->parent);
}
