/* SPDX-License-Identifier: Apache-2.0 */
/*
 * import.h - other tools' settings, read once and written as a policy of ours.
 *
 * A reader goes through the foreign file and puts what it finds under the keys of our
 * language; what has no equivalent is noted with its place.  Nothing is guessed: a
 * setting is put, noted, or known to be no matter of policy.  Formats are those of
 * Mitto, picoclaw, Miclaw, podbot, Anthropic's sandbox-runtime (srt), Claude Code's and
 * Codex's own settings, and firejail(1) profiles.
 */
#ifndef AW_SUPERVISOR_IMPORT_IMPORT_H
#define AW_SUPERVISOR_IMPORT_IMPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "policy/error.h"
#include "policy/load/load_tree.h"
#include "supervisor/cli/options.h"

/* In the order in which they are written; build.c has their names. */
enum aw_import_key {
	AW_IMPORT_MODE,
	AW_IMPORT_BASE,
	AW_IMPORT_RUNNER,
	AW_IMPORT_PRESET,
	AW_IMPORT_FILES_DEFAULT,
	AW_IMPORT_READ,
	AW_IMPORT_WRITE,
	AW_IMPORT_DENY_WHOLE, /* the same list: directories, then what is spared of them
			       */
	AW_IMPORT_DENY_SPARED,
	AW_IMPORT_DENY,
	AW_IMPORT_DENY_WRITE,
	AW_IMPORT_ASK,
	AW_IMPORT_EXPOSE, /* a map in YAML's flow style */
	AW_IMPORT_EXEC_DEFAULT,
	AW_IMPORT_EXEC_DENY,
	AW_IMPORT_EXEC_ASK,
	AW_IMPORT_NET_DEFAULT,
	AW_IMPORT_NET_ALLOW,
	AW_IMPORT_NET_DENY,
	AW_IMPORT_NET_LISTEN,
	AW_IMPORT_INHERIT,
	AW_IMPORT_INHERIT_ONLY, /* the same key as a list */
	AW_IMPORT_UNSET,
	AW_IMPORT_SET, /* "NAME=value" */
	AW_IMPORT_REDIRECT_HOME,
	AW_IMPORT_MEMORY,
	AW_IMPORT_CPUS,
	AW_IMPORT_PROCESSES,
	AW_IMPORT_TIME,
	AW_IMPORT_OPEN_FILES,
	AW_IMPORT_FILE_SIZE,
	AW_IMPORT_KEYS
};

struct aw_import_entry;
struct aw_import_note;

/* What was found so far. */
struct aw_import {
	const char *format;	  /* for the first line of what is written */
	const char *file;	  /* that is being read; borrowed until the end */
	const char *agent, *type; /* what was asked for, or NULL */
	struct aw_import_entry *entries; /* owned */
	size_t entry_count;
	struct aw_import_note *notes; /* owned */
	size_t note_count;
	char **included; /* owned: names that entries and notes point to */
	size_t included_count;
	size_t others; /* settings that are no matter of policy */
	bool failed;   /* out of memory */
};

/*
 * One value.  In a list a double keeps its last place; a scalar is overwritten.  at is
 * where it stood; NULL: it follows from what stood elsewhere.
 */
void aw_import_put(struct aw_import *import, enum aw_import_key key,
	const struct aw_node *at, const char *text);
