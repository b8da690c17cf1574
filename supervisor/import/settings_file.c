/* SPDX-License-Identifier: Apache-2.0 */
/* settings_file.c - the bytes of a foreign file. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/import/import.h"
#include "supervisor/util/cleanup.h"

enum { FILE_MAX = 1024 * 1024 };

/* Bytes of a file, at most size of them; -1 with errno. */
static ssize_t read_all(int fd, char *bytes, size_t size)
{
	size_t len = 0;
	ssize_t n = 1;

	while (n > 0 && len < size) {
		n = read(fd, bytes + len, size - len);
		len += n > 0 ? (size_t)n : 0;
	}
	return n < 0 ? -1 : (ssize_t)len;
}

char *aw_import_read_file(const char *path, size_t *ret_len, struct aw_error *err)
{
	AW_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat st;
	char *bytes;
	ssize_t len;

	if (fd < 0 || fstat(fd, &st) < 0) {
		aw_fail(err, errno, "%s: %s", path, strerror(errno));
		return NULL;
	}
	if (!S_ISREG(st.st_mode)) {
		aw_fail(err, EINVAL, "%s: is not a regular file", path);
		return NULL;
	}
	bytes = malloc(FILE_MAX + 2);
	len = bytes ? read_all(fd, bytes, FILE_MAX + 1) : -1;
	if (len >= 0 && len <= FILE_MAX) {
		bytes[len] = '\0';
		*ret_len = (size_t)len;
		return bytes;
	}
	aw_fail(err, len < 0 ? errno : EFBIG, "%s: %s", path,
		len < 0 ? strerror(errno) : "is larger than 1 MiB");
	free(bytes);
	return NULL;
}
