/* SPDX-License-Identifier: Apache-2.0 */
/* build.c - what was found in foreign settings, and how it is written. */
#include "policy/array.h"
#include "supervisor/import/import.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/cli/say.h"
#include "supervisor/util/cleanup.h"

enum shape { SCALAR, LIST, RAW_LIST, SETTINGS };

static const struct {
	const char *section; /* NULL: at the top */
	const char *name;
	enum shape shape;
} keys[AW_IMPORT_KEYS] = {
	[AW_IMPORT_MODE] = {NULL, "mode", SCALAR},
	[AW_IMPORT_BASE] = {NULL, "base", SCALAR},
	[AW_IMPORT_RUNNER] = {NULL, "runner", SCALAR},
	[AW_IMPORT_PRESET] = {NULL, "preset", LIST},
	[AW_IMPORT_FILES_DEFAULT] = {"filesystem", "default", SCALAR},
	[AW_IMPORT_READ] = {"filesystem", "read", LIST},
	[AW_IMPORT_WRITE] = {"filesystem", "write", LIST},
	[AW_IMPORT_DENY_WHOLE] = {"filesystem", "deny", LIST},
	[AW_IMPORT_DENY_SPARED] = {"filesystem", "deny", LIST},
	[AW_IMPORT_DENY] = {"filesystem", "deny", LIST},
	[AW_IMPORT_DENY_WRITE] = {"filesystem", "deny_write", LIST},
	[AW_IMPORT_ASK] = {"filesystem", "ask", LIST},
	[AW_IMPORT_EXPOSE] = {"filesystem", "expose", RAW_LIST},
	[AW_IMPORT_EXEC_DEFAULT] = {"exec", "default", SCALAR},
	[AW_IMPORT_EXEC_DENY] = {"exec", "deny", LIST},
	[AW_IMPORT_EXEC_ASK] = {"exec", "ask", LIST},
	[AW_IMPORT_NET_DEFAULT] = {"network", "default", SCALAR},
	[AW_IMPORT_NET_ALLOW] = {"network", "allow", LIST},
	[AW_IMPORT_NET_DENY] = {"network", "deny", LIST},
	[AW_IMPORT_NET_LISTEN] = {"network", "listen", LIST},
	[AW_IMPORT_INHERIT] = {"environment", "inherit", SCALAR},
	[AW_IMPORT_INHERIT_ONLY] = {"environment", "inherit", LIST},
	[AW_IMPORT_UNSET] = {"environment", "unset", LIST},
	[AW_IMPORT_SET] = {"environment", "set", SETTINGS},
	[AW_IMPORT_REDIRECT_HOME] = {"environment", "redirect_home", SCALAR},
	[AW_IMPORT_MEMORY] = {"limits", "memory", SCALAR},
	[AW_IMPORT_CPUS] = {"limits", "cpus", SCALAR},
	[AW_IMPORT_PROCESSES] = {"limits", "processes", SCALAR},
	[AW_IMPORT_TIME] = {"limits", "time", SCALAR},
	[AW_IMPORT_OPEN_FILES] = {"limits", "open_files", SCALAR},
	[AW_IMPORT_FILE_SIZE] = {"limits", "file_size", SCALAR},
};

struct aw_import_entry {
	enum aw_import_key key;
	char *text; /* owned */
	const char *file;
	unsigned line; /* 0: it follows from something else */
};

struct aw_import_note {
	char *text; /* owned; "FILE:LINE:COLUMN: sentence" */
};

static struct aw_import_entry *find(
	const struct aw_import *import, enum aw_import_key key, const char *text)
{
	for (size_t i = 0; i < import->entry_count; i++)
		if (import->entries[i].key == key &&
			(!text || strcmp(import->entries[i].text, text) == 0))
			return &import->entries[i];
	return NULL;
}

bool aw_import_has(const struct aw_import *import, enum aw_import_key key)
{
	return find(import, key, NULL) != NULL;
}

static struct aw_import_entry *add(struct aw_import *import)
{
	struct aw_import_entry *entries = reallocarray(
		import->entries, import->entry_count + 1, sizeof(*entries));

	import->failed |= !entries;
	if (!entries)
		return NULL;
	import->entries = entries;
	entries[import->entry_count] = (struct aw_import_entry){0};
	return &entries[import->entry_count++];
}

static void take_out(struct aw_import *import, struct aw_import_entry *entry)
{
	size_t behind = (size_t)(import->entries + import->entry_count - entry - 1);

	free(entry->text);
	memmove(entry, entry + 1, behind * sizeof(*entry));
	import->entry_count--;
}

