/* SPDX-License-Identifier: Apache-2.0 */
/*
 * count.c - counts a log as it comes, so that none need be kept.
 *
 *   soak-count DIR PORT <LOG    then, for each kind of DIR/tally:
 *   NAME LINES BEGUN DONE       and for the whole: lines, gaps, damaged, starts, exits
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/soak/tally.h"

struct counts {
	uint64_t kind[SOAK_KIND_COUNT];
	uint64_t lines, gaps, damaged, exits, warnings, denied, policies;
};

static bool has(const char *line, const char *text)
{
	return strstr(line, text) != NULL;
}

/* The kind of a file call: the last component of its path, up to a dot. */
static int kind_of(const char *line, const char *dir)
{
	const char *path = strstr(line, "\"path\":\""), *end;
	size_t len = strlen(dir);

	if (!path || strncmp(path += 8, dir, len) != 0 || path[len] != '/')
		return -1;
	path += len + 1;
	end = path + strcspn(path, ".\"");
	for (int i = 0; i < SOAK_TCP; i++)
		if (strlen(soak_names[i]) == (size_t)(end - path) &&
			memcmp(soak_names[i], path, (size_t)(end - path)) == 0)
			return i;
	return -1;
}

static void count_call(
	struct counts *counts, const char *line, const char *dir, int port)
{
	char text[64];
	int kind = kind_of(line, dir);

	for (int i = 0; i < 2 && kind < 0 && has(line, "\"action\":\"connect\""); i++) {
		snprintf(text, sizeof(text), "\"port\":%d,", port + i);
		if (has(line, text))
			kind = SOAK_TCP + i;
		snprintf(text, sizeof(text), "/%s\"", soak_names[SOAK_UNIX]);
		if (has(line, text))
			kind = SOAK_UNIX;
	}
	/* programs are opened, too, for what they need */
	if ((kind == SOAK_RUN || kind == SOAK_RUN_STATIC) &&
		!has(line, "\"action\":\"exec\""))
		kind = -1;
	if (kind == SOAK_UNIX && !has(line, "\"action\":\"connect\""))
		kind = -1;
	if (kind >= 0)
		counts->kind[kind]++;
	counts->denied += has(line, "\"verdict\":\"deny\"");
}

static void count_line(
	struct counts *counts, const char *line, size_t len, const char *dir, int port)
{
	const char *seq = strstr(line, "\"seq\":");

	counts->lines++;
	if (line[0] != '{' || len < 2 || strcmp(line + len - 2, "}\n") != 0 || !seq) {
		counts->damaged++;
		return;
	}
	counts->gaps += strtoull(seq + 6, NULL, 10) != counts->lines;
	counts->exits += has(line, "\"event\":\"exit\"");
	counts->warnings += has(line, "\"event\":\"warning\"");
	counts->policies += has(line, "\"event\":\"policy\"");
	if (has(line, "\"event\":\"warning\""))
		fputs(line, stderr);
	if (has(line, "\"action\":"))
		count_call(counts, line, dir, port);
}

static const struct soak_tally *read_tally(const char *dir)
{
	char path[256];
	void *tally;
	int fd;

	snprintf(path, sizeof(path), "%s/tally", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	tally = fd < 0 ? MAP_FAILED
		       : mmap(NULL, sizeof(struct soak_tally), PROT_READ, MAP_SHARED,
				 fd, 0);
	if (tally == MAP_FAILED) {
		perror(path);
		exit(1);
	}
	return tally;
}

int main(int argc, char **argv)
{
	struct counts counts = {.lines = 0};
	const struct soak_tally *tally;
	char *line = NULL;
	size_t size = 0;
	ssize_t len;

	if (argc != 3)
		return 2;
	while ((len = getline(&line, &size, stdin)) > 0)
		count_line(&counts, line, (size_t)len, argv[1], atoi(argv[2]));
	free(line);
	tally = read_tally(argv[1]);
	for (int i = 0; i < SOAK_KIND_COUNT; i++)
		printf("%s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", soak_names[i],
			counts.kind[i], tally->begun[i], tally->done[i]);
	printf("lines %" PRIu64 "\ngaps %" PRIu64 "\ndamaged %" PRIu64
	       "\nexits %" PRIu64 "\nwarnings %" PRIu64 "\ndenied %" PRIu64
	       "\npolicies %" PRIu64 "\n",
		counts.lines, counts.gaps, counts.damaged, counts.exits,
		counts.warnings, counts.denied, counts.policies);
	return 0;
}
