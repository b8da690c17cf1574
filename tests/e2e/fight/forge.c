/* SPDX-License-Identifier: Apache-2.0 */
/* forge.c PID... - write records into our own ring that name other processes */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/calls.h"
#include "policy/shared/ring.h"

static struct aw_ring *find_ring(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	struct aw_ring *ring = NULL;
	unsigned long from, to;
	char line[4400], mode[8];

	while (!ring && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%lx-%lx %7s", &from, &to, mode) == 3 &&
			strcmp(mode, "rw-s") == 0 &&
			((struct aw_ring *)from)->magic == AW_RING_MAGIC)
			ring = (struct aw_ring *)from;
	fclose(maps);
	return ring;
}

static void put(struct aw_ring *ring, int pid, enum aw_call call, enum aw_action action)
{
	struct aw_record head = {.ts = 1700000000000000000u,
		.pid = pid,
		.call = (uint16_t)call,
		.action = (uint8_t)action};
	const char path[] = "/forged", argv[] = "forged\0argument";
	const void *const parts[5] = {path, action == AW_EXEC ? "/" : NULL, NULL,
		action == AW_EXEC ? argv : NULL, NULL};

	head.path_len = sizeof(path) - 1;
	if (action == AW_EXEC) {
		head.path2_len = 1;
		head.raw2_len = sizeof(argv);
	}
	if (!aw_ring_put(ring, &head, parts, AW_REC_DONE, 0, NULL))
		printf("no room\n");
}

int main(int argc, char **argv)
{
	struct aw_ring *ring = find_ring();

	if (!ring) {
		printf("no ring\n");
		return 1;
	}
	for (int i = 1; i < argc; i++) {
		put(ring, atoi(argv[i]), AW_FN_open, AW_READ);
		put(ring, atoi(argv[i]), AW_FN_execve, AW_EXEC);
	}
	usleep(100000);
	printf("pid %d\n", (int)getpid());
	return 0;
}
