/* SPDX-License-Identifier: Apache-2.0 */
/* log_about.c - what an event is about: paths, addresses, arguments, refused keys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "supervisor/audit/read/log_filter.h"
#include "supervisor/cli/say.h"
#include "supervisor/commands/log_table.h"
#include "supervisor/decide/reason.h"
#include "supervisor/util/cleanup.h"
#include "supervisor/util/json.h"

/* What a row shows of one argument, and of all that it is about: bytes. */
enum { ARGUMENT_MOST = 4096, ABOUT_MOST = 16384 };

/* Write text's harmless form to out, a blank before it when there is something already. */
static void tell(FILE *out, const char *before, const char *bytes)
{
	size_t len = bytes ? strnlen(bytes, ARGUMENT_MOST + 1) : 0;
	AW_FREE char *shown =
		bytes ? aw_shown(bytes, len > ARGUMENT_MOST ? ARGUMENT_MOST : len)
		      : NULL;

	if (!shown)
		return;
	if (ftell(out) > 0)
		fputs(before, out);
	fputs(shown, out);
	if (len > ARGUMENT_MOST)
		fputs("…", out);
}

static void tell_member(
	FILE *out, const char *before, const cJSON *line, const char *key)
{
	AW_FREE char *text = aw_event_text(line, key);

	tell(out, before, text);
}

static void tell_address(FILE *out, const cJSON *line)
{
	const cJSON *port = cJSON_GetObjectItemCaseSensitive(line, "port");
	AW_FREE char *address = aw_event_text(line, "address");
	AW_FREE char *host = aw_event_text(line, "host");
	AW_FREE char *whole = NULL;
	bool six = address && strchr(address, ':') && cJSON_IsNumber(port);
	int n;

	if (!address && !host)
		return;
	if (cJSON_IsNumber(port))
		n = asprintf(&whole, six ? "[%s]:%.0f" : "%s:%.0f",
			address ? address : host, port->valuedouble);
	else
		n = asprintf(&whole, "%s", address ? address : host);
	if (n < 0) {
		whole = NULL;
		return;
	}
	tell(out, " ", whole);
	if (address && host) {
		fputs(" (", out);
		tell(out, "", host);
		fputs(")", out);
	}
}

static void tell_argv(FILE *out, const cJSON *line, bool with_first)
{
	const cJSON *argv = cJSON_GetObjectItemCaseSensitive(line, "argv"), *arg;
	bool first = true;

	cJSON_ArrayForEach(arg, argv)
	{
		AW_FREE char *text =
			cJSON_IsString(arg) ? strdup(arg->valuestring) : NULL;

		if (text)
			aw_text_decode(text, strlen(text));
		if (ftell(out) > ABOUT_MOST) {
			fputs(" …", out);
			break;
		}
		if (with_first || !first)
			tell(out, " ", text);
		first = false;
	}
}

static void tell_exit(FILE *out, const cJSON *line)
{
	const cJSON *status = cJSON_GetObjectItemCaseSensitive(line, "status");

	if (cJSON_IsNumber(status))
		fprintf(out, "status %.0f", status->valuedouble);
	else if (cJSON_IsString(status)) {
		fputs("killed by ", out);
		tell(out, "", status->valuestring);
	}
}

/* The key of git's configuration that a rename would have brought, behind its file. */
static void tell_key(FILE *out, const cJSON *line, const cJSON *rule, const char *text)
{
	const cJSON *number = cJSON_GetObjectItemCaseSensitive(rule, "line");
	AW_FREE char *file = aw_event_text(rule, "file");
	AW_FREE char *to = aw_event_text(line, "path2");

	if (!aw_reason_is_key(file, text) || !cJSON_IsNumber(number))
		return;
	if (!to || strcmp(to, file) != 0)
		tell(out, ", ", file);
	fprintf(out, ":%.0f", number->valuedouble);
	tell(out, ": ", text + strlen(AW_GIT_CONFIG_RULE));
}

/*
 * Of what was refused on the network or in git's configuration: by which rule, since
 * many may be meant.
 */
static void tell_refusal(FILE *out, const cJSON *line, bool key)
{
	const cJSON *rule = cJSON_GetObjectItemCaseSensitive(line, "rule");
	const char *verdict = aw_event_word(line, "verdict");
	AW_FREE char *text = aw_event_text(rule, "text");

	if (!verdict || !aw_verdict_refuses(verdict) || !text)
		return;
	if (cJSON_HasObjectItem(line, "family"))
		tell(out, " by ", text);
	else if (key)
		tell_key(out, line, rule, text);
}

/* What went over a connection that has ended. */
static void tell_connection(FILE *out, const cJSON *line)
{
	const cJSON *sent = cJSON_GetObjectItemCaseSensitive(line, "bytes_out");
	const cJSON *received = cJSON_GetObjectItemCaseSensitive(line, "bytes_in");
	const cJSON *time = cJSON_GetObjectItemCaseSensitive(line, "duration_ns");

	if (cJSON_IsNumber(sent) && cJSON_IsNumber(received) && cJSON_IsNumber(time))
		fprintf(out, " %.0f bytes out, %.0f in, %.3f s", sent->valuedouble,
			received->valuedouble, time->valuedouble / 1e9);
}

/* What a session came to. */
static void tell_summary(FILE *out, const cJSON *line)
{
	static const char *const keys[] = {"calls", "denied", "execs"};
	static const char *const names[] = {"call", "denied", "program"};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const cJSON *n = cJSON_GetObjectItemCaseSensitive(line, keys[i]);

		if (cJSON_IsNumber(n))
			fprintf(out, "%s%.0f %s%s", ftell(out) ? ", " : "",
				n->valuedouble, names[i],
				n->valuedouble == 1 || i == 1 ? "" : "s");
	}
}

char *aw_log_about(const cJSON *line, bool key)
{
	const char *action = aw_event_word(line, "action");
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	if (action && strcmp(action, "system") == 0)
		tell_member(out, "", line, "call");
	tell_member(out, "", line, "path");
	tell_member(out, " -> ", line, "path2");
	tell_address(out, line);
	tell_refusal(out, line, key);
	tell_connection(out, line);
	tell_argv(out, line, ftell(out) == 0);
	tell_exit(out, line);
	tell_summary(out, line);
	tell_member(out, " ", line, "kind");
	tell_member(out, ": ", line, "text");
	fclose(out);
	return text;
}