void aw_import_put(struct aw_import *import, enum aw_import_key key,
	const struct aw_node *at, const char *text)
{
	bool scalar = keys[key].shape == SCALAR;
	struct aw_import_entry *entry = find(import, key, scalar ? NULL : text);
	AW_FREE char *copy = strdup(text);

	if (copy && entry && !scalar)
		take_out(import, entry);
	if (copy && (!entry || !scalar))
		entry = add(import);
	if (!copy || !entry) {
		import->failed = true;
		return;
	}
	free(entry->text);
	*entry = (struct aw_import_entry){
		key, aw_take_ptr(&copy), import->file, at ? at->line : 0};
}

void aw_import_putf(struct aw_import *import, enum aw_import_key key,
	const struct aw_node *at, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	if (text)
		aw_import_put(import, key, at, text);
	else
		import->failed = true;
	free(text);
}

void aw_import_note(
	struct aw_import *import, const struct aw_node *at, const char *fmt, ...)
{
	struct aw_import_note *notes =
		reallocarray(import->notes, import->note_count + 1, sizeof(*notes));
	char sentence[512], *text = NULL;
	va_list args;

	import->failed |= !notes;
	if (!notes)
		return;
	import->notes = notes;
	va_start(args, fmt);
	vsnprintf(sentence, sizeof(sentence), fmt, args);
	va_end(args);
	if (asprintf(&text, "%s:%u:%u: %s", import->file, at->line, at->column,
		    sentence) < 0) {
		import->failed = true;
		return;
	}
	notes[import->note_count++].text = text;
}

/* A scalar of YAML in double quotes, or bare when nothing in it means anything. */
static void print_text(const char *text, FILE *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	static const char *const words[] = {
		"yes", "no", "on", "off", "y", "n", "null", "true", "false"};
	bool bare = text[0] && !text[strspn(text, plain)] && text[0] != '-' &&
		    !strchr("0123456789", text[0]);

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		bare = bare && strcasecmp(words[i], text) != 0;
	if (bare) {
		fputs(text, out);
		return;
	}
	putc('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			fprintf(out, "\\x%02x", c);
		else
			putc(c, out);
	}
	putc('"', out);
}

static void print_place(const struct aw_import_entry *entry, FILE *out)
{
	if (entry->line)
		fprintf(out, "  # %s:%u", entry->file, entry->line);
	putc('\n', out);
}

static void print_entry(const struct aw_import_entry *entry, FILE *out)
{
	const char *equals;

	switch (keys[entry->key].shape) {
	case SCALAR: /* numbers and words, made by us */
		fprintf(out, " %s", entry->text);
		break;
	case LIST:
		fputs("    - ", out);
		print_text(entry->text, out);
		break;
	case RAW_LIST:
		fprintf(out, "    - %s", entry->text);
		break;
	case SETTINGS:
		equals = strchr(entry->text, '=');
		fprintf(out, "    %.*s: ", (int)(equals - entry->text), entry->text);
		print_text(equals + 1, out);
		break;
	}
	print_place(entry, out);
}

static void print_entries(
	const struct aw_import *import, enum aw_import_key key, FILE *out)
{
	for (size_t i = 0; i < import->entry_count; i++)
		if (import->entries[i].key == key)
			print_entry(&import->entries[i], out);
}

/* Part of a list whose first part is written already. */
static bool goes_on(const struct aw_import *import, enum aw_import_key key)
{
	return (key == AW_IMPORT_DENY || key == AW_IMPORT_DENY_SPARED) &&
	       aw_import_has(import, AW_IMPORT_DENY_WHOLE);
}

static void print_key(const struct aw_import *import, enum aw_import_key key,
	const char **section, FILE *out)
{
	const char *indent = keys[key].section ? "  " : "";

	if (!aw_import_has(import, key) ||
		(key == AW_IMPORT_INHERIT &&
			aw_import_has(import, AW_IMPORT_INHERIT_ONLY)))
		return;
	if (goes_on(import, key)) {
		print_entries(import, key, out);
		return;
	}
	if (keys[key].section && keys[key].section != *section)
		fprintf(out, "%s:\n", keys[key].section);
	*section = keys[key].section;
	fprintf(out, "%s%s:%s", indent, keys[key].name,
		keys[key].shape == SCALAR ? "" : "\n");
	print_entries(import, key, out);
}

static bool says(
	const struct aw_import *import, enum aw_import_key key, const char *word)
{
	return find(import, key, word) != NULL;
}

