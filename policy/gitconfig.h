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
#ifndef AW_POLICY_GITCONFIG_H
#define AW_POLICY_GITCONFIG_H

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

	/* "section.subsection.key": section and key in small letters; terminated, but a
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

/*
 * May git, or another tool, run a program because of this key with this value (NULL:
 * without one), or write to a file that the value names?  True for every key that is
 * not known to be harmless.
 */
bool aw_gitconfig_runs(const char *name, size_t len, const char *value);

/* gitconfig_alias.c: may an alias with this value do so? */
bool aw_gitconfig_alias_runs(const char *value);

/* Is the word in a list of words with one space between them? */
bool aw_gitconfig_lists(const char *list, const char *word, size_t len);

/* Does the key bring in another file? */
bool aw_gitconfig_includes(const char *name, size_t len);

/* What is wrong with a text. */
struct aw_gitconfig_finding {
	unsigned line;
	char what[256]; /* the key; or a phrase when the text cannot be judged */
};

/* Where a text will stand, and what may be written there anyway. */
struct aw_gitconfig_place {
	const char *file; /* absolute */
	bool (*may_write)(void *ctx, const char *path, size_t len);
	void *ctx;
};

/*
 * May `text` take the place of `before` (NULL: there was nothing)?  True when each key
 * in it that runs a program was there with that same value.  Else false and *ret: the
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
