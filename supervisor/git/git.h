/* SPDX-License-Identifier: Apache-2.0 */
/*
 * git.h - changes of git's configuration, which are judged by what they bring.
 *
 * git never writes its configuration in place: it fills config.lock and renames that
 * onto it.  So a configuration is not opened for writing, linked or truncated at all;
 * and where something is renamed onto one, the text that comes is read, judged by its
 * keys (policy/git/gitconfig.h) and put there as a fresh file that nobody holds open,
 * with mode, owner, times and attributes of the one that was renamed.
 *
 * What is a configuration: what a rule of the protection names; "config" in a directory
 * with "objects" and "refs", which is all that makes a repository for git; and a second
 * name of a file that a rule names.  Where the last of "objects" and "refs" comes into
 * being beside a "config", that is judged and made afresh first, since others may hold
 * it open; one lock keeps this and all that touches such names apart.  Hooks of a
 * repository that no rule can name are told in the same way.
 *
 * Sources: git's setup.c (is_git_directory, get_common_dir) and lockfile.h.
 */
#ifndef AW_SUPERVISOR_GIT_GIT_H
#define AW_SUPERVISOR_GIT_GIT_H

#include "supervisor/linux/calls/call.h"
#include "supervisor/linux/target/path_walk.h"

/*
 * Mode enforce: before something is made at a place, or what is there is changed (with
 * directory: it can only be a directory that is made).  True: go on, and say
 * aw_git_leave() after it.  False: refused, event and reply are filled in; nothing is
 * to be left.  May be said for several places of one call.
 */
bool aw_git_enter(
	struct aw_notified *call, const struct aw_location *place, bool folder);

/*
 * The same before a rename with these flags.  False: refused, or done here and
 * answered.
 */
bool aw_git_enter_rename(struct aw_notified *call, const struct aw_location *from,
	const struct aw_location *to, unsigned flags);

void aw_git_leave(struct aw_notified *call);

/*
 * git_look.c: where the call is not made by us: would this rename, between resolved
 * paths of a process, be refused?  True with the reason in *ret.
 */
bool aw_git_would_refuse(const struct aw_image *image,
	const struct aw_process_info *who, const struct aw_text *from,
	const struct aw_text *to, struct aw_git_why *ret);

/* The reason into an event that was judged; both must live as long as the event. */
void aw_git_tell(
	const struct aw_git_why *why, struct aw_event *event, struct aw_rule *rule);

/*
 * git_what.c: what a place is for git.  Rules: where the answer is yes, *ret_rule is
 * one that the log can name.
 */
#define AW_GIT_CONFIG "config"
#define AW_GIT_OBJECTS "objects"
#define AW_GIT_REFS "refs"
#define AW_GIT_HOOKS "hooks"

/* False: the protection is off. */
bool aw_git_rule(const struct aw_image *image, uint32_t *ret_rule);
bool aw_git_hooks_rule(const struct aw_image *image, uint32_t *ret_rule);

bool aw_git_is_config(const struct aw_notified *call, const struct aw_location *place,
	uint32_t *ret_rule);

/* A hook of a repository that only the file system can tell for one, or all of them. */
bool aw_git_is_hook(const struct aw_notified *call, const struct aw_location *place,
	uint32_t *ret_rule);

/* One of the two names that make a repository; one that the lock is for. */
bool aw_git_makes(const struct aw_location *place);
bool aw_git_minds(const struct aw_location *place);

/* Is there such an entry in the directory?  When in doubt, yes. */
bool aw_git_holds(int folder, const char *name);
bool aw_git_holds_file(int folder, const char *name);
bool aw_git_has_hooks(int folder);

/* A path of the process as one of ours. */
void aw_git_path(const struct aw_process_info *who, const char *path, size_t len,
	char *to, size_t size);

/* git_fresh.c: texts that are judged, and files that nobody holds open. */
struct aw_git_text {
	int fd; /* owned: for reading */
	struct stat st;
	char *bytes; /* owned */
	size_t len;
};

/*
 * What is at this place, as the target or else with our own rights; 0 or an errno:
 * EFBIG when it is too long to be judged, EINVAL when it is no regular file.
 */
int aw_git_read(int dir, const char *name, bool follow, struct aw_git_text *ret);
void aw_git_text_free(struct aw_git_text *text);

/*
 * May `now` take the place of `before` (or NULL)?  False with file and reason.  A
 * core.worktree elsewhere is harmless where the policy lets everything be written.
 */
bool aw_git_may(const struct aw_image *image, const struct aw_git_text *now,
	const struct aw_git_text *before, const char *file, struct aw_git_why *ret);

/* A file of our own in the directory, like text in everything; 0 or an errno. */
struct aw_git_fresh {
	char name[64];
};
int aw_git_make_fresh(
	int folder, const struct aw_git_text *text, struct aw_git_fresh *ret);

#endif
