/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_file.h - files for the policy's loader, on systems that have them under other
 * names.
 *
 * On POSIX systems this is a handful of headers. Windows has most of it in another way,
 * and port_file_win32.h says it as usual, so that no source of policy/ needs an #ifdef.
 * Whoever wants O_CLOEXEC, O_NOCTTY, O_NONBLOCK, scandir(), realpath(), lstat(),
 * geteuid() or a stream into memory includes this instead of the system's headers.
 */
#ifndef AW_POLICY_PORT_FILE_H
#define AW_POLICY_PORT_FILE_H

#ifdef _WIN32
#include "policy/port_file_win32.h"
#else
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A stream into memory, NULL when there is no more; *made is the caller's to free once
 * it is closed.
 */
static inline FILE *aw_port_memory_open(char **made, size_t *size)
{
	return open_memstream(made, size);
}

/* -1 when not all of it was kept; *made may be NULL then. */
static inline int aw_port_memory_close(FILE *stream, char **made, size_t *size)
{
	(void)made;
	(void)size;
	return fclose(stream) == 0 ? 0 : -1;
}
#endif

#endif
