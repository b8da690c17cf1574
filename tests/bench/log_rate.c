/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_rate.c - how many call events a second the audit log writes on one core.
 *
 * Usage: log_rate [EVENTS [FILE]].  Three rows: the log as it is, to /dev/null and to a
 * file, and the same lines made as cJSON trees with memory from an arena, which is the
 * fastest that the library can be used.
 */
#include <cjson/cJSON.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/audit/audit_log.h"
#include "supervisor/audit/line.h"
#include "supervisor/audit/log_words.h"

#define TEXT(literal) ((struct aw_text){literal, sizeof(literal) - 1})

static const struct aw_rule rule = {
	"/home/user/project/.agentwatch.yaml", 14, "**/.env*", "workspace"};

/* Every 16th call is a denied one with a rule, as in a busy agent's session. */
static void make_event(struct aw_event *event, uint64_t n)
{
	*event = (struct aw_event){
		.kind = AW_EV_CALL,
		.ts = 1700000000000000000u + n * 1723,
		.pid = 12345,
		.ppid = 12000,
		.exe = TEXT("/usr/bin/node"),
		.call = "openat",
		.action = AW_READ,
		.path = TEXT("/home/user/project/node_modules/typescript/lib/lib.d.ts"),
		.port = -1,
		.strength = "supervisor",
		.source = AW_FROM_SHIM,
		.result_known = true,
		.status = -1,
	};
	if (n % 16 == 0) {
		event->verdict = AW_DENY;
		event->rule = &rule;
		event->raw = TEXT("../.env");
	}
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void report(const char *what, uint64_t events, double seconds)
{
	printf("%-28s %10.0f events/s  %6.0f ns each\n", what, (double)events / seconds,
		seconds / (double)events * 1e9);
}

static int rate_of_log(const char *what, const char *file, uint64_t events)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct aw_event event;
	struct aw_error err;
	struct aw_log *log;
	double start;

	if (fd < 0 || aw_log_open(fd, "20261121-215501-x7q2", &log, &err) < 0) {
		fprintf(stderr, "log_rate: cannot open %s\n", file);
		return 1;
	}
	start = now();
	for (uint64_t n = 0; n < events; n++) {
		make_event(&event, n);
		if (aw_log_write(log, &event, &err) < 0) {
			fprintf(stderr, "log_rate: %s\n", err.text);
			return 1;
		}
	}
	aw_log_close(log);
	report(what, events, now() - start);
	return 0;
}

static char arena[64 * 1024];
static size_t arena_used;

static void *arena_take(size_t size)
{
	void *taken = arena + arena_used;

	arena_used += (size + 15) & ~(size_t)15;
	return arena_used <= sizeof(arena) ? taken : NULL;
}

static void arena_ignore(void *memory)
{
	(void)memory;
}

static void add_number(cJSON *object, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%" PRId64, value);
	cJSON_AddRawToObject(object, key, text);
}

static void add_rule(cJSON *object)
{
	cJSON *item = cJSON_AddObjectToObject(object, "rule");

	cJSON_AddStringToObject(item, "file", rule.file);
	add_number(item, "line", rule.line);
	cJSON_AddStringToObject(item, "text", rule.text);
	cJSON_AddStringToObject(item, "layer", rule.layer);
}

static size_t line_of_cjson(const struct aw_event *event, struct aw_json *stamp,
	uint64_t n, char *out, int size)
{
	cJSON *object = cJSON_CreateObject();

	cJSON_AddRawToObject(object, "v", "1");
	add_number(object, "seq", (int64_t)n + 1);
	cJSON_AddRawToObject(object, "ts", stamp->bytes);
	cJSON_AddStringToObject(object, "session", "20261121-215501-x7q2");
	add_number(object, "pid", event->pid);
	add_number(object, "ppid", event->ppid);
	cJSON_AddStringToObject(object, "exe", event->exe.bytes);
	cJSON_AddStringToObject(object, "event", "call");
	cJSON_AddStringToObject(object, "call", event->call);
	cJSON_AddStringToObject(object, "action", aw_action_name(event->action));
	cJSON_AddStringToObject(object, "path", event->path.bytes);
	if (event->raw.len)
		cJSON_AddStringToObject(object, "raw", event->raw.bytes);
	cJSON_AddStringToObject(object, "verdict", aw_event_verdict(event));
	cJSON_AddFalseToObject(object, "enforced");
	if (event->rule)
		add_rule(object);
	cJSON_AddStringToObject(object, "strength", event->strength);
	cJSON_AddStringToObject(object, "source", aw_source_name(event->source));
	cJSON_AddStringToObject(object, "result", "ok");
	return cJSON_PrintPreallocated(object, out, size, 0) ? strlen(out) : 0;
}

static int rate_of_cjson(uint64_t events)
{
	static char buffer[256 * 1024];
	cJSON_Hooks hooks = {arena_take, arena_ignore};
	struct aw_clock_text clock = {0};
	struct aw_json stamp = {0};
	struct aw_event event;
	size_t used = 0;
	double start = now();
	int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);

	cJSON_InitHooks(&hooks);
	for (uint64_t n = 0; n < events; n++) {
		make_event(&event, n);
		stamp.len = 0;
		aw_line_time(&stamp, &clock, event.ts);
		aw_json_raw(&stamp, "", 1);
		arena_used = 0;
		used += line_of_cjson(&event, &stamp, n, buffer + used, 4096);
		buffer[used++] = '\n';
		if (used > 128 * 1024) {
			if (write(fd, buffer, used) < 0)
				return 1;
			used = 0;
		}
	}
	report("cJSON, arena, /dev/null", events, now() - start);
	aw_json_free(&stamp);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t events = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
	const char *file = argc > 2 ? argv[2] : "log_rate.jsonl";

	if (rate_of_log("log, /dev/null", "/dev/null", events) ||
		rate_of_log("log, file", file, events) || rate_of_cjson(events))
		return 1;
	unlink(file);
	return 0;
}
