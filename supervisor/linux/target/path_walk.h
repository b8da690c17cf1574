/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_walk.h - where a path leads for a target, held by descriptors.
 *
 * Policy and call must be about the same file.  So a path is walked once, as the target
 * would walk it, and what is found is pinned: the directory that holds it and the thing
 * itself.  The call is then made on these, and no other thread can put something else
 * in between.  Walking happens from outside with descriptors of the target's root and
 * directories, one component at a time where symbolic links are met, so that absolute
 * links start at the target's root (openat2(2): RESOLVE_IN_ROOT explains the trouble)
 * and /proc/self, /dev/fd and /dev/tty are the target's own.
 */
#ifndef AW_SUPERVISOR_LINUX_TARGET_PATH_WALK_H
#define AW_SUPERVISOR_LINUX_TARGET_PATH_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include "supervisor/decide/watch.h"
#include "supervisor/linux/target/target.h"

#define AW_LOCATION_PATH 4352

struct aw_location {
	int parent; /* O_PATH, owned: the directory that holds it; -1: none is known */
	int object; /* O_PATH, owned: what is there, links not followed; -1: nothing */
	struct stat st;		     /* of the object */
	char last[AW_LOCATION_PATH]; /* its name in the parent, trailing slashes kept */
	char name[AW_LOCATION_PATH]; /* the whole path, as the policy judges it */
	size_t len;
	bool magic; /* reached through a link of /proc that is no text, or /dev/tty */
	/* it is a descriptor of the target's own, by such a link: what that was opened
	 * for, S_IRUSR and S_IWUSR; else 0 */
	mode_t own;
};

/* How to walk. */
struct aw_path_walk_params {
	int dir;	  /* AT_FDCWD or a descriptor of the target's */
	bool follow;	  /* a symbolic link in the last component */
	bool opens;	  /* what is found: /dev/tty is the target's terminal then */
	uint64_t resolve; /* RESOLVE_ flags of the target's openat2 */
};

/* Once before anything else, in the process that serves the calls. */
void aw_path_walk_prepare(void);

/*
 * A descriptor of ours as a path: its number, to be looked up in the directory that
 * aw_own_descriptors() gives.  That is /proc/self/fd, without the way to it.
 */
struct aw_descriptor_path {
	char text[16];
};
struct aw_descriptor_path aw_descriptor_path(int fd);
int aw_own_descriptors(void);

/*
 * Walk path, as the target: creds.h.  0: the place is filled in, its object -1 when
 * only the last component is not there; else an errno, and nothing is owned: then the
 * name is that of what it looked for, links resolved, and its length 0 when there is
 * none.
 */
int aw_path_walk(struct aw_watch *watch, const struct aw_target *target,
	const struct aw_path_walk_params *params, const char *path,
	struct aw_location *ret);

/* The place of a descriptor of the target's (or AT_FDCWD: its working directory). */
int aw_location_of_descriptor(
	const struct aw_target *target, int fd, struct aw_location *ret);

void aw_location_release(struct aw_location *place);

/* The kernel's name for a descriptor of ours, terminated; its length, 0 without. */
size_t aw_own_descriptor_name(int fd, char *to, size_t size);

#endif
