/* SPDX-License-Identifier: Apache-2.0 */
/* line.c - one event as one line of JSON. */
#include "supervisor/audit/line.h"

#include <stdio.h>
#include <string.h>

#include "policy/port_net.h"
#include "supervisor/audit/log_words.h"

#define PUT(json, literal) AW_JSON_LITERAL(json, literal)

/* The members below are left out when there is nothing to say. */
#define STRING(json, key, text)                                                        \
	do {                                                                           \
		if ((text).len) {                                                      \
			PUT(json, ",\"" key "\":");                                    \
			aw_json_string(json, (text).bytes, (text).len);                \
		}                                                                      \
	} while (0)
#define WORD(json, key, word)                                                          \
	do {                                                                           \
		const char *word_ = (word);                                            \
		if (word_) {                                                           \
			PUT(json, ",\"" key "\":");                                    \
			aw_json_string(json, word_, strlen(word_));                    \
		}                                                                      \
	} while (0)

void aw_line_time(struct aw_json *json, struct aw_clock_text *clock, uint64_t ts)
{
	time_t second = (time_t)(ts / 1000000000u);
	uint32_t rest = (uint32_t)(ts % 1000000000u);
	char out[32] = "\"";
	struct tm tm;

	if (!clock->valid || clock->second != second) {
		gmtime_r(&second, &tm);
		strftime(clock->text, sizeof(clock->text), "%Y-%m-%dT%H:%M:%S", &tm);
		clock->second = second;
		clock->valid = true;
	}
	memcpy(out + 1, clock->text, 19);
	out[20] = '.';
	for (int i = 29; i > 20; i--) {
		out[i] = (char)('0' + rest % 10);
		rest /= 10;
	}
	memcpy(out + 30, "Z\"", 2);
	aw_json_raw(json, out, 32);
}

/* Bytes of a command line that a log keeps, as they are written. */
enum { ARGV_MOST = 64 * 1024, ESCAPED_MOST = 6 };

/* As much of text as certainly takes no more than room when it is escaped. */
static size_t that_fits(const struct aw_text *text, size_t room)
{
	size_t len = text->len <= room / ESCAPED_MOST ? text->len : room / ESCAPED_MOST;

	/* do not cut a character in two */
	while (len && len < text->len &&
		((unsigned char)text->bytes[len] & 0xc0) == 0x80)
		len--;
	return len;
}

static void put_vector(struct aw_json *json, const struct aw_event *event)
{
	size_t from = json->len;
	bool cut = event->argv_truncated;

	if (event->argc) {
		PUT(json, ",\"argv\":[");
		for (size_t i = 0; i < event->argc && json->len - from < ARGV_MOST;
			i++) {
			size_t before = json->len,
			       room = ARGV_MOST - (json->len - from);

			if (i)
				PUT(json, ",");
			aw_json_string(json, event->argv[i].bytes, event->argv[i].len);
			if (json->failed || json->len - before <= room)
				continue;
			json->len = before; /* once more, only what there is room for */
			if (i)
				PUT(json, ",");
			aw_json_string(json, event->argv[i].bytes,
				that_fits(&event->argv[i], room));
			cut = true;
			break;
		}
		PUT(json, "]");
	}
	cut |= event->argc && json->len - from >= ARGV_MOST;
	if (cut)
		PUT(json, ",\"argv_truncated\":true");
	STRING(json, "cwd", event->cwd);
}

/* A call, or the exec that made a process another program: both were judged. */
static bool was_judged(const struct aw_event *event)
{
	return event->kind == AW_EV_CALL || (event->kind == AW_EV_EXEC && event->call);
}

static void put_network(struct aw_json *json, const struct aw_event *event)
{
	char number[16];
	const char *name;

	STRING(json, "address", event->address);
	if (!event->family && !event->host.len)
		return;
	if (event->port >= 0 && event->family != AF_UNIX) {
		PUT(json, ",\"port\":");
		aw_json_signed(json, event->port);
	}
	STRING(json, "host", event->host);
	if (!event->family)
		return;
	name = aw_family_name(event->family);
	if (!name) {
		snprintf(number, sizeof(number), "%d", event->family);
		name = number;
	}
	WORD(json, "family", name);
}

static void put_rule(struct aw_json *json, const struct aw_rule *rule)
{
	const char *file = rule->file ? rule->file : "";

	PUT(json, ",\"rule\":{\"file\":");
	aw_json_string(json, file, strlen(file));
	PUT(json, ",\"line\":");
	aw_json_unsigned(json, rule->line);
	WORD(json, "text", rule->text);
	WORD(json, "layer", rule->layer);
	PUT(json, "}");
}

static void put_verdict(struct aw_json *json, const struct aw_event *event)
{
	if (was_judged(event)) {
		WORD(json, "verdict", aw_event_verdict(event));
		if (event->enforced)
			PUT(json, ",\"enforced\":true");
		else
			PUT(json, ",\"enforced\":false");
	}
	if (event->rule)
		put_rule(json, event->rule);
	WORD(json, "reason", event->reason);
	WORD(json, "strength", event->strength);
	WORD(json, "source", aw_source_name(event->source));
}

static void put_result(struct aw_json *json, const struct aw_event *event)
{
	char number[16];
	const char *name;

	if (!event->result_known)
		return;
	name = event->result ? aw_errno_name(event->result) : "ok";
	if (!name) {
		snprintf(number, sizeof(number), "%d", event->result);
		name = number;
	}
	WORD(json, "result", name);
}

static void put_status(struct aw_json *json, const struct aw_event *event)
{
	if (event->kind != AW_EV_EXIT)
		return;
	if (event->status_signal) {
		WORD(json, "status", event->status_signal);
	} else if (event->status >= 0) {
		PUT(json, ",\"status\":");
		aw_json_signed(json, event->status);
	}
}

static void put_who(struct aw_json *json, const struct aw_event *event)
{
	PUT(json, ",\"pid\":");
	aw_json_signed(json, event->pid);
	PUT(json, ",\"ppid\":");
	aw_json_signed(json, event->ppid);
	PUT(json, ",\"exe\":");
	aw_json_string(json, event->exe.bytes, event->exe.len);
	WORD(json, "event", aw_event_name(event->kind));
	WORD(json, "call", event->call);
	if (was_judged(event))
		WORD(json, "action", aw_action_name(event->action));
	WORD(json, "mcp", event->mcp);
	WORD(json, "profile", event->profile);
}

void aw_line_write(struct aw_json *json, struct aw_clock_text *clock, uint64_t seq,
	const struct aw_text *session_json, const struct aw_event *event)
{
	PUT(json, "{\"v\":1,\"seq\":");
	aw_json_unsigned(json, seq);
	PUT(json, ",\"ts\":");
	aw_line_time(json, clock, event->ts);
	PUT(json, ",\"session\":");
	aw_json_raw(json, session_json->bytes, session_json->len);
	put_who(json, event);
	STRING(json, "path", event->path);
	STRING(json, "path2", event->path2);
	STRING(json, "raw", event->raw);
	STRING(json, "raw2", event->raw2);
	put_vector(json, event);
	put_network(json, event);
	put_verdict(json, event);
	put_result(json, event);
	put_status(json, event);
	WORD(json, "kind", event->warning_kind);
	WORD(json, "text", event->text);
	if (event->extra && *event->extra) {
		PUT(json, ",");
		aw_json_raw(json, event->extra, strlen(event->extra));
	}
	PUT(json, "}\n");
}
