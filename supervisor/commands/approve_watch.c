/* SPDX-License-Identifier: Apache-2.0 */
/* approve_watch.c - questions as they come, answers from standard input. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/cli/say.h"
#include "supervisor/commands/approve.h"
#include "supervisor/util/cleanup.h"

enum { LOOK_MS = 200, LINE_BYTES = 512 };

struct watcher {
	bool json;
	const char *layer;
	struct aw_open_questions now; /* what was open at the last look */
	char line[LINE_BYTES];
	size_t len;
	bool input; /* standard input has not ended */
};

static bool is_among(
	const struct aw_open_questions *all, const struct aw_open_question *q)
{
	for (size_t i = 0; i < all->count; i++)
		if (all->items[i].id == q->id &&
			strcmp(all->items[i].session, q->session) == 0)
			return true;
	return false;
}

static void prompt(const struct watcher *w)
{
	if (!w->json && w->input && w->now.count)
		printf("%s/%llu: y once, s session, a always, n no? ",
			w->now.items[0].session,
			(unsigned long long)w->now.items[0].id);
	fflush(stdout);
}

static void look(struct watcher *w)
{
	struct aw_open_questions fresh;
	struct aw_error err;
	bool news = false;

	if (aw_open_questions_get(&fresh, &err) < 0) {
		aw_say("%s", err.text);
		return;
	}
	for (size_t i = 0; i < fresh.count; i++) {
		if (is_among(&w->now, &fresh.items[i]))
			continue;
		if (w->json)
			printf("%s\n", fresh.items[i].line);
		else
			aw_open_question_show(&fresh.items[i]);
		news = true;
	}
	aw_open_questions_free(&w->now);
	w->now = fresh;
	if (news)
		prompt(w);
}

/* "y", or "SESSION/3 y". */
static void answer(struct watcher *w, char *line)
{
	static const struct {
		const char *word, *how;
		bool yes;
	} words[] = {{"y", "once", true}, {"s", "session", true}, {"a", "always", true},
		{"n", "once", false}};
	const struct aw_open_question *q = w->now.count ? &w->now.items[0] : NULL;
	char *save = NULL, *first = strtok_r(line, " \t\r", &save);
	char *second = first ? strtok_r(NULL, " \t\r", &save) : NULL;
	const char *word = second ? second : first;
	AW_FREE char *text = NULL;
	AW_FREE char *shown = NULL;
	struct aw_error err;
	size_t i = 0;

	if (!word)
		return;
	while (i < 4 && strcmp(words[i].word, word) != 0)
		i++;
	if (i == 4) {
		aw_say("'%s' is no answer; say y, s, a or n", word);
		return;
	}
	if (second)
		q = aw_open_questions_find(&w->now, first, &err);
	else if (!q)
		aw_fail(&err, ENOENT, "no question is open");
	if (!q || aw_open_question_answer(
			  q, words[i].yes, words[i].how, w->layer, &text, &err) < 0) {
		aw_say("%s", err.text);
		return;
	}
	shown = aw_shown(text, strlen(text));
	if (!w->json)
		printf("%s/%llu: %s\n", q->session, (unsigned long long)q->id,
			shown ? shown : "");
}

static void read_answers(struct watcher *w)
{
	ssize_t n = read(STDIN_FILENO, w->line + w->len, sizeof(w->line) - 1 - w->len);
	char *end;

	if (n <= 0) {
		w->input = n < 0 && errno == EINTR;
		return;
	}
	w->len += (size_t)n;
	w->line[w->len] = '\0';
	while ((end = strchr(w->line, '\n'))) {
		*end = '\0';
		answer(w, w->line);
		look(w); /* what is answered is not open any more */
		prompt(w);
		w->len -= (size_t)(end + 1 - w->line);
		memmove(w->line, end + 1, w->len + 1);
	}
	if (w->len == sizeof(w->line) - 1)
		w->len = 0;
}

int aw_approve_watch(bool json, const char *layer)
{
	struct watcher w = {.json = json, .layer = layer, .input = true};

	while (!ferror(stdout)) {
		struct pollfd in = {
			.fd = w.input ? STDIN_FILENO : -1, .events = POLLIN};

		look(&w);
		if (poll(&in, 1, LOOK_MS) > 0)
			read_answers(&w);
	}
	aw_open_questions_free(&w.now);
	return AW_EXIT_FAILED;
}
