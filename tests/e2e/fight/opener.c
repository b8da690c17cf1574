/* SPDX-License-Identifier: Apache-2.0 */
/* opener.c - open each argument and print what came of it; "--twice" from an interposed
 * name too */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++) {
		int fd = open(argv[i], O_RDONLY);

		printf("%s: %d%s%s\n", argv[i], fd, fd < 0 ? " " : "",
			fd < 0 ? strerror(errno) : "");
		if (fd >= 0)
			close(fd);
	}
	return 0;
}
