/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.h - from policy files to a compiled image.
 *
 * The one user of libyaml; linked into the supervisor and tests only.  It allocates and
 * reads files; nothing here is used by the shim.
 */
#ifndef AW_POLICY_LOAD_LOAD_H
#define AW_POLICY_LOAD_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "policy/error.h"
#include "policy/image/image.h"

/* How far a file is believed; policy.md, Meaning 3 and 4. */
enum aw_trust {
	AW_TRUSTED,   /* merged with the trusted layers below it */
	AW_SYSTEM,    /* trusted, and always intersected with the rest */
	AW_UNTRUSTED, /* intersected: it can only tighten; loosening keys are warnings
		       */
};

/* What lies below all files; docs/POLICY.md, The base. */
enum aw_base_kind { AW_BASE_WORKSPACE, AW_BASE_READ_ONLY, AW_BASE_OPEN };

struct aw_policy_source {
	const char *file;  /* path to read, also the name in messages */
	const char *layer; /* "system", "global", "workspace", "policy", ... */
	enum aw_trust trust;
};

/*
 * What is known of a file whose trust was judged before loading.  The bytes that were
 * judged are those that count: a file that changes in between is not looked at again.
 */
struct aw_policy_judged {
	const char *file;      /* as in its source; it may have none */
	const char *bytes;     /* what it holds; NULL: the loader reads it */
	size_t len;	       /* of bytes */
	const char *complaint; /* what is to be told about it, or NULL */
	bool fatal;	       /* in enforce the complaint is an error */
	const char *advice;    /* told when something in it is not trusted, or NULL */
};

/* Values for $WORKSPACE and friends; NULL means unknown, its use is an error. */
struct aw_policy_variables {
	const char *workspace, *home, *user, *tmpdir, *agentwatch_dir;
	const char *instance; /* no variable: a directory that may be written to */
	uint16_t proxy;	      /* the same: a port of 127.0.0.1, or 0 */
	/* what the loader finds no other way, or NULL */
	const char *presets; /* directory of the presets that ship with agentwatch */
	const char *command; /* the command's name, which may pick a preset */
	const char *state_dir, *runtime_dir, *log; /* agentwatch's own, protected */
	const char *programs[3];		   /* agentwatch's own, protected too */
	const char *git_dir;	  /* where a linked worktree's repository is */
	const char *account_home; /* the account's, where $HOME is another one */
	/* the runner and the base that flags or the environment name: they win over
	 * the files */
	const char *runner, *base;
	/* the runner where nobody names any; NULL: exec */
	const char *(*default_runner)(enum aw_mode mode, enum aw_base_kind base);
	const struct aw_policy_judged *judged; /* or NULL */
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
	char *source_text, *target_text; /* owned; as written */
	bool system;			 /* the system policy's */
};

/* The `limits` section; 0 where nothing is said. */
struct aw_limits {
	uint64_t memory;		 /* bytes, of all processes together */
	double cpus;			 /* processors, of all processes together */
	uint64_t processes;		 /* at the same time */
	uint64_t time;			 /* seconds from the start */
	uint64_t open_files;		 /* a process */
	uint64_t file_size;		 /* bytes, a file */
	uint64_t connections_per_minute; /* begun in any 60 seconds, of all together */
	uint64_t bytes_out; /* sent over connections to outside, of all together */
	uint64_t log_size;  /* bytes of the session's log */
};

/* Names and patterns of variables; all owned. */
struct aw_variable_names {
	char **items;
	size_t count;
};

/* What sets up a proxy of ours, and whether the command is told of it. */
enum aw_proxy { AW_PROXY_NONE, AW_PROXY_LISTEN, AW_PROXY_ENVIRONMENT };

/* One `network.forward` entry: a port inside that is reachable at one outside. */
struct aw_forward {
	unsigned char address[16]; /* listened on outside, IPv4 as ::ffff:a.b.c.d */
	uint16_t outside, inside;  /* ports; outside 0: whatever is free */
	char *text;		   /* owned; as written */
};

/* What `network` says besides its lists. */
struct aw_network {
	bool match_sni; /* the name in TLS or HTTP must be the one that is allowed */
	enum aw_proxy proxy;
	int refusal; /* errno of a denied connect: EACCES, or ECONNREFUSED */
	struct aw_forward *forwards; /* owned */
	size_t forward_count;
	struct aw_variable_names
		private_names; /* may lead to private addresses; patterns as in allow */
};

/* One `environment.set` entry. */
struct aw_setting {
	char *name, *value; /* owned */
	char *text;	    /* owned; the value as written */
	bool system;	    /* the system policy's, which no other changes */
};

/* Which variables one of the policies that are intersected lets through. */
struct aw_variable_rules {
	bool some; /* only those of `inherit`; else all */
	struct aw_variable_names inherit;
	struct aw_variable_names unset; /* "!" in front lets a variable through */
};

/* One entry of `tests`: for `policy test`; nothing else looks at it. */
struct aw_expectation {
	enum aw_action action;
	const char *word; /* of the action, as in the file */
	char *asked;	  /* owned; variables are expanded */
	char *text;	  /* owned; as written */
	enum aw_verdict expect;
	bool expects;	   /* ... is filled in */
	enum aw_mode mode; /* with mode_set: in this mode alone */
	bool mode_set;
	char *agent, *name; /* owned, or NULL */
	char *file;	    /* owned */
	unsigned line;
};

