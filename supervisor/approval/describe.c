/* SPDX-License-Identifier: Apache-2.0 */
/* describe.c - what is asked, by whom, for which rule. */
#include "supervisor/approval/describe.h"

#include <stdio.h>
#include <string.h>

#include "supervisor/audit/line.h"
#include "supervisor/audit/log_words.h"
#include "supervisor/cli/say.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/util/json.h"

#define PUT(json, literal) AW_JSON_LITERAL(json, literal)

static void put_text(struct aw_json *json, const char *key, struct aw_text text)
{
	if (!text.len)
		return;
	PUT(json, ",");
	aw_json_string(json, key, strlen(key));
	PUT(json, ":");
	aw_json_string(json, text.bytes, text.len);
}

static void put_word(struct aw_json *json, const char *key, const char *word)
{
	put_text(json, key, (struct aw_text){word, word ? strlen(word) : 0});
}

static void put_number(struct aw_json *json, const char *key, uint64_t number)
{
	PUT(json, ",");
	aw_json_string(json, key, strlen(key));
	PUT(json, ":");
	aw_json_unsigned(json, number);
}

static void put_time(struct aw_json *json, const char *key, uint64_t ts)
{
	struct aw_clock_text clock = {.valid = false};

	PUT(json, ",");
	aw_json_string(json, key, strlen(key));
	PUT(json, ":");
	aw_line_time(json, &clock, ts);
}

/* Arguments up to room bytes; what is cut is said. */
static void put_vector(struct aw_json *json, const struct aw_event *event, size_t room)
{
	bool cut = event->argv_truncated;

	if (!event->argc)
		return;
	PUT(json, ",\"argv\":[");
	for (size_t i = 0; i < event->argc; i++) {
		size_t len = event->argv[i].len;

		if (i)
			PUT(json, ",");
		cut |= len > room;
		if (len > room)
			len = room;
		aw_json_string(json, event->argv[i].bytes, len);
		room -= len;
	}
	PUT(json, "]");
	if (cut)
		PUT(json, ",\"argv_truncated\":true");
}

static void put_address(struct aw_json *json, const struct aw_event *event)
{
	put_text(json, "address", event->address);
	if (event->family && event->port >= 0)
		put_number(json, "port", (uint64_t)event->port);
	if (event->family)
		put_word(json, "family", aw_family_name(event->family));
}

static void put_rule(struct aw_json *json, const struct aw_rule *rule)
{
	if (!rule)
		return;
	PUT(json, ",\"rule\":{\"line\":");
	aw_json_unsigned(json, rule->line);
	put_word(json, "file", rule->file);
	put_word(json, "text", rule->text);
	put_word(json, "layer", rule->layer);
	PUT(json, "}");
}

static void put_process(struct aw_json *json, pid_t pid, const char *exe)
{
	PUT(json, "{\"pid\":");
	aw_json_signed(json, pid);
	put_word(json, "exe", exe);
	PUT(json, "}");
}

/* From the asker's parent up to what the supervisor has started. */
static void put_parents(struct aw_json *json, pid_t pid, pid_t self)
{
	struct aw_proc_stat stat;
	char exe[4096];
	bool any = false;

	PUT(json, ",\"parents\":[");
	for (int depth = 0; depth < 32 && aw_proc_stat(pid, &stat) && stat.ppid > 1 &&
			    stat.ppid != self;
		depth++) {
		pid = stat.ppid;
		if (any)
			PUT(json, ",");
		any = true;
		put_process(json, pid,
			aw_proc_link(pid, "exe", exe, sizeof(exe)) > 0 ? exe : NULL);
	}
	PUT(json, "]");
}

static void put_asker(struct aw_json *json, const struct aw_event *event, pid_t self)
{
	char cwd[4096];
	ssize_t n =
		event->cwd.len ? 0 : aw_proc_link(event->pid, "cwd", cwd, sizeof(cwd));

	if (n > 0)
		put_text(json, "cwd", (struct aw_text){cwd, (size_t)n});
	else
		put_text(json, "cwd", event->cwd);
	put_number(json, "pid", (uint64_t)event->pid);
	put_text(json, "exe", event->exe);
	put_parents(json, event->pid, self);
}

static void put_question(struct aw_json *json, const char *session, pid_t self,
	const struct aw_question *question, size_t room)
{
	const struct aw_event *event = question->event;
	uint64_t ms = 1000000;

	PUT(json, "{\"question\":");
	aw_json_unsigned(json, question->id);
	put_word(json, "session", session);
	put_time(json, "since", event->ts);
	put_time(json, "deadline",
		event->ts + (question->age_ms + question->left_ms) * ms);
	put_number(json, "left_ms", question->left_ms);
	put_number(json, "waiting", question->waiting);
	put_word(json, "call", event->call);
	put_word(json, "action", aw_action_name(event->action));
	put_text(json, "path", event->path);
	put_text(json, "path2", event->path2);
	put_vector(json, event, room);
	put_address(json, event);
	put_rule(json, event->rule);
	put_asker(json, event, self);
	PUT(json, "}\n");
}

size_t aw_question_json(const char *session, pid_t self,
	const struct aw_question *question, char *to, size_t size, bool squeeze)
{
	size_t room = 16 * 1024, len = 0;

	for (;; room /= 16) {
		struct aw_json json = {0};

		put_question(&json, session, self, question, room);
		len = json.failed || json.len >= size ? 0 : json.len;
		if (len)
			memcpy(to, json.bytes, len);
		aw_json_free(&json);
		if (len || !squeeze || !room)
			break;
	}
	if (size)
		to[len] = '\0';
	return len;
}

void aw_question_brief(const struct aw_event *event, char *to, size_t size)
{
	size_t at = (size_t)snprintf(to, size, "%s ", aw_action_name(event->action));

	if (event->argc) {
		for (size_t i = 0; i < event->argc && at + 2 < size; i++) {
			if (i)
				to[at++] = ' ';
			at += aw_show(event->argv[i].bytes, event->argv[i].len, to + at,
				size - at);
		}
		return;
	}
	if (event->address.len) {
		at += aw_show(
			event->address.bytes, event->address.len, to + at, size - at);
		if (event->port >= 0)
			snprintf(to + at, size - at, " port %d", event->port);
		return;
	}
	at += aw_show(event->path.bytes, event->path.len, to + at, size - at);
	if (event->path2.len && at + 8 < size) {
		at += (size_t)snprintf(to + at, size - at, " -> ");
		aw_show(event->path2.bytes, event->path2.len, to + at, size - at);
	}
}
