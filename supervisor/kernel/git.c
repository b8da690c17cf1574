/* SPDX-License-Identifier: Apache-2.0 */
/* git.c - what may be done to a configuration of git's, and what makes a repository. */
#include "supervisor/kernel/git.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "supervisor/cleanup.h"
#include "supervisor/kernel/hand.h"
#include "supervisor/kernel/persona.h"

static const char config[] = "config", objects[] = "objects", refs[] = "refs";

/* Nobody else puts a name of these into a folder, or opens it for writing, meanwhile.
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
	snprintf(why->text, sizeof(why->text), "git-config: %s", what);
	why->line = 1;
	return refuse(call);
}

/* Names are compared without case, for folders in which case makes no difference. */
static bool is_called(const char *last, const char *name)
{
	size_t len = strlen(name);

	return strncasecmp(last, name, len) == 0 &&
	       !last[len + strspn(last + len, "/")];
}

static const char *last_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* When in doubt it is there. */
static bool holds(int folder, const char *name)
{
	struct stat st;

	return fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 ||
	       (errno != ENOENT && errno != ENOTDIR);
}

/* git makes nothing of a folder of that name. */
static bool holds_file(int folder, const char *name)
{
	struct stat st;

	return holds(folder, name) &&
	       !(fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		       S_ISDIR(st.st_mode));
}

static bool is_repository(int folder)
{
	return holds(folder, objects) && holds(folder, refs);
}

/*
 * What a descriptor's link leads to has no folder of its own yet: found by the kernel's
 * name for it, and only when it still holds that very file.
 */
static int folder_by_name(const struct aw_notified *call, const struct aw_place *place)
{
	const char *last = last_of(place->name);
	char path[AW_PLACE_PATH + 32];
	AW_CLOSE int fd = -1;
	struct stat st;

	aw_git_path(&call->target.who, place->name, (size_t)(last - place->name), path,
		sizeof(path));
	do
		fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	while (fd < 0 && aw_persona_in_the_way());
	if (fd < 0 || fstatat(fd, last, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
		st.st_dev != place->st.st_dev || st.st_ino != place->st.st_ino)
		return -1;
	return aw_take_fd(&fd);
}

/* A rule of the protection, for what none names. */
static bool any_rule(const struct aw_image *image, uint32_t *ret)
{
	const char *ignored;
	uint32_t at = 0;
	size_t len;

	return aw_image_next_keyed(image, &at, &ignored, &len, ret);
}

/* A pattern that is just one path, as that; false: it has wildcards or does not fit. */
static bool as_path(const char *pattern, size_t len, char *to, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		if (strchr("*?[", pattern[i]) || n + 1 >= size)
			return false;
		if (pattern[i] == '\\' && i + 1 < len)
			i++;
		to[n++] = pattern[i];
	}
	to[n] = '\0';
	return true;
}

/* Another name, made before the session, of a file that a rule names. */
static bool is_also(const struct aw_image *image, const struct stat *st, uint32_t *ret)
{
	char path[PATH_MAX];
	const char *pattern;
	struct stat known;
	uint32_t at = 0;
	size_t len;

	while (aw_image_next_keyed(image, &at, &pattern, &len, ret))
		if (as_path(pattern, len, path, sizeof(path)) &&
			stat(path, &known) == 0 && known.st_dev == st->st_dev &&
			known.st_ino == st->st_ino)
			return true;
	return false;
}

/* "config" of a repository, whatever that is called. */
static bool is_repositorys(const struct aw_notified *call, const struct aw_place *place)
{
	AW_CLOSE int found = -1;

	if (place->parent >= 0)
		return is_called(place->last, config) && is_repository(place->parent);
	if (!place->len || !is_called(last_of(place->name), config))
		return false;
	found = folder_by_name(call, place);
	return found < 0 || is_repository(found);
}

static bool is_config(const struct aw_notified *call, const struct aw_place *place,
	uint32_t *ret_rule)
{
	const struct aw_image *image = image_of(call);

	if (aw_image_keyed(image, place->name, place->len, ret_rule))
		return true;
	if (place->object >= 0 && S_ISREG(place->st.st_mode) &&
		place->st.st_nlink > 1 && is_also(image, &place->st, ret_rule))
		return true;
	return any_rule(image, ret_rule) && is_repositorys(call, place);
}

/* The name of what lies in a folder of ours. */
static void name_in(int folder, const char *name, char *to, size_t size)
{
	size_t n = aw_place_own_name(folder, to, size);

	snprintf(to + n, size - n, "/%s", name);
}

/* A copy of what is there in its place: who holds that open holds it no longer. */
static int make_afresh(
	struct aw_notified *call, int folder, const struct aw_git_text *text)
{
	struct aw_git_fresh fresh;
	int err = aw_persona_take(call->watch, &call->target);

