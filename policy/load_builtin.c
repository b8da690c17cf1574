/* SPDX-License-Identifier: Apache-2.0 */
/* load_builtin.c - what holds without a word in any file. */
#include <stdlib.h>
#include <string.h>

#include "policy/load_internal.h"

/*
 * Hardly a program works without these, so a default that is stricter than "allow" does
 * not take them away.  A deny does: it comes before write.
 */
static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full",
	"/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm",
	"/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/proc/self",
	"/proc/thread-self", "/proc/*/comm", "/proc/*/task/*/comm",
	"/proc/*/oom_score_adj", "/proc/*/coredump_filter", NULL};

static void add(struct aw_loader *l, enum aw_stratum stratum, const char *text,
	const char *variable, unsigned line)
{
	static const struct aw_policy_source built_in = {
		"built-in", "built-in", AW_TRUSTED};
	const struct aw_node at = {
		.kind = AW_NODE_TEXT, .line = line, .column = 1, .text = (char *)text};
	const struct aw_policy_source *source = l->source;
	struct aw_draft_entry *entry;

	if (!variable || variable[0] != '/')
		return;
	l->source = &built_in;
	entry = aw_draft_add(&l->draft);
	if (entry) {
		entry->stratum = stratum;
		entry->list = AW_LIST_WRITE;
		entry->file = entry->layer = "built-in";
		entry->line = line;
		entry->text = aw_copy(l, text);
		entry->pattern = aw_pattern_read(l, &at, text);
		if (!entry->text)
			l->draft.count--;
	}
	l->source = source;
}

/* A folder of the command's own, whatever signs its name has. */
static void add_folder(struct aw_loader *l, const char *folder)
{
	char text[2 * 4096];
	size_t to = 0;
	int s;

	for (; *folder && to < sizeof(text) - 2; folder++) {
		if (strchr("*?[]\\$", *folder))
			text[to++] = '\\';
		text[to++] = *folder;
	}
	text[to] = '\0';
	for (s = 0; s < AW_STRATA; s++)
		add(l, (enum aw_stratum)s, text, "/", 1);
}

/*
 * Built-in entries stand in front of what files say, so that "!" can take them out; an
 * entry's place in its list is its place in the draft.
 */
static void to_front(struct aw_draft *draft, size_t added)
{
	size_t rest = draft->count - added;
	struct aw_draft_entry *copy;

	if (!added || !rest)
		return;
	copy = malloc(added * sizeof(*copy));
	if (!copy) {
		draft->failed = true;
		return;
	}
	memcpy(copy, draft->entries + rest, added * sizeof(*copy));
	memmove(draft->entries + added, draft->entries, rest * sizeof(*copy));
	memcpy(draft->entries, copy, added * sizeof(*copy));
	free(copy);
}

void aw_builtin_add(struct aw_loader *l)
{
	struct aw_image_stratum *trusted = &l->draft.strata[AW_STRATUM_TRUSTED];
	size_t before = l->draft.count, i;
	unsigned line = 1;
	int s;

	if (l->policy.mode == AW_ENFORCE && !l->rules_named) {
		trusted->files = AW_DEFAULT_READ_ONLY;
		add(l, AW_STRATUM_TRUSTED, "$WORKSPACE", l->variables->workspace,
			line++);
		add(l, AW_STRATUM_TRUSTED, "$TMPDIR", l->variables->tmpdir, line++);
	}
	for (s = 0; s < AW_STRATA; s++)
		if (l->draft.strata[s].files != AW_DEFAULT_ALLOW)
			for (i = 0; devices[i]; i++)
				add(l, (enum aw_stratum)s, devices[i], "/",
					(unsigned)i + 3);
	if (l->variables->instance)
		add_folder(l, l->variables->instance);
	to_front(&l->draft, l->draft.count - before);
}
