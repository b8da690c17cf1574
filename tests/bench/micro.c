/* SPDX-License-Identifier: Apache-2.0 */
/*
 * micro.c - one step of agentwatch, many times over.
 *
 * Usage: micro STEP COUNT; prints nanoseconds of processor time for each.  The steps
 * are the rows of a table below; "verdict-N" has a policy of N rules.  micro.py runs it
 * with two counts under callgrind, so that what it takes to set a step up cancels out.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policy/image/image.h"
#include "policy/path.h"
#include "policy/shared/ring.h"
#include "supervisor/audit/audit_log.h"
#include "tests/unit/policy_text.h"

static const char path[] = "/home/user/project/node_modules/typescript/lib/lib.d.ts";

static void die(const char *why)
{
	fprintf(stderr, "micro: %s\n", why);
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Rules that say nothing of the path: folders, names and patterns in turn. */
static struct aw_image *image_with(unsigned rules)
{
	static const char *const shapes[] = {"/srv/data%u/private", "**/name%u.key",
		"/opt/tool%u/**/*.pem", "/var/lib/x%u"};
	struct aw_image *image;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		die("out of memory");
	fputs("protections: off\nfilesystem:\n  default: allow\n  deny:\n", out);
	for (unsigned i = 0; i < rules; i++) {
		fputs("  - \"", out);
		fprintf(out, shapes[i % 4], i);
		fputs("\"\n", out);
	}
	fclose(out);
	image = image_of(text);
	free(text);
	return image;
}

static double verdict(unsigned rules, unsigned long count)
{
	struct aw_image *image = image_with(rules);
	struct aw_decision decision;
	double start = now();

	for (unsigned long i = 0; i < count; i++)
		aw_image_decide_path(image, AW_READ, path, sizeof(path) - 1, &decision);
	start = now() - start;
	free(image);
	return start;
}

static double normalise(unsigned rules, unsigned long count)
{
	static const char given[] =
		"../project/./node_modules//typescript/lib/lib.d.ts";
	char joined[4096];
	double start = now();

	(void)rules;
	for (unsigned long i = 0; i < count; i++)
		if (!aw_path_join("/home/user/project", 18, given, sizeof(given) - 1,
			    joined, sizeof(joined)))
			die("the path does not fit");
	return now() - start;
}

static struct aw_ring *make_ring(struct aw_reader *ret)
{
	struct aw_ring *ring = aligned_alloc(64, AW_RING_HEADER + AW_RING_SMALL);

	if (!ring)
		die("out of memory");
	memset(ring, 0, AW_RING_HEADER + AW_RING_SMALL);
	ring->magic = AW_RING_MAGIC;
	ring->size = AW_RING_SMALL;
	*ret = (struct aw_reader){.ring = ring, .size = AW_RING_SMALL};
	return ring;
}

/* A record for a call and its result; what is full is taken as read. */
static double ring_write(unsigned rules, unsigned long count)
{
	const struct aw_record head = {.pid = 7, .path_len = sizeof(path) - 1};
	const void *const parts[5] = {path};
	struct aw_reader reader;
	struct aw_ring *ring = make_ring(&reader);
	struct aw_ticket ticket;
	double start = now();

	(void)rules;
	for (unsigned long i = 0; i < count; i++) {
		while (!aw_ring_put(ring, &head, parts, AW_REC_PENDING, 0, &ticket))
			atomic_store(&ring->tail, atomic_load(&ring->head));
		aw_ring_result(&ticket, AW_REC_DONE, 0);
	}
	start = now() - start;
	free(ring);
	return start;
}

static double ring_read(unsigned rules, unsigned long count)
{
	const struct aw_record head = {.pid = 7, .path_len = sizeof(path) - 1};
	const void *const parts[5] = {path};
	static struct aw_taken taken;
	struct aw_reader reader;
	struct aw_ring *ring = make_ring(&reader);
	double start = now();

	(void)rules;
	for (unsigned long i = 0; i < count; i++)
		if (!aw_ring_put(ring, &head, parts, AW_REC_DONE, 0, NULL) ||
			aw_ring_take(&reader, false, false, &taken) != AW_TAKE_RECORD)
			die("the ring is broken");
	start = now() - start;
	free(ring);
	return start;
}

static double line(unsigned rules, unsigned long count)
{
	struct aw_event event = {.kind = AW_EV_CALL,
		.pid = 12345,
		.ppid = 12000,
		.exe = {"/usr/bin/node", 13},
		.call = "openat",
		.action = AW_READ,
		.path = {path, sizeof(path) - 1},
		.port = -1,
		.strength = "supervisor",
		.source = AW_FROM_SHIM,
		.result_known = true,
		.status = -1};
	struct aw_error err;
	struct aw_log *log;
	double start;

	(void)rules;
	if (aw_log_open(open("/dev/null", O_WRONLY | O_CLOEXEC), "20261121-215501-x7q2",
		    &log, &err) < 0)
		die(err.text);
	start = now();
	for (unsigned long i = 0; i < count; i++) {
		event.ts = 1700000000000000000u + i * 1723;
		if (aw_log_write(log, &event, &err) < 0)
			die(err.text);
	}
	start = now() - start;
	aw_log_close(log);
	return start;
}

static const struct {
	const char *name;
	unsigned rules;
	double (*run)(unsigned rules, unsigned long count);
} steps[] = {
	{"verdict-10", 10, verdict},
	{"verdict-100", 100, verdict},
	{"verdict-1000", 1000, verdict},
	{"verdict-10000", 10000, verdict},
	{"normalise", 0, normalise},
	{"ring-write", 0, ring_write},
	{"ring-write-read", 0, ring_read},
	{"line", 0, line},
};

int main(int argc, char **argv)
{
	unsigned long count = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;

	for (size_t i = 0; count && i < sizeof(steps) / sizeof(steps[0]); i++) {
		if (strcmp(steps[i].name, argv[1]) != 0)
			continue;
		printf("%.2f\n", steps[i].run(steps[i].rules, count) / (double)count);
		return 0;
	}
	fprintf(stderr, "Usage: micro STEP COUNT\nSteps:");
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		fprintf(stderr, " %s", steps[i].name);
	fputc('\n', stderr);
	return 2;
}
