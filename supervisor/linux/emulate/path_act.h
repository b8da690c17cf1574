/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_act.h - calls at a place: all that is done on behalf by a name, or to what is
 * there.
 *
 * Between the look at a place and the call another thread may put something else at its
 * name.  So what is there is reached by the descriptor that holds it, and a name is
 * used only as one component of the directory that is held, in calls that follow no
 * link there. No other code that acts for a target may make such calls
 * (tests/by_name.sh).
 *
 * All return what the system call returns, -1 with errno.
 */
#ifndef AW_SUPERVISOR_LINUX_EMULATE_PATH_ACT_H
#define AW_SUPERVISOR_LINUX_EMULATE_PATH_ACT_H

#include "supervisor/linux/target/path_walk.h"

/* A link of ours that leads to the object; what follows it comes to that very object,
 * also where that is a symbolic link itself. */
struct aw_object_path {
	char text[32];
};
struct aw_object_path aw_object_path(int object);

/* Open what is pinned; flags of open(2) as they are. */
int aw_location_open(int object, int flags, mode_t mode);

/* Make a file in the directory of the place and open it: never one that is there. */
int aw_location_open_new(
	const struct aw_location *place, uint64_t flags, uint64_t mode);

int aw_location_make_directory(const struct aw_location *place, unsigned mode);
int aw_location_make_node(const struct aw_location *place, unsigned mode, dev_t device);
int aw_location_make_link(const struct aw_location *place, const char *text);

/* unlinkat(2): flags 0 or AT_REMOVEDIR, or what the kernel refuses. */
int aw_location_remove(const struct aw_location *place, int flags);

/* Take a file away again that was just made, unless its name has another by now. */
void aw_location_unmake(const struct aw_location *place, int fd);

/* One more name for the object that was found at `from`, whatever it is. */
int aw_location_link_to(const struct aw_location *from, const struct aw_location *to);

/* Do the directories of the two lie in different file systems? */
bool aw_location_is_apart(const struct aw_location *a, const struct aw_location *b);

/* Whatever is at that name now gets the other one. */
int aw_location_rename(
	const struct aw_location *from, const struct aw_location *to, unsigned flags);

/*
 * The object that was found at `from` gets the name `to`, and nothing else does: by a
 * hard link, a directory by way of a name that nobody knows.  flags: 0 or
 * RENAME_NOREPLACE.
 */
int aw_location_move(
	const struct aw_location *from, const struct aw_location *to, unsigned flags);

/* Attributes of the object itself. */
int aw_location_change_mode(const struct aw_location *place, mode_t mode);
int aw_location_change_owner(const struct aw_location *place, uid_t uid, gid_t gid);
int aw_location_change_times(
	const struct aw_location *place, const struct timespec *times);
int aw_location_set_attribute(const struct aw_location *place, const char *name,
	const void *value, size_t size, int how);
int aw_location_remove_attribute(const struct aw_location *place, const char *name);

/* truncate(2); where somebody has a lease: EWOULDBLOCK, or wait for it. */
int aw_location_truncate(const struct aw_location *place, off_t size);
int aw_location_truncate_waiting(int object, off_t size);

/*
 * path_bind.c: bind a Unix socket to the place, as the target.  text is what that
 * called it, and what getsockname(2) tells afterwards where it leads there for us, too;
 * NULL: nobody is to come by it.
 */
int aw_location_bind(struct aw_watch *watch, const struct aw_target *target,
	const struct aw_location *place, int socket, const char *text);

#endif