	if (!err)
		err = aw_git_make_fresh(folder, text, &fresh);
	if (err)
		return err;
	err = aw_persona_take(call->watch, &call->target);
	if (!err && renameat(folder, fresh.name, folder, config) < 0)
		err = errno;
	if (err)
		unlinkat(folder, fresh.name, 0);
	return err;
}

/*
 * "objects" or "refs" is about to come into the folder.  A config that is there already
 * is judged, and a fresh one put in its place.
 */
static bool make_repository(struct aw_notified *call, int folder)
{
	char name[AW_CALL_PATH];
	struct aw_git_text text;
	bool may;
	int err;

	if (!any_rule(image_of(call), &call->why.rule) || !holds_file(folder, config) ||
		(!holds(folder, objects) && !holds(folder, refs)))
		return true;
	name_in(folder, config, name, sizeof(name));
	err = aw_persona_take(call->watch, &call->target);
	if (!err)
		err = aw_git_read(folder, config, false, &text);
	if (err)
		return refuse_for(call, name, "it cannot be read");
	may = aw_git_may(&text, NULL, name, &call->why);
	if (may)
		err = make_afresh(call, folder, &text);
	aw_git_text_free(&text);
	if (!may)
		return refuse(call);
	if (!err)
		return true;
	aw_git_leave(call);
	aw_hand_answer(call, -err);
	return false;
}

static bool is_part(const char *last)
{
	return is_called(last, objects) || is_called(last, refs);
}

bool aw_git_enter(struct aw_notified *call, const struct aw_place *place, bool folder)
{
	const char *last = place->parent < 0 ? last_of(place->name) : place->last;

	call->why.text[0] = '\0';
	if (is_called(last, config) || is_part(last))
		hold(call);
	if (!folder && is_config(call, place, &call->why.rule))
		return refuse(call);
	return place->object >= 0 || !is_part(last) ||
	       make_repository(call, place->parent);
}

/* What comes has been read and judged: a copy takes the place, the original goes. */
static int put_in_place(struct aw_notified *call, const struct aw_git_text *text,
	const struct aw_place *from, const struct aw_place *to, unsigned flags)
{
	struct aw_git_fresh fresh;
	struct stat st;
	int err = aw_persona_take(call->watch, &call->target);

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
	err = aw_persona_take(call->watch, &call->target);
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
static int read_place(const struct aw_place *place, struct aw_git_text *ret)
{
	return aw_git_read(
		aw_place_own_folder(), aw_place_link(place->object).text, true, ret);
}

/* rename(2): two names of one file stay as they are, and that is a success. */
static bool is_same(const struct aw_place *from, const struct aw_place *to)
{
	return from->object >= 0 && to->object >= 0 &&
	       from->st.st_ino == to->st.st_ino && from->st.st_dev == to->st.st_dev;
}

static bool rename_onto(struct aw_notified *call, const struct aw_place *from,
	const struct aw_place *to, unsigned flags)
{
	struct aw_git_text now, before = {.fd = -1};
	bool had = to->object >= 0 && S_ISREG(to->st.st_mode);
	int err;

	hold(call);
	if (from->object < 0 || strchr(from->last, '/') || is_same(from, to)) {
		aw_hand_answer(call, from->object < 0		? -ENOENT
				     : strchr(from->last, '/')	? -ENOTDIR
				     : flags & RENAME_NOREPLACE ? -EEXIST
								: 0);
		aw_git_leave(call);
		return false;
	}
	if (!S_ISREG(from->st.st_mode))
		return refuse_for(call, to->name, "not a regular file");
	err = read_place(from, &now);
	if (err)
		return refuse_for(call, to->name,
			err == EFBIG ? "larger than 1 MiB" : "it cannot be read");
	had = had && read_place(to, &before) == 0;
	if (!aw_git_may(&now, had ? &before : NULL, to->name, &call->why)) {
		refuse(call);
	} else {
		aw_hand_answer(call, put_in_place(call, &now, from, to, flags));
		aw_git_leave(call);
	}
	aw_git_text_free(&now);
	aw_git_text_free(&before);
	return false;
}

bool aw_git_enter_rename(struct aw_notified *call, const struct aw_place *from,
	const struct aw_place *to, unsigned flags)
{
	const struct aw_place *const ends[] = {from, to};
	bool swaps = flags & (RENAME_EXCHANGE | RENAME_WHITEOUT);
	uint32_t *rule = &call->why.rule;

	call->why.text[0] = '\0';
	for (int i = 0; i < 2; i++)
		if (is_called(ends[i]->last, config) || is_part(ends[i]->last))
			hold(call);
	if (swaps && (is_config(call, from, rule) || is_config(call, to, rule)))
		return refuse_for(call, to->name, "exchanged, not renamed");
	if (!swaps && is_config(call, to, rule))
		return rename_onto(call, from, to, flags);
	return !is_part(to->last) || make_repository(call, to->parent);
}