/* Where an entry of a list stands; for those who look for mistakes. */
struct aw_entry_place {
	uint32_t rule; /* in the image; of a double: that of the one that counts, or
			AW_NO_RULE */
	unsigned line, column;
	char *doubled, *file; /* owned: text and file of a double, else NULL */
};

/* One profile, by the number of its bit in policy/image/image.h. */
struct aw_policy_profile {
	char *name;	     /* owned */
	enum aw_trust trust; /* of the files that it comes from */
};

struct aw_origin; /* private to the loader */

/* The resolved policy. All strings owned. */
struct aw_policy {
	enum aw_mode mode;
	bool mode_set;		     /* some file named a mode */
	enum aw_base_kind base_kind; /* what flags, files and the default settle */
	bool base_replaced;	     /* its rules fell to a `merge: replace` */
	/* words as written, NULL where no file says anything */
	char *base; /* "workspace", "read-only", "open" */
	char *runner;
	char *engine;		 /* "auto", ... */
	char *verdicts;		 /* "local", "ask" */
	char *on_missing_runner; /* "fail", "exec" */
	char *require;		 /* "kernel", "supervisor" */
	char *quiet;		 /* "true", "false" */
	char *keep_descendants;	 /* "true", "false" */
	char *log_text;		 /* a path, "-" or "none" */
	char *log;		 /* the path with its variables expanded */
	unsigned fixed;		 /* which of them no flag changes either */
	char *sections; /* the runner whose `restricted_runners` count; NULL when there
			   are none */
	char *runner_shown; /* the runner that flags, files or `sections` settle */
	struct {
		struct aw_variable_rules rules[3]; /* system, trusted, untrusted */
		struct aw_setting *set;
		size_t set_count;
	} environment;
	struct aw_exposed *exposed; /* one a target */
	size_t exposed_count;
	bool redirect_home;
	struct aw_limits limits;
	struct aw_network network;
	uint64_t ask_deadline; /* seconds that a question waits; 0: not said */
	struct aw_policy_profile profiles[AW_PROFILES];
	unsigned profile_count;
	unsigned unprotected; /* protections that are off; aw_policy_print() has names
			       */
	struct aw_entry_place *places; /* owned; in the order of the lists */
	size_t place_count;
	struct aw_expectation *tests; /* owned */
	size_t test_count;
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

/* "workspace", "read-only", "open". */
const char *aw_base_name(enum aw_base_kind base);

/* The i-th of the commands whose name picks a preset; NULL behind the last one. */
const char *aw_preset_command(size_t i, const char **ret_preset);

/* Print all diagnostics, one "file:line:column: error|warning: text" a line. */
void aw_diagnostics_print(const struct aw_diagnostics *diagnostics, FILE *out);
void aw_diagnostics_free(struct aw_diagnostics *diagnostics);

/*
 * What the system policy says for one of these keys ("mode", "runner", ...), which then
 * holds whatever a flag says; NULL when it leaves the key to others.
 */
const char *aw_policy_fixed(const struct aw_policy *policy, const char *key);

/* Where an entry of the effective policy stands; layer is NULL for what no file says. */
struct aw_where {
	const char *layer, *file;
	unsigned line;
};

/*
 * Who is told a policy as one document, entry by entry.  Within a list key is NULL.
 * Strings are borrowed for the call.
 */
struct aw_policy_teller {
	void (*open)(void *to, const char *key, bool list);
	void (*close)(void *to);
	/* a text that needs quotes, or else a plain word or number */
	void (*value)(void *to, const char *key, const char *text, bool plain,
		const struct aw_where *where);
	void (*remark)(void *to, const char *text);
};

/*
 * The effective policy, variables as they were written.  Given back as a file it means
 * the same, whatever the trusted files below it say.
 */
void aw_policy_tell(const struct aw_policy *policy,
	const struct aw_policy_teller *teller, void *to);

/* The same as YAML, with the origin of each entry as a comment: file:line (layer). */
void aw_policy_print(const struct aw_policy *policy, FILE *out);

/* Seconds that a text such as 90s, 30m or 1h means; false: it means none. */
bool aw_duration_read(const char *text, uint64_t *ret);

/*
 * Write text for YAML or JSON, between quotes: what either of them does not take as it
 * is becomes an escape.
 */
void aw_policy_print_quoted(const char *text, FILE *out);

/* A value outside the lists, and the place in a file that gave it. */
struct aw_given {
	char value[64], layer[32], file[4200];
	unsigned line;
};

/* The last place that gave `key` ("filesystem.default"), or the nth one before it. */
bool aw_policy_given(const struct aw_policy *policy, const char *key, size_t nth,
	struct aw_given *ret);

/* The same, of a policy's `origins`, which live as long as it does. */
bool aw_origin_given(const struct aw_origin *first, const char *key, size_t nth,
	struct aw_given *ret);

/* The name of the protection that bit i of `unprotected` is about; NULL at the end. */
const char *aw_protection_name(unsigned i);

/* True when the environment section lets a variable of this name through. */
bool aw_policy_keeps_variable(const struct aw_policy *policy, const char *name);

/* Free what aw_policy_load() filled in, not the struct itself. */
void aw_policy_release(struct aw_policy *policy);

#endif
