/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cleanup.h - variables that release what they own when their scope ends.
 *
 * For supervisor/ and tests/.  What is handed over is taken out with aw_take_fd() or
 * aw_take_ptr(), so that a function never needs a goto.
 */
#ifndef AW_SUPERVISOR_UTIL_CLEANUP_H
#define AW_SUPERVISOR_UTIL_CLEANUP_H

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Each keeps errno, so that a failure can still be reported after the scope ends. */
static inline void aw_cleanup_free(void *where)
{
	int saved = errno;

	free(*(void **)where);
	errno = saved;
}

/*
 * close.c: close(2), but for a socket that lingers (socket(7), SO_LINGER): whoever
 * closes the last copy of it waits for its peer, for as long as the process has said
 * that made it, and ours may be the last one.  Another thread waits then.
 */
void aw_close(int fd);

static inline void aw_cleanup_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		aw_close(*fd);
	errno = saved;
}

static inline void aw_cleanup_fclose(FILE **file)
{
	int saved = errno;

	if (*file)
		fclose(*file);
	errno = saved;
}

static inline void aw_cleanup_closedir(DIR **dir)
{
	int saved = errno;

	if (*dir)
		closedir(*dir);
	errno = saved;
}

#define AW_FREE __attribute__((cleanup(aw_cleanup_free)))
#define AW_CLOSE __attribute__((cleanup(aw_cleanup_close)))
#define AW_FCLOSE __attribute__((cleanup(aw_cleanup_fclose)))
#define AW_CLOSEDIR __attribute__((cleanup(aw_cleanup_closedir)))

/* The descriptor, which the variable owns no more. */
static inline int aw_take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static inline void *aw_take_ptr_(void *where)
{
	void *taken = *(void **)where;

	*(void **)where = NULL;
	return taken;
}

/* The pointer, which the variable owns no more. */
#define aw_take_ptr(where) ((__typeof__(*(where)))aw_take_ptr_(where))

#endif
