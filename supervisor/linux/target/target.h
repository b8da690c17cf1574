/* SPDX-License-Identifier: Apache-2.0 */
/*
 * target.h - looking at a thread that waits in a watched call.
 *
 * Everything read from a target is only true while it waits: the caller checks with
 * SECCOMP_IOCTL_NOTIF_ID_VALID afterwards that it still did (seccomp_unotify(2)).
 */
#ifndef AW_SUPERVISOR_LINUX_TARGET_TARGET_H
#define AW_SUPERVISOR_LINUX_TARGET_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "supervisor/process/processes.h"

struct aw_target {
	pid_t tid;
	struct aw_process_info who;
};

/* Read len bytes; false when not all can be read. */
bool aw_target_read(
	const struct aw_target *target, uint64_t address, void *to, size_t len);

/* Write len bytes; false when not all can be written. */
bool aw_target_write(
	const struct aw_target *target, uint64_t address, const void *from, size_t len);

/* Read a string into size bytes, terminated; its length, or -1 with errno. */
ssize_t aw_target_string(
	const struct aw_target *target, uint64_t address, char *to, size_t size);

/* A vector of strings such as argv. */
struct aw_vector {
	char *text;  /* owned: the strings, each terminated */
	size_t *at;  /* owned: where each starts */
	size_t *len; /* owned */
	size_t count;
	bool truncated;
};
/* word: size of a pointer in the target, 8 or 4. */
void aw_target_vector(const struct aw_target *target, uint64_t address, unsigned word,
	struct aw_vector *ret);
void aw_vector_free(struct aw_vector *vector);

/* Name of the target's working directory (dir AT_FDCWD) or descriptor; length or 0. */
size_t aw_target_name(const struct aw_target *target, int dir, char *to, size_t size);

/*
 * The absolute path that path (as passed, with dir) reaches for the target, symbolic
 * links resolved; follow says what happens to one in the last component.  What does not
 * exist is named by its parent.  Returns the length, 0 when it cannot be told;
 * *ret_errno is 0 when the path exists, else what looking it up gave.
 */
size_t aw_target_resolve(const struct aw_target *target, int dir, const char *path,
	bool follow, char *to, size_t size, int *ret_errno);

#endif
