/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gitconfig.h - git's configuration: reading its text, and which keys run programs.
 *
 * A repository's `config` is data to those who write it and a list of programs to those
 * who work in the repository later, outside.  So what a watched program makes of such a
 * file is read here as git itself reads it (git-config(1), SYNTAX; what is not said
 * there was looked up by asking git), and refused when a key that runs something is new
 * in it.  Pure functions over bytes: no I/O, no allocation, time is bounded by the
 * length.  Any number of threads may ask.
 */
#ifndef AW_POLICY_GIT_GITCONFIG_H
#define AW_POLICY_GIT_GITCONFIG_H

#include <stdbool.h>
#include <stddef.h>

/* Larger files are refused unread. */
#define AW_GITCONFIG_MAX (1024 * 1024)

/* Room that reading len bytes of text may need. */
#define AW_GITCONFIG_SCRATCH(len) (2 * ((len) + 8))

/* One file while it is read; after aw_gitconfig_next() one entry of it. */
struct aw_gitconfig {
	const char *text; /* borrowed */
	size_t len, at;
	unsigned now; /* the line that is being read */
	bool eof;
	bool has_nul; /* where git takes a value to end there, we take nothing */
	size_t stem;  /* length of "section.subsection." in name */
	size_t key;   /* where the key stands in the text */

	/* "section.subsection.key": section and key in lower case; terminated, but a
	 * subsection may hold any byte except NUL */
	char *name;
	size_t name_len;
	char *value; /* terminated; meaningless unless has_value */
	size_t value_len;
	bool has_value; /* a key alone, without "=", has none */
	unsigned line;	/* where the entry stands, or the mistake; from 1 */
};

/* scratch: AW_GITCONFIG_SCRATCH(len) bytes, which must live as long as *ret. */
void aw_gitconfig_open(
	struct aw_gitconfig *ret, const char *text, size_t len, char *scratch);

/* 1: the next entry; 0: the end; -1: git would give up here, see `line`. */
int aw_gitconfig_next(struct aw_gitconfig *c);

/* What a key may lead to, which is why it is refused. */
enum aw_gitconfig_effect {
	AW_GITCONFIG_NOTHING,
	AW_GITCONFIG_RUNS,    /* a program */
	AW_GITCONFIG_SENDS,   /* fetches, pushes, mail or credentials, elsewhere */
	AW_GITCONFIG_WEAKENS, /* a check of git's or its user's */
	AW_GITCONFIG_REACHES, /* files elsewhere */
	AW_GITCONFIG_UNKNOWN  /* it is not known to be harmless */
};

/* Of a key with this value (NULL: without one). */
enum aw_gitconfig_effect aw_gitconfig_effect(
	const char *name, size_t len, const char *value);

/* gitconfig_values.c: which values of a key count (gitconfig.def). */
enum aw_gitconfig_when {
	AW_GITCONFIG_ALWAYS,
	AW_GITCONFIG_PROGRAM,
	AW_GITCONFIG_FILLED,
	AW_GITCONFIG_OFF,
	AW_GITCONFIG_ALIAS,
	AW_GITCONFIG_BANG,
	AW_GITCONFIG_INSIDE,
	AW_GITCONFIG_HELPER,
	AW_GITCONFIG_ADDRESS,
	AW_GITCONFIG_NAMED,
	AW_GITCONFIG_OUTSIDE,
	AW_GITCONFIG_OPTIONS,
	AW_GITCONFIG_PROTOCOL
};

/* sub: what stands between section and key, sub_len bytes; NULL: nothing. */
bool aw_gitconfig_counts(enum aw_gitconfig_when when, const char *sub, size_t sub_len,
	const char *value);

/* Does git look for a program for this address, by the name of its transport? */
bool aw_gitconfig_needs_helper(const char *address);

/* gitconfig_alias.c: may an alias with this value run a program, or send elsewhere? */
bool aw_gitconfig_alias_runs(const char *value);

/* Is the word in a list of words with one space between them? */
bool aw_gitconfig_lists(const char *list, const char *word, size_t len);

/* Does the key bring in another file? */
bool aw_gitconfig_includes(const char *name, size_t len);

/* What is wrong with a text. */
struct aw_gitconfig_finding {
	unsigned line;
	char what[256]; /* the key as it is written; a phrase where nothing is judged */
	enum aw_gitconfig_effect effect; /* NOTHING with a phrase */
};

/* "core.sshCommand would run a program", or the phrase. */
void aw_gitconfig_say(
	const struct aw_gitconfig_finding *finding, char *to, size_t size);

/* Where a text will stand, and what may be written there anyway. */
struct aw_gitconfig_place {
	const char *file; /* absolute */
	bool (*may_write)(void *ctx, const char *path, size_t len);
	void *ctx;
};

/*
 * May `text` take the place of `before` (NULL: there was nothing)?  True when each key
 * in it that has an effect was there with that same value.  Else false and *ret: the
 * first that was not.  A text that git cannot read is refused whole.  place:
 * NULL where that is not known.  scratch:
 * AW_GITCONFIG_SCRATCH() of both lengths together.
 */
bool aw_gitconfig_may_replace(const char *text, size_t len, const char *before,
	size_t before_len, const struct aw_gitconfig_place *place, char *scratch,
	struct aw_gitconfig_finding *ret);

/*
 * Would core.worktree with this value in this configuration let git write outside of
 * the directory that the repository is in, and where it may not be written anyway?  A
 * checkout there makes any file.
 */
bool aw_gitconfig_strays(const struct aw_gitconfig_place *place, const char *worktree);

#endif
