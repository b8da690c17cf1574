/* SPDX-License-Identifier: Apache-2.0 */
/* diff.c - what a learnt policy gives and takes, against the one that counts now. */
#include "supervisor/learn/diff.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/learn/memory.h"
#include "supervisor/util/cleanup.h"

/* The entries of a policy, each with the key that it stands under; sorted. */
struct entries {
	char **items; /* owned */
	size_t count;
};

static void add(struct entries *entries, char *text)
{
	entries->items = aw_learn_grow(
		entries->items, (entries->count + 1) * sizeof(*entries->items));
	entries->items[entries->count++] = text;
}

static void release(struct entries *entries)
{
	while (entries->count > 0)
		free(entries->items[--entries->count]);
	free(entries->items);
}

/* Without the origin at the end, and with one spelling for the home directory. */
static char *entry_text(const char *section, const char *list, const char *value)
{
	const char *origin = strstr(value, "  # ");
	int len = (int)(origin ? (size_t)(origin - value) : strcspn(value, "\n"));
	const char *dot = list[0] ? "." : "", *home = "";

	if (strncmp(value, "\"~/", 3) == 0) {
		value += 2;
		len -= 2;
		home = "\"$HOME";
	} else if (strncmp(value, "\"!~/", 4) == 0) {
		value += 3;
		len -= 3;
		home = "\"!$HOME";
	}
	return aw_learn_text("%s%s%s: %s%.*s", section, dot, list, home, len, value);
}

/* "key:" or "key: value" behind its indent; *ret_value is "" for a key alone. */
static void read_key(const char *line, char *key, size_t size, const char **ret_value)
{
	size_t len = strcspn(line, ":\n");

	snprintf(key, size, "%.*s", (int)len, line);
	*ret_value = line[len] == ':' ? line + len + 1 : "";
	while (**ret_value == ' ')
		(*ret_value)++;
}

/* The lines of aw_policy_print(): sections, keys in them, entries of lists. */
static void read_page(char *page, struct entries *entries)
{
	char section[64] = "", list[64] = "", *line, *rest = page;
	const char *value;

	while ((line = strsep(&rest, "\n"))) {
		if (!*line || line[0] == '#' || strcmp(line, "---") == 0)
			continue;
		if (strncmp(line, "    - ", 6) == 0) {
			add(entries, entry_text(section, list, line + 6));
			continue;
		}
		if (line[0] != ' ') {
			read_key(line, section, sizeof(section), &value);
			list[0] = '\0';
		} else {
			read_key(line + strspn(line, " "), list, sizeof(list), &value);
		}
		if (*value && strcmp(section, "version") != 0)
			add(entries, entry_text(section, list, value));
	}
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void read_policy(const struct aw_policy *policy, struct entries *entries)
{
	AW_FREE char *page = NULL;
	size_t size;
	FILE *out = open_memstream(&page, &size);

	if (!out)
		aw_learn_no_memory();
	aw_policy_print(policy, out);
	if (fclose(out) != 0)
		aw_learn_no_memory();
	read_page(page, entries);
	if (entries->count)
		qsort(entries->items, entries->count, sizeof(char *), by_text);
}

size_t aw_policy_diff(
	const struct aw_policy *present, const struct aw_policy *learnt, FILE *out)
{
	struct entries old = {0}, new = {0};
	size_t i = 0, j = 0, lines = 0;

	read_policy(present, &old);
	read_policy(learnt, &new);
	while (i < old.count || j < new.count) {
		int order = i == old.count   ? 1
			    : j == new.count ? -1
					     : strcmp(old.items[i], new.items[j]);

		if (order)
			lines++;
		if (order < 0)
			fprintf(out, "- %s\n", old.items[i]);
		else if (order > 0)
			fprintf(out, "+ %s\n", new.items[j]);
		i += order <= 0;
		j += order >= 0;
	}
	release(&old);
	release(&new);
	return lines;
}
