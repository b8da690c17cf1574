/* SPDX-License-Identifier: Apache-2.0 */
/* burst.c - create files as fast as it goes, until killed; prints nothing */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char name[64];
	int i, most = argc > 1 ? atoi(argv[1]) : 100000000;

	for (i = 0; i < most; i++) {
		int fd;

		snprintf(name, sizeof name, "burst/%d", i);
		fd = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
		if (fd < 0)
			return 1;
		close(fd);
	}
	return 0;
}
