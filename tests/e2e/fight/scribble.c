/* SPDX-License-Identifier: Apache-2.0 */
/* scribble.c - spoil every shared mapping that is writable, cut off what can be cut,
 * and go on */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[4400], mode[8], name[200];
	unsigned long from, to;
	unsigned seed = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	int spoiled = 0, cut = 0, i;

	while (fgets(line, sizeof line, maps)) {
		volatile unsigned char *at;
		int fd;

		if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) != 3 ||
			mode[3] != 's')
			continue;
		snprintf(name, sizeof name, "/proc/self/map_files/%lx-%lx", from, to);
		fd = open(name, O_RDWR);
		if (fd >= 0 && ftruncate(fd, 0) == 0)
			cut++;
		if (mode[1] != 'w' &&
			mprotect((void *)from, to - from, PROT_READ | PROT_WRITE) < 0)
			continue;
		if (cut)
			continue; /* it would be our own SIGBUS */
		spoiled++;
		for (at = (unsigned char *)from; at < (unsigned char *)to; at++) {
			seed = seed * 1103515245u + 12345u;
			*at = (unsigned char)(argc > 2 ? atoi(argv[2])
						       : (int)(seed >> 16));
		}
	}
	for (i = 0; i < 100; i++) {
		int fd = open("/etc/passwd", O_RDONLY);

		if (fd >= 0)
			close(fd);
	}
	if (argc > 3)
		fprintf(stderr, "spoiled %d, cut %d\n", spoiled, cut);
	printf("done\n");
	return 0;
}