void aw_import_complete(struct aw_import *import)
{
	import->file = NULL;
	/* a tool that admits what it does not mention */
	if (!aw_import_has(import, AW_IMPORT_FILES_DEFAULT) ||
		says(import, AW_IMPORT_FILES_DEFAULT, "allow")) {
		aw_import_put(import, AW_IMPORT_BASE, NULL, "open");
		if (says(import, AW_IMPORT_MODE, "enforce") &&
			!aw_import_has(import, AW_IMPORT_RUNNER))
			aw_import_put(import, AW_IMPORT_RUNNER, NULL, "bwrap");
		return;
	}
	if (!says(import, AW_IMPORT_WRITE, "$WORKSPACE"))
		aw_import_put(import, AW_IMPORT_BASE, NULL, "read-only");
	/* beside an agent's preset its keys are kept and others' are not */
	if (aw_import_has(import, AW_IMPORT_PRESET))
		return;
	if (!aw_import_has(import, AW_IMPORT_NET_DEFAULT))
		aw_import_put(import, AW_IMPORT_NET_DEFAULT, NULL, "allow");
	if (!aw_import_has(import, AW_IMPORT_INHERIT) &&
		!aw_import_has(import, AW_IMPORT_INHERIT_ONLY))
		aw_import_put(import, AW_IMPORT_INHERIT, NULL, "all");
}

void aw_import_print(const struct aw_import *import, FILE *out)
{
	const char *section = NULL;

	fprintf(out, "# made from settings of %s by agentwatch policy import\n",
		import->format);
	fputs("version: 1\n", out);
	for (int key = 0; key < AW_IMPORT_KEYS; key++)
		print_key(import, (enum aw_import_key)key, &section, out);
	if (import->note_count)
		fputs("\n# Without an equivalent here:\n", out);
	for (size_t i = 0; i < import->note_count; i++) {
		char *shown =
			aw_shown(import->notes[i].text, strlen(import->notes[i].text));

		fprintf(out, "#   %s\n", shown ? shown : "");
		free(shown);
	}
}

void aw_import_say_notes(const struct aw_import *import)
{
	for (size_t i = 0; i < import->note_count; i++)
		aw_say("%s", import->notes[i].text);
	if (import->others)
		aw_say("%zu setting%s that %s no matter of policy left out",
			import->others, import->others == 1 ? "" : "s",
			import->others == 1 ? "is" : "are");
}

void aw_import_release(struct aw_import *import)
{
	while (import->entry_count > 0)
		free(import->entries[--import->entry_count].text);
	while (import->note_count > 0)
		free(import->notes[--import->note_count].text);
	while (import->included_count > 0)
		free(import->included[--import->included_count]);
	free(import->included);
	free(import->entries);
	free(import->notes);
	import->entries = NULL;
	import->notes = NULL;
}

void aw_import_path(struct aw_import *import, enum aw_import_key key,
	const struct aw_node *at, const char *text)
{
	static const char *const known[] = {"$WORKSPACE", "${WORKSPACE}", "$HOME",
		"${HOME}", "$USER", "${USER}", "$TMPDIR", "${TMPDIR}",
		"$AGENTWATCH_DIR", "$env:"};
	bool negated = text[0] == '!';
	char *out = malloc(2 * strlen(text) + 32), *to = out;

	if (!out) {
		import->failed = true;
		return;
	}
	if (negated)
		*to++ = *text++;
	if (strncmp(text, "./", 2) == 0)
		text += 2 + strspn(text + 2, "/");
	if (strcmp(text, ".") == 0 || !*text) {
		to = stpcpy(to, "$WORKSPACE");
		text = "";
	} else if (text[0] != '/' && text[0] != '~' && text[0] != '$' &&
		   strncmp(text, "**", 2) != 0) {
		to = stpcpy(to, "$WORKSPACE/");
	}
	for (; *text; text++) {
		bool variable = false;

		for (size_t i = 0; i < ARRAY_SIZE(known); i++)
			variable |= strncmp(text, known[i], strlen(known[i])) == 0;
		if (*text == '$' && !variable)
			*to++ = '\\';
		*to++ = *text;
	}
	while (to > out + 1 && to[-1] == '/')
		to--;
	*to = '\0';
	aw_import_put(import, key, at, out);
	free(out);
}

void aw_import_system(struct aw_import *import, const struct aw_node *at)
{
	static const char *const folders[] = {"/usr", "/bin", "/sbin", "/lib", "/lib64",
		"/etc", "/opt", "/proc", "/sys", "/dev"};
	static const char *const files[] = {"/dev/null", "/dev/zero", "/dev/full",
		"/dev/tty", "/dev/pts", "/dev/ptmx", "/dev/shm", "/proc/self"};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		aw_import_put(import, AW_IMPORT_READ, at, folders[i]);
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		aw_import_put(import, AW_IMPORT_WRITE, at, files[i]);
}
