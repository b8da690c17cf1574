/* SPDX-License-Identifier: Apache-2.0 */
/* copy.c - an event with strings of its own. */
#include "supervisor/approval/copy.h"

#include <stdlib.h>
#include <string.h>

#include "policy/array.h"

#define TEXT(field) offsetof(struct aw_event, field)

static const size_t texts[] = {TEXT(exe), TEXT(path), TEXT(path2), TEXT(raw),
	TEXT(raw2), TEXT(cwd), TEXT(address), TEXT(host)};

enum { TEXTS = ARRAY_SIZE(texts) };

static struct aw_text *text_at(struct aw_event *event, size_t i)
{
	return (struct aw_text *)(void *)((char *)event + texts[i]);
}

static size_t length_of(const char *text)
{
	return text ? strlen(text) + 1 : 0;
}

static size_t size_of(struct aw_event *event)
{
	size_t size = 1;

	for (size_t i = 0; i < TEXTS; i++)
		size += text_at(event, i)->len + 1;
	for (size_t i = 0; i < event->argc; i++)
		size += event->argv[i].len + 1;
	if (event->rule)
		size += length_of(event->rule->file) + length_of(event->rule->text) +
			length_of(event->rule->layer);
	return size;
}

/* Move text to *to, terminated. */
static void take(struct aw_text *text, char **to)
{
	if (!text->len)
		return;
	memcpy(*to, text->bytes, text->len);
	(*to)[text->len] = '\0';
	text->bytes = *to;
	*to += text->len + 1;
}

static const char *take_word(const char *word, char **to)
{
	struct aw_text text = {word, word ? strlen(word) : 0};

	take(&text, to);
	return text.bytes;
}

struct aw_event_copy *aw_event_copy_new(const struct aw_event *event)
{
	struct aw_event_copy *copy = calloc(1, sizeof(*copy));
	char *at;

	if (!copy)
		return NULL;
	copy->event = *event;
	at = copy->bytes = malloc(size_of(&copy->event));
	copy->argv = calloc(event->argc + 1, sizeof(*copy->argv));
	if (!copy->bytes || !copy->argv) {
		aw_event_copy_free(copy);
		return NULL;
	}
	for (size_t i = 0; i < TEXTS; i++)
		take(text_at(&copy->event, i), &at);
	for (size_t i = 0; i < event->argc; i++) {
		copy->argv[i] = event->argv[i];
		take(&copy->argv[i], &at);
	}
	copy->event.argv = copy->argv;
	if (event->rule) {
		copy->rule = *event->rule;
		copy->rule.file = take_word(copy->rule.file, &at);
		copy->rule.text = take_word(copy->rule.text, &at);
		copy->rule.layer = take_word(copy->rule.layer, &at);
		copy->event.rule = &copy->rule;
	}
	return copy;
}

void aw_event_copy_free(struct aw_event_copy *copy)
{
	if (!copy)
		return;
	free(copy->argv);
	free(copy->bytes);
	free(copy);
}
