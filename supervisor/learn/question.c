/* SPDX-License-Identifier: Apache-2.0 */
/* question.c - what only a person may allow. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/learn/learner.h"

enum { QUESTIONS_MOST = 2000 };

void aw_question_free(struct aw_learn_question *question)
{
	free(question->key);
	free(question->text);
	free(question->subject);
	free(question);
}

/* The entry that would allow it. */
static char *question_text(const struct aw_learner *learner, const struct aw_seen *seen,
	const struct aw_access_need *need)
{
	char *folder, *text;
	size_t len;

	if (need->access >= AW_GRANT_CONNECT)
		return aw_destination_text(
			learner, seen, need->access == AW_GRANT_LISTEN);
	if (HASH_COUNT(learner->questions) < QUESTIONS_MOST)
		return aw_destination_path(
			learner, need->path, aw_name_maker_of(learner, seen));
	/* where there are too many, those of one directory are one */
	len = (size_t)(strrchr(need->path, '/') - need->path);
	folder = aw_learn_copy(need->path, len ? len : 1);
	text = aw_destination_path(learner, folder, aw_name_maker_of(learner, seen));
	free(folder);
	return text;
}

/* An address is allowed best by the name that it was probably reached by. */
static void guess_name(const struct aw_learner *learner, const struct aw_seen *seen,
	struct aw_learn_question *q)
{
	const char *host = aw_lookups_find(&learner->lookups, seen);

	if (q->reason.cause != AW_CAUSE_ADDRESS || !host)
		return;
	free(q->text);
	q->text = aw_learn_text("%s:%u", host, seen->address.port);
	snprintf(q->reason.text, sizeof(q->reason.text),
		"an address without a name, perhaps that of %.100s", host);
}

void aw_question_add(struct aw_learner *learner, const struct aw_seen *seen,
	const struct aw_access_need *need, const struct aw_learn_reason *reason,
	const char *by)
{
	char *text = question_text(learner, seen, need);
	char *key = aw_learn_text("%d %s", (int)need->access, text);
	bool file = need->access < AW_GRANT_CONNECT;
	struct aw_learn_question *q;

	HASH_FIND_STR(learner->questions, key, q);
	if (!q) {
		q = aw_learn_new(sizeof(*q));
		q->key = key;
		q->text = text;
		q->subject = aw_learn_copy(
			file ? need->path : text, file ? need->len : strlen(text));
		q->access = need->access;
		q->reason = *reason;
		q->missing = true;
		guess_name(learner, seen, q);
		HASH_ADD_KEYPTR(hh, learner->questions, q->key, strlen(q->key), q);
	} else {
		free(key);
		free(text);
	}
	if (file)
		aw_learn_tree_ask(&learner->tree, need->path);
	q->missing = q->missing && need->missing;
	aw_counter_add(&q->tally, 1, by);
}

static bool is_same_kind(
	const struct aw_learn_question *a, const struct aw_learn_question *b)
{
	return a->access == b->access && a->reason.cause == b->reason.cause &&
	       strcmp(a->reason.text, b->reason.text) == 0;
}

/* The length of the directory's part of a file's text; 0 for an address. */
static size_t folder_length(const struct aw_learn_question *q)
{
	const char *slash = strrchr(q->text, '/');

	return q->access >= AW_GRANT_CONNECT || !slash ? 0 : (size_t)(slash - q->text);
}

/* q is about something below the directory that is the first len signs of text. */
static bool is_below(const struct aw_learn_question *q, const char *text, size_t len)
{
	return strncmp(q->text, text, len) == 0 && q->text[len] == '/';
}

static void shorten(char *text)
{
	char *slash = strrchr(text, '/');

	if (slash && slash > text)
		*slash = '\0';
}

/* All of q's kind below the directory become part of q; enough of them make q the
 * directory's.
 */
static void fold_below(struct aw_learner *learner, struct aw_learn_question *q,
	const char *folder, size_t len)
{
	struct aw_learn_question *other, *next;

	HASH_ITER(hh, learner->questions, other, next)
	{
		if (other == q || !is_same_kind(q, other) ||
			!is_below(other, folder, len))
			continue;
		q->missing = q->missing && other->missing;
		aw_counter_join(&q->tally, &other->tally);
		HASH_DEL(learner->questions, other);
		aw_question_free(other);
	}
}

static unsigned count_beside(
	const struct aw_learner *learner, const struct aw_learn_question *q, size_t len)
{
	struct aw_learn_question *other, *next;
	unsigned count = 0;

	HASH_ITER(hh, learner->questions, other, next)
	count += is_same_kind(q, other) && folder_length(other) == len &&
		 is_below(other, q->text, len);
	return count;
}

static int by_key(const struct aw_learn_question *a, const struct aw_learn_question *b)
{
	return strcmp(a->key, b->key);
}

void aw_questions_generalize(struct aw_learner *learner)
{
	struct aw_learn_question *q;

	HASH_SORT(learner->questions, by_key);
	for (q = learner->questions; q; q = q->hh.next) {
		size_t len = folder_length(q);

		if (q->access >= AW_GRANT_CONNECT)
			continue;
		fold_below(learner, q, q->text, strlen(q->text));
		if (!len || count_beside(learner, q, len) < learner->params.siblings)
			continue;
		shorten(q->text);
		shorten(q->subject);
		fold_below(learner, q, q->text, len);
	}
}
