/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - from policy files to a compiled image.
 *
 * The one user of libyaml; linked into the supervisor and tests only.  It allocates and
 * reads files; nothing here is used by the shim.
 */
#ifndef AW_POLICY_LOAD_H
#define AW_POLICY_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "policy/error.h"
#include "policy/image.h"

/* How far a file is believed; policy.md, Meaning 3 and 4. */
enum aw_trust {
	AW_TRUSTED,   /* merged with the trusted layers below it */
	AW_SYSTEM,    /* trusted, and always intersected with the rest */
	AW_UNTRUSTED, /* intersected: it can only tighten; loosening keys are warnings
		       */
};

struct aw_policy_source {
	const char *file;  /* path to read, also the name in messages */
	const char *layer; /* "system", "global", "workspace", "policy", ... */
	enum aw_trust trust;
};

/* Values for $WORKSPACE and friends; NULL means unknown, its use is an error. */
struct aw_policy_variables {
	const char *workspace, *home, *user, *tmpdir, *agentwatch_dir;
	const char *instance; /* no variable: a folder that may be written to */
	/* what the loader finds no other way, or NULL */
	const char *presets; /* folder of the presets that ship with agentwatch */
	const char *command; /* the command's name, which may pick a preset */
	const char *state_dir, *runtime_dir, *log; /* agentwatch's own, protected */
	const char *git_dir;	  /* where a linked worktree's repository is */
	const char *account_home; /* the account's, where $HOME is another one */
	/* what this policy takes the place of, or NULL: a profile keeps its number */
	const struct aw_policy *before;
};

/* One mistake or warning: "file:line:column: text". */
struct aw_diagnostic {
	char *file; /* owned */
	unsigned line, column;
	char *text; /* owned; one sentence, hint included */
	bool warning;
};

struct aw_diagnostics {
	struct aw_diagnostic *items; /* owned */
	size_t count, errors;
};

/* One `filesystem.expose` entry, resolved. */
struct aw_exposed {
	char *source, *target; /* owned; absolute */
	bool write;
	unsigned line;
};

/* The `limits` section; 0 where nothing is said. */
struct aw_limits {
	uint64_t memory;     /* bytes, of all processes together */
	double cpus;	     /* processors, of all processes together */
	uint64_t processes;  /* at the same time */
	uint64_t time;	     /* seconds from the start */
	uint64_t open_files; /* a process */
	uint64_t file_size;  /* bytes, a file */
};

/* One `environment.set` entry. */
struct aw_setting {
	char *name, *value; /* owned */
};

/* One profile, by the number of its bit in policy/image.h. */
struct aw_policy_profile {
	char *name;	     /* owned */
	enum aw_trust trust; /* of the files that it comes from */
};

struct aw_origin; /* private to the loader */

/* The resolved policy. All strings owned. */
struct aw_policy {
	enum aw_mode mode;
	bool mode_set;		 /* some file named a mode */
	char *runner;		 /* as written, or NULL */
	char *engine;		 /* "auto", ..., or NULL */
	char *verdicts;		 /* "local", "ask", or NULL */
	char *on_missing_runner; /* or NULL */
	struct {
		bool inherit_all; /* "all", the default */
		char **inherit;	  /* names and globs when !inherit_all */
		size_t inherit_count;
		char **unset; /* "!" in front lets a variable through */
		size_t unset_count;
		char **always_unset; /* the same, of files that others cannot loosen */
		size_t always_unset_count;
		struct aw_setting *set;
		size_t set_count;
	} environment;
	struct aw_exposed *exposed; /* one a target */
	size_t exposed_count;
	bool redirect_home;
	struct aw_limits limits;
	struct aw_policy_profile profiles[AW_PROFILES];
	unsigned profile_count;
	unsigned unprotected; /* protections that are off; aw_policy_print() has names
			       */
	char *picked; /* the preset that the command's name has chosen, or NULL */
	void *image;  /* compiled, image_size bytes, malloc'd */
	size_t image_size;
	struct aw_origin *origins; /* where values came from, for aw_policy_print() */
};

/*
 * Load sources in order (lowest layer first; there may be none), resolve variables,
 * merge or intersect, compile.  mode is the mode to compile in when no file says
 * otherwise; flags win: force_mode true makes it final.
 * Every problem goes to *diagnostics (caller frees), errors and warnings alike; returns
 * 0 and fills *ret when there were no errors, else -1 and *ret is untouched.
 */
int aw_policy_load(const struct aw_policy_source *sources, size_t count,
	const struct aw_policy_variables *variables, enum aw_mode mode, bool force_mode,
	struct aw_policy *ret, struct aw_diagnostics *diagnostics);

/* Print all diagnostics, one "file:line:column: error|warning: text" a line. */
void aw_diagnostics_print(const struct aw_diagnostics *diagnostics, FILE *out);
void aw_diagnostics_free(struct aw_diagnostics *diagnostics);

/* Write the effective policy, entry by entry with its origin, for policy.txt. */
void aw_policy_print(const struct aw_policy *policy, FILE *out);

/* True when the environment section lets a variable of this name through. */
bool aw_policy_keeps_variable(const struct aw_policy *policy, const char *name);

/* Free what aw_policy_load() filled in, not the struct itself. */
void aw_policy_release(struct aw_policy *policy);

#endif
