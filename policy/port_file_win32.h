/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_file_win32.h - the POSIX names that policy/ uses, said with what Windows has;
 * for policy/port_file.h alone.
 *
 * Each does what the policy's loader needs of it and no more; where there is no such
 * thing on Windows, the answer is one that changes nothing: lstat() sees no symbolic
 * links, and geteuid(), which only names /run/user/N, is 0.
 */
#ifndef AW_POLICY_PORT_FILE_WIN32_H
#define AW_POLICY_PORT_FILE_WIN32_H

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* As on POSIX: bytes as they are, nothing inherited, and no open that waits. */
#define O_CLOEXEC (_O_NOINHERIT | _O_BINARY)
#define O_NOCTTY 0
#define O_NONBLOCK 0

#define S_ISLNK(mode) 0
#define lstat(path, st) stat(path, st)

static inline unsigned geteuid(void)
{
	return 0;
}

/* Only with NULL, as everybody calls it: the result is the caller's; NULL when it is
 * not there. */
static inline char *realpath(const char *path, char *into)
{
	(void)into;
	if (access(path, F_OK) != 0)
		return NULL;
	return _fullpath(NULL, path, 0);
}

static inline int alphasort(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* All entries of a directory, sorted by name; keep is always NULL and sort always
 * alphasort. */
static inline int scandir(const char *path, struct dirent ***ret, void *keep,
	int (*sort)(const struct dirent **, const struct dirent **))
{
	struct dirent **found = NULL, **more, *entry;
	DIR *folder = opendir(path);
	int count = 0;

	(void)keep;
	if (!folder)
		return -1;
	while ((entry = readdir(folder))) {
		more = realloc(found, ((size_t)count + 1) * sizeof(*found));
		if (!more)
			break;
		found = more;
		found[count] = malloc(sizeof(*entry));
		if (!found[count])
			break;
		*found[count++] = *entry;
	}
	closedir(folder);
	if (found)
		qsort(found, (size_t)count, sizeof(*found),
			(int (*)(const void *, const void *))sort);
	*ret = found;
	return count;
}

/* As in port_file.h, by a file that nobody else sees and that is gone when it is
 * closed. */
static inline FILE *aw_port_memory_open(char **made, size_t *size)
{
	*made = NULL;
	*size = 0;
	return tmpfile();
}

static inline int aw_port_memory_close(FILE *stream, char **made, size_t *size)
{
	long end = fflush(stream) == 0 ? ftell(stream) : -1;
	int result = -1;

	if (end >= 0 && (*made = malloc((size_t)end + 1))) {
		rewind(stream);
		*size = fread(*made, 1, (size_t)end, stream);
		(*made)[*size] = '\0';
		result = *size == (size_t)end ? 0 : -1;
	}
	fclose(stream);
	return result;
}

#endif
