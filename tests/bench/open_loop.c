/* SPDX-License-Identifier: Apache-2.0 */
/* open_loop.c - open and close one file N times, or for so many seconds ("10s"); prints
 * the count. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	const char *path = argc > 2 ? argv[2] : "/etc/passwd";
	long most = argc > 1 ? atol(argv[1]) : 100000, done;
	int timed = argc > 1 && strchr(argv[1], 's') != NULL;
	time_t end = time(NULL) + most;

	for (done = 0; timed ? (done & 255) || time(NULL) < end : done < most; done++) {
		int fd = open(path, O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			return 1;
		close(fd);
	}
	printf("%ld\n", done);
	return 0;
}
