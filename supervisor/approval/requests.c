/* SPDX-License-Identifier: Apache-2.0 */
/* requests.c - listing and answering questions. */
#include "supervisor/approval/requests.h"

#include <cjson/cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/approval/always.h"
#include "supervisor/approval/describe.h"
#include "supervisor/approval/peer.h"
#include "supervisor/launch/run.h"
#include "supervisor/util/cleanup.h"

bool aw_ask_request_is(const char *name)
{
	return strcmp(name, "questions") == 0 || strcmp(name, "answer") == 0 ||
	       strcmp(name, "waiting") == 0;
}

/* Copies, so that the table is not locked while /proc is read. */
struct copies {
	struct aw_question items[AW_QUESTIONS_MAX];
	struct aw_event_copy *events[AW_QUESTIONS_MAX]; /* owned */
	size_t count;
	uint64_t only; /* or 0 */
};

static bool copy_one(void *ctx, const struct aw_question *question)
{
	struct copies *all = ctx;
	struct aw_event_copy *event;

	if (all->only && question->id != all->only)
		return true;
	event = aw_event_copy_new(question->event);
	if (!event)
		return false;
	all->items[all->count] = *question;
	all->items[all->count].event = &event->event;
	all->events[all->count++] = event;
	return all->count < AW_QUESTIONS_MAX;
}

static void free_copies(struct copies *all)
{
	for (size_t i = 0; i < all->count; i++)
		aw_event_copy_free(all->events[i]);
}

static uint64_t number_of(const cJSON *body, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(body, name);

	return cJSON_IsNumber(item) && item->valuedouble > 0 && item->valuedouble < 9e15
		       ? (uint64_t)item->valuedouble
		       : 0;
}

static const char *word_of(const cJSON *body, const char *name)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(body, name);

	return cJSON_IsString(item) ? item->valuestring : "";
}

static int list(const struct aw_ask_session *session,
	const struct aw_control_request *request, char *text, size_t size)
{
	struct copies all = {.count = 0};
	size_t used = 0, n;

	aw_questions_visit(session->watch->questions, number_of(request->body, "after"),
		copy_one, &all);
	for (size_t i = 0; i < all.count; i++) {
		n = aw_question_json(session->run->session->id, session->watch->self,
			&all.items[i], text + used, size - used, used == 0);
		if (!n)
			break;
		used += n;
	}
	text[used] = '\0';
	free_copies(&all);
	return 0;
}

static int answer_always(const struct aw_ask_session *session, uint64_t id, bool yes,
	const char *layer, char *text, size_t size)
{
	struct copies one = {.only = id};
	struct aw_error err = {.text = ""};
	int r = -1;

	aw_questions_visit(session->watch->questions, id - 1, copy_one, &one);
	if (!one.count)
		snprintf(text, size, "question %llu is not open",
			(unsigned long long)id);
	else if (aw_always_write(session->run, atomic_load(&session->watch->image),
			 one.items[0].event, id, yes, layer, text, size, &err) < 0)
		snprintf(text, size, "%s; the question is still open", err.text);
	else
		r = 0;
	free_copies(&one);
	return r;
}

static int answer(const struct aw_ask_session *session,
	const struct aw_control_request *request, char *text, size_t size)
{
	static const char *const words[] = {"once", "session", "always"};
	const cJSON *yes = cJSON_GetObjectItemCaseSensitive(request->body, "yes");
	uint64_t id = number_of(request->body, "question");
	const char *how = word_of(request->body, "how");
	char reloaded[600] = "";
	struct aw_error err;
	int which = 0;

	while (which < 3 && strcmp(words[which], how) != 0)
		which++;
	if (!id || which == 3 || !cJSON_IsBool(yes)) {
		snprintf(text, size,
			"an answer is a line like "
			"{\"request\":\"answer\",\"question\":1,\"yes\":true,\"how\":\"once\"}");
		return -1;
	}
	if (which == AW_HOW_ALWAYS &&
		answer_always(session, id, cJSON_IsTrue(yes),
			word_of(request->body, "layer"), text, size) < 0)
		return -1;
	if (aw_questions_answer(session->watch->questions, id, cJSON_IsTrue(yes),
		    (enum aw_answer_how)which, request->uid, &err) < 0) {
		snprintf(text, size, "%s", err.text);
		return -1;
	}
	if (which == AW_HOW_ALWAYS) {
		session->reload(session->ctx, reloaded, sizeof(reloaded));
		snprintf(text + strlen(text), size - strlen(text), "; %s", reloaded);
	} else {
		snprintf(text, size, "question %llu is answered: %s, %s",
			(unsigned long long)id, cJSON_IsTrue(yes) ? "yes" : "no", how);
	}
	return 0;
}

int aw_ask_request(const struct aw_ask_session *session,
	const struct aw_control_request *request, char *text, size_t size)
{
	struct aw_questions *questions = session->watch->questions;

	if (!aw_peer_is_outside(request->socket, request->pid, session->watch->self)) {
		aw_watch_warn(session->watch, NULL, "ask",
			"process %d, which is inside of a session, tried to %s "
			"questions and was refused",
			(int)request->pid,
			strcmp(request->name, "answer") == 0 ? "answer" : "see");
		snprintf(text, size,
			"questions are seen and answered from outside of sessions only");
		return -1;
	}
	if (!questions) { /* audit asks nobody */
		text[0] = '\0';
		if (strcmp(request->name, "answer") == 0)
			snprintf(text, size,
				"this session asks nothing: its mode is audit");
		return strcmp(request->name, "answer") == 0 ? -1 : 0;
	}
	if (strcmp(request->name, "waiting") == 0) {
		snprintf(text, size, "%zu", aw_questions_open(questions));
		return 0;
	}
	return strcmp(request->name, "questions") == 0
		       ? list(session, request, text, size)
		       : answer(session, request, text, size);
}
