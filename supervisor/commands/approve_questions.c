/* SPDX-License-Identifier: Apache-2.0 */
/* approve_questions.c - questions over the control sockets of all sessions. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/cli/say.h"
#include "supervisor/commands/approve.h"
#include "supervisor/session/control.h"
#include "supervisor/session/session.h"
#include "supervisor/util/cleanup.h"
#include "supervisor/util/json.h"

void aw_open_questions_free(struct aw_open_questions *questions)
{
	for (size_t i = 0; i < questions->count; i++) {
		struct aw_open_question *q = &questions->items[i];

		free(q->session);
		free(q->control);
		free(q->line);
		cJSON_Delete(q->json);
	}
	free(questions->items);
	*questions = (struct aw_open_questions){NULL, 0};
}

/* One line of a session's reply. */
static bool add(struct aw_open_questions *all, const struct aw_session *session,
	const char *line, size_t len)
{
	struct aw_open_question *items =
		realloc(all->items, (all->count + 1) * sizeof(*all->items));
	struct aw_open_question fresh = {.session = strdup(session->id),
		.control = strdup(session->control),
		.line = strndup(line, len)};
	const cJSON *id;

	if (items)
		all->items = items;
	fresh.json = fresh.line ? cJSON_Parse(fresh.line) : NULL;
	id = cJSON_GetObjectItemCaseSensitive(fresh.json, "question");
	if (!items || !fresh.session || !fresh.control || !cJSON_IsNumber(id)) {
		free(fresh.session);
		free(fresh.control);
		free(fresh.line);
		cJSON_Delete(fresh.json);
		return false;
	}
	fresh.id = (uint64_t)id->valuedouble;
	all->items[all->count++] = fresh;
	return true; /* cppcheck-suppress memleak; the list owns it */
}

/* As many as fit come with one request. */
static int get_from(struct aw_open_questions *all, const struct aw_session *session,
	struct aw_error *err)
{
	uint64_t after = 0;
	bool more = true;

	while (more) {
		AW_FREE char *text = NULL;
		char line[96];
		int n = snprintf(line, sizeof(line),
			"{\"request\":\"questions\",\"after\":%llu}\n",
			(unsigned long long)after);

		if (aw_control_request_line(
			    session->control, line, (size_t)n, &text, err) < 0)
			return -1;
		more = false;
		for (const char *at = text; *at;) {
			size_t len = strcspn(at, "\n");

			if (!add(all, session, at, len))
				return aw_fail(
					err, EPROTO, "a question that makes no sense");
			after = all->items[all->count - 1].id;
			more = true;
			at += len + (at[len] == '\n');
		}
	}
	return 0;
}

