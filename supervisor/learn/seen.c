/* SPDX-License-Identifier: Apache-2.0 */
/* seen.c - the calls of a log, one after another. */
#include "supervisor/learn/seen.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "supervisor/audit/json.h"
#include "supervisor/audit/names.h"
#include "supervisor/say.h"
#include "supervisor/view/log_filter.h"

int aw_log_reader_open(
	struct aw_log_reader *reader, const char *name, struct aw_error *err)
{
	*reader = (struct aw_log_reader){.name = name};
	return aw_lines_open(&reader->lines, name, err);
}

void aw_log_reader_close(struct aw_log_reader *reader)
{
	cJSON_Delete(reader->line);
	aw_lines_release(&reader->lines);
}

static void damaged(
	struct aw_log_reader *reader, unsigned long number, const char *what)
{
	if (!reader->quiet)
		aw_say("%s:%lu: %s; passed over", reader->name, number, what);
	reader->damaged++;
}

/* The member as bytes, decoded where it stands; "" without one. */
static const char *bytes_of(cJSON *line, const char *key, size_t *ret_len)
{
	cJSON *item = cJSON_GetObjectItemCaseSensitive(line, key);
	char *text = cJSON_GetStringValue(item);

	*ret_len = text ? aw_text_decode(text, strlen(text)) : 0;
	return text ? text : "";
}

static bool read_action(const char *word, enum aw_action *ret)
{
	for (unsigned i = 0; word && i < AW_METADATA; i++) {
		if (strcmp(word, aw_action_name((enum aw_action)i)) == 0) {
			*ret = (enum aw_action)i;
			return true;
		}
	}
	return false;
}

static int read_family(const char *word)
{
	for (int i = 0; word && i < 64; i++) {
		const char *name = aw_family_name(i);

		if (name && strcmp(word, name) == 0)
			return i;
	}
	return word ? AF_MAX : 0;
}

static void read_address(cJSON *line, struct aw_seen *seen)
{
	struct aw_address *to = &seen->address;
	const cJSON *port = cJSON_GetObjectItemCaseSensitive(line, "port");
	size_t len;
	const char *text = bytes_of(line, "address", &len);
	const char *host = aw_event_word(line, "host");

	to->family = read_family(aw_event_word(line, "family"));
	to->host = host && *host ? host : NULL;
	if (cJSON_IsNumber(port) && port->valueint >= 0 && port->valueint <= UINT16_MAX)
		to->port = (uint16_t)port->valueint;
	if (to->family == AF_UNIX) {
		to->path = text;
		to->path_len = len;
	} else if (to->family == AF_INET || to->family == AF_INET6) {
		inet_pton(to->family, text, to->bytes);
	}
}

static void read_vector(cJSON *line, struct aw_seen *seen)
{
	cJSON *vector = cJSON_GetObjectItemCaseSensitive(line, "argv"), *word;

	cJSON_ArrayForEach(word, vector)
	{
		char *text = cJSON_GetStringValue(word);

		if (!text || seen->argc == AW_SEEN_WORDS)
			continue;
		aw_text_decode(text, strlen(text));
		seen->argv[seen->argc++] = text;
	}
}

static void read_rule(cJSON *line, struct aw_seen *seen)
{
	const cJSON *rule = cJSON_GetObjectItemCaseSensitive(line, "rule");
	const cJSON *at = cJSON_GetObjectItemCaseSensitive(rule, "line");
	const char *verdict = aw_event_word(line, "verdict");

	seen->refused = verdict && aw_verdict_refuses(verdict) && rule;
	if (!seen->refused)
		return;
	seen->rule = aw_event_word(rule, "text");
	seen->rule_file = aw_event_word(rule, "file");
	seen->rule_layer = aw_event_word(rule, "layer");
	seen->rule_line = cJSON_IsNumber(at) ? (unsigned)at->valuedouble : 0;
}

/* False for an event that is no call. */
static bool read_call(cJSON *line, struct aw_seen *seen)
{
	const char *event = aw_event_word(line, "event");
	const char *result = aw_event_word(line, "result");
	const cJSON *pid = cJSON_GetObjectItemCaseSensitive(line, "pid");
	size_t len;

	*seen = (struct aw_seen){.call = aw_event_word(line, "call")};
	if ((strcmp(event, "call") != 0 && strcmp(event, "exec") != 0) || !seen->call ||
		!read_action(aw_event_word(line, "action"), &seen->action))
		return false;
	seen->pid = cJSON_IsNumber(pid) ? (pid_t)pid->valuedouble : 0;
	seen->exe = bytes_of(line, "exe", &len);
	seen->raw = bytes_of(line, "raw", &len);
	seen->path = bytes_of(line, "path", &seen->path_len);
	seen->path2 = bytes_of(line, "path2", &seen->path2_len);
	if (result) {
		bool ok = strcmp(result, "ok") == 0;

		seen->outcome = ok ? AW_OUTCOME_OK : AW_OUTCOME_FAILED;
		seen->error = ok ? NULL : result;
	}
	read_address(line, seen);
	read_vector(line, seen);
	read_rule(line, seen);
	return true;
}

int aw_log_reader_next(
	struct aw_log_reader *reader, struct aw_seen *ret, struct aw_error *err)
{
	const char *end;
	char *text;
	size_t len;
	int r;

	while ((r = aw_lines_next(&reader->lines, &text, &len, err)) > 0) {
		cJSON_Delete(reader->line);
		reader->line = cJSON_ParseWithLengthOpts(text, len, &end, 0);
		if (!cJSON_IsObject(reader->line) || end != text + len ||
			!aw_event_word(reader->line, "event"))
			damaged(reader, reader->lines.number, "this is not an event");
		else if (read_call(reader->line, ret))
			return 1;
	}
	if (r == 0 && aw_lines_torn(&reader->lines))
		damaged(reader, reader->lines.number + 1, "the line is not complete");
	return r < 0 ? aw_while(err, "%s", reader->name) : 0;
}
