/* SPDX-License-Identifier: Apache-2.0 */
/* load_exec.c - entries of exec lists: a path, a name, or name and arguments. */
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"

#define WORDS_MAX 64
#define NAME_LENGTH_MAX 255

/* Length of the word at text: up to a blank without a backslash. */
static size_t word_length(const char *text)
{
	size_t len = 0;

	while (text[len] && text[len] != ' ' && text[len] != '\t')
		len += text[len] == '\\' && text[len + 1] ? 2 : 1;
	return len;
}

static size_t word_count(const char *text)
{
	size_t count = 1;

	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		text += word_length(text);
		count++;
	}
	return count;
}

static bool is_path(const char *word)
{
	return strchr(word, '/') || word[0] == '~' || strcmp(word, "**") == 0;
}

static char *read_name(struct aw_loader *l, const struct aw_node *at, const char *word)
{
	char *name;

	if (is_path(word))
		return aw_pattern_read(l, at, word);
	name = aw_expand(l, at, word, AW_EXPAND_PATTERN);
	if (!name)
		return NULL;
	if (is_path(name)) {
		free(name);
		return aw_pattern_read(l, at, word);
	}
	if (strlen(name) > NAME_LENGTH_MAX) {
		aw_report(l, at, "a name of more than %d bytes", NAME_LENGTH_MAX);
	} else if (aw_glob_check(l, at, name, strlen(name))) {
		return name;
	}
	free(name);
	return NULL;
}

static char *read_word(
	struct aw_loader *l, const struct aw_node *at, const char *word, bool first)
{
	char *text;

	if (first)
		return read_name(l, at, word);
	text = aw_expand(l, at, word, AW_EXPAND_PATTERN);
	if (text && !aw_glob_check(l, at, text, strlen(text))) {
		free(text);
		return NULL;
	}
	return text;
}

static void read_words(struct aw_loader *l, const struct aw_node *at,
	struct aw_draft_entry *entry, const char *text)
{
	char *word, *copy;
	size_t len;

	for (text += strspn(text, " \t"); *text; text += strspn(text, " \t")) {
		if (entry->word_count == WORDS_MAX) {
			aw_report(l, at, "more than %d words", WORDS_MAX);
			return;
		}
		len = word_length(text);
		copy = aw_copy(l, text);
		if (!copy)
			return;
		copy[len] = '\0';
		word = read_word(l, at, copy, entry->word_count == 0);
		free(copy);
		if (!word)
			return;
		entry->words[entry->word_count++] = word;
		text += len;
	}
}

/* A path alone is found on the way through the path rules. */
static void keep_path(struct aw_draft_entry *entry)
{
	/* NOLINTNEXTLINE(clang-analyzer-core.*): words has word_count */
	if (entry->word_count != 1 || !strchr(entry->words[0], '/'))
		return;
	entry->pattern = entry->words[0];
	entry->word_count = 0;
}

void aw_exec_list_read(struct aw_loader *l, const struct aw_node *value, int list)
{
	struct aw_draft_entry *entry;
	const char *text;
	size_t i;

	if (!aw_list_check(l, value))
		return;
	for (i = 0; i < value->count; i++) {
		entry = aw_entry_add(l, value->items[i], (enum aw_list)list, &text);
		if (!entry)
			continue;
		entry->words = aw_new(l, word_count(text), sizeof(*entry->words));
		if (!entry->words)
			return;
		read_words(l, value->items[i], entry, text);
		keep_path(entry);
	}
}