int aw_open_questions_get(struct aw_open_questions *ret, struct aw_error *err)
{
	struct aw_session_list list = {0};
	struct aw_error one;

	*ret = (struct aw_open_questions){NULL, 0};
	if (aw_session_list(&list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.count; i++) {
		const struct aw_session *session = list.items[i];

		if (!session->control || !session->mode ||
			strcmp(session->mode, "enforce") != 0 ||
			!aw_session_alive(session))
			continue;
		if (get_from(ret, session, &one) < 0 && aw_session_alive(session))
			aw_say("session '%s': %s", session->id, one.text);
	}
	aw_session_list_free(&list);
	return 0;
}

static bool is_named(const struct aw_open_question *q, const char *name)
{
	const char *slash = strrchr(name, '/');
	const char *digits = slash ? slash + 1 : name;
	char *end;

	if (strtoull(digits, &end, 10) != q->id || end == digits || *end)
		return false;
	return !slash ||
	       (strncmp(q->session, name, (size_t)(slash - name)) == 0 && slash > name);
}

const struct aw_open_question *aw_open_questions_find(
	const struct aw_open_questions *questions, const char *name,
	struct aw_error *err)
{
	const struct aw_open_question *found = NULL;

	for (size_t i = 0; i < questions->count; i++) {
		const struct aw_open_question *q = &questions->items[i];

		if (!is_named(q, name))
			continue;
		if (found) {
			aw_fail(err, EINVAL,
				"there is more than one question %s; say %s/%llu or %s/%llu",
				name, found->session, (unsigned long long)found->id,
				q->session, (unsigned long long)q->id);
			return NULL;
		}
		found = q;
	}
	if (!found)
		aw_fail(err, ENOENT,
			"no question '%s' is open; see: agentwatch approve", name);
	return found;
}

int aw_open_question_answer(const struct aw_open_question *question, bool yes,
	const char *how, const char *layer, char **ret_text, struct aw_error *err)
{
	struct aw_json json = {0};
	int r;

	AW_JSON_LITERAL(&json, "{\"request\":\"answer\",\"question\":");
	aw_json_unsigned(&json, question->id);
	if (yes)
		AW_JSON_LITERAL(&json, ",\"yes\":true,\"how\":");
	else
		AW_JSON_LITERAL(&json, ",\"yes\":false,\"how\":");
	aw_json_string(&json, how, strlen(how));
	AW_JSON_LITERAL(&json, ",\"layer\":");
	aw_json_string(&json, layer, strlen(layer));
	AW_JSON_LITERAL(&json, "}\n");
	r = json.failed ? aw_fail(err, ENOMEM, "out of memory")
			: aw_control_request_line(question->control, json.bytes,
				  json.len, ret_text, err);
	aw_json_free(&json);
	return r < 0 ? aw_while(err, "session '%s'", question->session) : 0;
}

/* A text of the question, harmless for a terminal; owned. */
static char *shown(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);
	AW_FREE char *copy = NULL;
	size_t len;

	if (!cJSON_IsString(item) || !(copy = strdup(item->valuestring)))
		return NULL;
	len = aw_text_decode(copy, strlen(copy));
	return aw_shown(copy, len);
}

static void put(const char *before, const cJSON *object, const char *key)
{
	AW_FREE char *text = shown(object, key);

	if (text)
		printf("%s%s", before, text);
}

static void put_number(const char *before, const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	if (cJSON_IsNumber(item))
		printf("%s%.0f", before, item->valuedouble);
}

static void put_subject(const cJSON *json)
{
	const cJSON *argv = cJSON_GetObjectItemCaseSensitive(json, "argv"), *arg;

	put(" ", json, "action");
	put(" ", json, "path");
	put(" -> ", json, "path2");
	put(" ", json, "address");
	put_number(" port ", json, "port");
	if (!argv)
		return;
	printf("\n  arguments ");
	cJSON_ArrayForEach(arg, argv)
	{
		AW_FREE char *copy =
			cJSON_IsString(arg) ? strdup(arg->valuestring) : NULL;
		size_t len = copy ? aw_text_decode(copy, strlen(copy)) : 0;
		AW_FREE char *text = copy ? aw_shown(copy, len) : NULL;
		bool quote = text && (!*text || strpbrk(text, " \t'\""));

		printf(quote ? " [%s]" : " %s", text ? text : "?");
	}
	if (cJSON_GetObjectItemCaseSensitive(json, "argv_truncated"))
		printf(" ... (too long to be shown whole)");
}

void aw_open_question_show(const struct aw_open_question *question)
{
	const cJSON *json = question->json, *parent;
	const cJSON *rule = cJSON_GetObjectItemCaseSensitive(json, "rule");
	const cJSON *left = cJSON_GetObjectItemCaseSensitive(json, "left_ms");

	printf("question %llu of session %s:", (unsigned long long)question->id,
		question->session);
	put_subject(json);
	put("\n  rule       ", rule, "text");
	put(" (", rule, "layer");
	put(", ", rule, "file");
	put_number(":", rule, "line");
	printf(rule ? ")" : "");
	put_number("\n  process    ", json, "pid");
	put(" ", json, "exe");
	cJSON_ArrayForEach(parent, cJSON_GetObjectItemCaseSensitive(json, "parents"))
	{
		put_number(", from ", parent, "pid");
		put(" ", parent, "exe");
	}
	put("\n  directory     ", json, "cwd");
	put("\n  since      ", json, "since");
	if (cJSON_IsNumber(left))
		printf("; %.0f s are left", left->valuedouble / 1000);
	put_number("; calls that wait: ", json, "waiting");
	printf("\n");
}
