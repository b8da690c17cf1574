/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replay.c - run a fuzz target over the files and folders named, without a fuzzer. With
 * none, replay_x runs over tests/fuzz/corpus/x.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned replayed;

static void replay_file(const char *name)
{
	static uint8_t bytes[2 << 20];
	FILE *in = fopen(name, "rb");
	uint8_t *copy;
	size_t size;

	if (!in) {
		perror(name);
		exit(1);
	}
	size = fread(bytes, 1, sizeof(bytes), in);
	fclose(in);
	copy = malloc(size ? size : 1); /* exact, so that reading past it is noticed */
	if (!copy)
		exit(1);
	memcpy(copy, bytes, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
	replayed++;
}

static void replay(const char *name)
{
	DIR *folder = opendir(name);
	struct dirent *entry;
	char path[4096];

	if (!folder) {
		replay_file(name);
		return;
	}
	while ((entry = readdir(folder))) {
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", name, entry->d_name);
		replay_file(path);
	}
	closedir(folder);
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '_');
	char corpus[256];
	int i;

	if (argc == 1 && name) {
		snprintf(corpus, sizeof(corpus), "tests/fuzz/corpus/%s", name + 1);
		replay(corpus);
	}
	for (i = 1; i < argc; i++)
		replay(argv[i]);
	printf("ok 1 - %u inputs replayed\n1..1\n", replayed);
	return replayed ? 0 : 1;
}