void aw_import_putf(struct aw_import *import, enum aw_import_key key,
	const struct aw_node *at, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
bool aw_import_has(const struct aw_import *import, enum aw_import_key key);

/* All has been read: what these settings mean where they say nothing. */
void aw_import_complete(struct aw_import *import);

/* A sentence about what has no equivalent here. */
void aw_import_note(struct aw_import *import, const struct aw_node *at, const char *fmt,
	...) __attribute__((format(printf, 3, 4)));

/* The policy, with the notes as comments behind it; and the notes alone. */
void aw_import_print(const struct aw_import *import, FILE *out);
void aw_import_say_notes(const struct aw_import *import);
void aw_import_release(struct aw_import *import);

/*
 * A path of theirs as a pattern of ours: "~" and "$HOME" are understood by both,
 * relative ones start at the workspace, a dollar sign of a file's name is escaped.
 */
void aw_import_path(struct aw_import *import, enum aw_import_key key,
	const struct aw_node *at, const char *text);

/* walk.c: foreign maps whose keys are known. */
struct aw_foreign {
	const char *name;
	void (*read)(
		struct aw_import *import, const struct aw_node *value, int argument);
	int argument;
	const char
		*lacks; /* instead of read: why there is no equivalent; "": not asked */
};

/* Keys end with no name.  Of a map where strict is false unknown keys are no policy. */
void aw_foreign_read(struct aw_import *import, const struct aw_node *map,
	const char *section, bool strict, const struct aw_foreign *keys);
/* The value of a key, or NULL. */
const struct aw_node *aw_foreign_get(const struct aw_node *map, const char *key);
/* The text of a key's value, or NULL. */
const char *aw_foreign_text(const struct aw_node *map, const char *key);
/* True for the text "true"; anything but "true" and "false" is noted. */
bool aw_foreign_true(struct aw_import *import, const struct aw_node *value);
/* Readers: texts of a list go under the key that is the argument, as they are or as
 * paths. */
void aw_foreign_texts(struct aw_import *import, const struct aw_node *value, int key);
void aw_foreign_paths(struct aw_import *import, const struct aw_node *value, int key);
/* environment.set from a map of texts. */
void aw_foreign_settings(
	struct aw_import *import, const struct aw_node *value, int argument);

/*
 * toml.c: TOML 1.0 as a tree like that of load_tree.h; dates and numbers are texts.
 * 0, or -1 with the reason.
 */
int aw_toml_read(
	struct aw_tree *ret, const char *bytes, size_t len, struct aw_tree_error *err);

/* What the system's programs need, for those who name all that may be read. */
void aw_import_system(struct aw_import *import, const struct aw_node *at);

/* One file that was read. */
struct aw_import_document {
	const char *file;
	struct aw_tree tree;
};

/*
 * One format: documents are its files as trees, in the order given; firejail reads its
 * lines itself.  0, or -1 with a sentence.
 */
struct aw_import_format {
	const char *name;
	bool toml;
	size_t files_max;
	int (*read)(struct aw_import *import,
		const struct aw_import_document *documents, size_t count,
		struct aw_error *err);
	int (*read_text)(
		struct aw_import *import, const char *text, struct aw_error *err);
};

int aw_import_mitto(struct aw_import *import,
	const struct aw_import_document *documents, size_t count, struct aw_error *err);
int aw_import_picoclaw(struct aw_import *import,
	const struct aw_import_document *documents, size_t count, struct aw_error *err);
int aw_import_miclaw(struct aw_import *import,
	const struct aw_import_document *documents, size_t count, struct aw_error *err);
int aw_import_podbot(struct aw_import *import,
	const struct aw_import_document *documents, size_t count, struct aw_error *err);
int aw_import_srt(struct aw_import *import, const struct aw_import_document *documents,
	size_t count, struct aw_error *err);
int aw_import_claude(struct aw_import *import,
	const struct aw_import_document *documents, size_t count, struct aw_error *err);
int aw_import_codex(struct aw_import *import,
	const struct aw_import_document *documents, size_t count, struct aw_error *err);
int aw_import_firejail(
	struct aw_import *import, const char *text, struct aw_error *err);

/* srt.c: its two sections, which Claude Code's settings have too. */
void aw_srt_network(
	struct aw_import *import, const struct aw_node *value, int argument);
void aw_srt_files(struct aw_import *import, const struct aw_node *value, int argument);

/* Read a whole file of at most 1 MiB, terminated and owned by the caller; NULL: err. */
char *aw_import_read_file(const char *path, size_t *ret_len, struct aw_error *err);

#endif
