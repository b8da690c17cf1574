/* SPDX-License-Identifier: Apache-2.0 */
/* seen.c - the calls of a log, one after another. */
#include "supervisor/learn/seen.h"

#include <stddef.h>
#include <string.h>

#include "policy/port_net.h"
#include "supervisor/audit/log_words.h"
#include "supervisor/audit/read/log_filter.h"
#include "supervisor/cli/say.h"
#include "supervisor/util/json.h"

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
		aw_say("%s:%lu: %s; passed over", reader->lines.file, number, what);
	reader->damaged++;
}

/* Members of an event, in the order in which they are written. */
enum field {
	V,
	SEQ,
	TS,
	SESSION,
	PID,
	PPID,
	EXE,
	EVENT,
	CALL,
	ACTION,
	PATH,
	PATH2,
	RAW,
	RAW2,
	ARGV,
	CWD,
	ADDRESS,
	PORT,
	HOST,
	FAMILY,
	VERDICT,
	ENFORCED,
	RULE,
	STRENGTH,
	SOURCE,
	RESULT,
	FIELDS
};

static const char *const names[FIELDS] = {"v", "seq", "ts", "session", "pid", "ppid",
	"exe", "event", "call", "action", "path", "path2", "raw", "raw2", "argv", "cwd",
	"address", "port", "host", "family", "verdict", "enforced", "rule", "strength",
	"source", "result"};

/* Find all members at once: each is looked for from the one before on. */
static void find_fields(cJSON *line, cJSON *fields[FIELDS])
{
	size_t next = 0;
	cJSON *item;

	memset(fields, 0, FIELDS * sizeof(*fields));
	cJSON_ArrayForEach(item, line)
	{
		for (size_t i = 0; i < FIELDS; i++) {
			size_t at = (next + i) % FIELDS;

			if (strcmp(item->string, names[at]) != 0)
				continue;
			if (!fields[at])
				fields[at] = item;
			next = at + 1;
			break;
		}
	}
}

static const char *word_of(const cJSON *item)
{
	return cJSON_GetStringValue(item);
}

/* The member as bytes, decoded where it stands; "" without one. */
static const char *bytes_of(cJSON *item, size_t *ret_len)
{
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

static void read_address(cJSON *const fields[FIELDS], struct aw_seen *seen)
{
	struct aw_address *to = &seen->address;
	const cJSON *port = fields[PORT];
	size_t len;
	const char *text = bytes_of(fields[ADDRESS], &len);
	const char *host = word_of(fields[HOST]);

	to->family = read_family(word_of(fields[FAMILY]));
	to->host = host && *host ? host : NULL;
	if (port && cJSON_IsNumber(port) && port->valueint >= 0 &&
		port->valueint <= UINT16_MAX)
		to->port = (uint16_t)port->valueint;
	if (to->family == AF_UNIX) {
		to->path = text;
		to->path_len = len;
	} else if (to->family == AF_INET || to->family == AF_INET6) {
		inet_pton(to->family, text, to->bytes);
	} else if (!to->family && to->host && strcmp(seen->call, "proxy") == 0) {
		/* asked for by name, and not looked up: at an address of nobody */
		to->family = AF_INET;
		memset(to->bytes, 0xff, 4);
	}
}

static void read_vector(cJSON *vector, struct aw_seen *seen)
{
	cJSON *word;

	cJSON_ArrayForEach(word, vector)
	{
		char *text = cJSON_GetStringValue(word);

		if (!text || seen->argc == AW_SEEN_WORDS)
			continue;
		aw_text_decode(text, strlen(text));
		seen->argv[seen->argc++] = text;
	}
}

static bool is_refused(const cJSON *verdict)
{
	const char *word = word_of(verdict);

	return word && aw_verdict_refuses(word);
}

static void read_rule(const cJSON *rule, const cJSON *verdict, struct aw_seen *seen)
{
	const cJSON *at = cJSON_GetObjectItemCaseSensitive(rule, "line");

	seen->refused = rule && is_refused(verdict);
	if (!seen->refused)
		return;
	seen->rule = aw_event_word(rule, "text");
	seen->rule_file = aw_event_word(rule, "file");
	seen->rule_layer = aw_event_word(rule, "layer");
	seen->rule_line = at && cJSON_IsNumber(at) ? (unsigned)at->valuedouble : 0;
}

/* False for an event that is no call. */
static bool read_call(cJSON *const fields[FIELDS], struct aw_seen *seen)
{
	const char *event = word_of(fields[EVENT]), *result = word_of(fields[RESULT]);
	const cJSON *pid = fields[PID];
	size_t len;

	memset(seen, 0, offsetof(struct aw_seen, argv));
	memset(&seen->argc, 0, sizeof(*seen) - offsetof(struct aw_seen, argc));
	seen->call = word_of(fields[CALL]);
	if ((strcmp(event, "call") != 0 && strcmp(event, "exec") != 0) || !seen->call ||
		!read_action(word_of(fields[ACTION]), &seen->action))
		return false;
	seen->pid = pid && cJSON_IsNumber(pid) ? (pid_t)pid->valuedouble : 0;
	seen->exe = bytes_of(fields[EXE], &len);
	seen->raw = bytes_of(fields[RAW], &len);
	seen->path = bytes_of(fields[PATH], &seen->path_len);
	seen->path2 = bytes_of(fields[PATH2], &seen->path2_len);
	/* what enforce refused might have gone well */
	if (result &&
		!(cJSON_IsTrue(fields[ENFORCED]) && is_refused(fields[VERDICT]))) {
		bool ok = strcmp(result, "ok") == 0;

		seen->outcome = ok ? AW_OUTCOME_OK : AW_OUTCOME_FAILED;
		seen->error = ok ? NULL : result;
	}
	read_address(fields, seen);
	read_vector(fields[ARGV], seen);
	read_rule(fields[RULE], fields[VERDICT], seen);
	return true;
}

int aw_log_reader_next(
	struct aw_log_reader *reader, struct aw_seen *ret, struct aw_error *err)
{
	cJSON *fields[FIELDS];
	const char *end;
	char *text;
	size_t len;
	int r;

	while ((r = aw_lines_next(&reader->lines, &text, &len, err)) > 0) {
		cJSON_Delete(reader->line);
		reader->line = cJSON_ParseWithLengthOpts(text, len, &end, 0);
		find_fields(cJSON_IsObject(reader->line) ? reader->line : NULL, fields);
		if (!word_of(fields[EVENT]) || end != text + len)
			damaged(reader, reader->lines.number, "this is not an event");
		else if (read_call(fields, ret))
			return 1;
	}
	if (r == 0 && aw_lines_torn(&reader->lines))
		damaged(reader, reader->lines.number + 1, "the line is not complete");
	return r < 0 ? aw_while(err, "%s", reader->name) : 0;
}
