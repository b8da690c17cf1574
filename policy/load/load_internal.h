/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_internal.h - what the files of the loader share.
 *
 * One loader goes over all sources.  Mistakes are reported where they stand and reading
 * goes on, so that all of them are seen; `failed` is for running out of memory.
 */
#ifndef AW_POLICY_LOAD_LOAD_INTERNAL_H
#define AW_POLICY_LOAD_LOAD_INTERNAL_H

#include "policy/compile/compile.h"
#include "policy/load/load.h"
#include "policy/load/load_shape.h"
#include "policy/load/load_tree.h"

/* Where a value outside the lists came from; the newest comes first. */
struct aw_origin {
	char *key, *value, *layer, *file; /* owned */
	unsigned line;
	enum aw_stratum stratum;
	struct aw_origin *next;
};

/* Where something stands that may be worth a warning later. */
struct aw_source_place {
	const struct aw_policy_source *source; /* NULL: nowhere */
	unsigned line, column;
};

enum { AW_LIMITS = 9 };

/* Keys of a document that is being read which are dealt with behind all others. */
struct aw_pending {
	const struct aw_node *runners, *older, *agents, *intersect;
	bool entry; /* an entry of `agents`, not a file */
};

/* What no document has a place of its own for: one word each. */
enum {
	AW_FIELD_BASE,
	AW_FIELD_RUNNER,
	AW_FIELD_ENGINE,
	AW_FIELD_VERDICTS,
	AW_FIELD_MISSING,
	AW_FIELD_REQUIRE,
	AW_FIELD_QUIET,
	AW_FIELD_KEEP,
	AW_FIELD_LOG,
	AW_FIELDS,
	AW_FIELD_MODE = 31, /* its bit in `fixed` */
};

/* What holds when the files below a `merge: replace` are dropped: the system's. */
struct aw_base {
	char *fields[AW_FIELDS]; /* owned */
	enum aw_mode mode;
	bool mode_set, inherit_named, redirect_home;
	unsigned unprotected;
};

/* One that was read. */
struct aw_preset {
	char *name, *file; /* owned; the file's name outlives the draft */
	enum aw_stratum stratum;
	bool dropped; /* its file's name is still needed */
	struct aw_preset *next;
};

struct aw_loader {
	const struct aw_policy_source *source;
	const struct aw_policy_variables *variables;
	const struct aw_key *keys; /* of a document */
	struct aw_diagnostics *diagnostics;
	enum aw_stratum stratum;
	struct aw_draft draft;
	struct aw_policy policy;
	struct aw_pending pending;
	struct aw_base base;
	const char *runner; /* whose sections count; NULL: not known yet */
	bool sections;	    /* there are sections for runners */
	bool idle;	    /* what is read does not count; mistakes are told */
	bool system_named;  /* there is a system policy */
	bool default_set[AW_STRATA_MAX]
			[3];	    /* filesystem, exec, network: default named */
	uint8_t implied[AW_STRATA]; /* filesystem.default, where nobody names it */
	bool replaced;		    /* `merge: replace` stands on the base, too */
	bool inherit_named; /* a trusted file says which variables are inherited */
	size_t unset_presets, unset_built_in; /* of the trusted `unset` */
	bool no_preset;		/* a trusted file has an empty list of presets */
	bool deadline_fixed;	/* ask.deadline is settled by the system layer */
	unsigned network_fixed; /* the same, a bit for each enum aw_network_key */
	bool match_sni;		/* an untrusted file has asked for it */
	unsigned unprotected;	/* protections that are off, a bit each */
	unsigned protected;	/* ... that the system layer keeps on */
	struct aw_limits limits[AW_STRATA];
	struct aw_source_place
		loose_limits[AW_LIMITS]; /* of untrusted files, by field */
	const char *profile;		 /* the name of the one being read, or NULL */
	bool lenient; /* mistakes are warnings: the value is not of a file's making */
	struct aw_exposing *exposing; /* the entry of filesystem.expose being read */
	struct aw_expectation *expecting; /* the entry of tests being read */
	struct aw_preset *presets; /* owned: those that were read, newest first */
	bool failed;
	/* protections that a file has spoken about: a preset has no say in them */
	unsigned protection_named;
};

/* Keys of `network` that are about the whole session. */
enum aw_network_key {
	AW_NETWORK_MATCH_SNI,
	AW_NETWORK_PROXY,
	AW_NETWORK_REFUSAL,
	AW_NETWORK_FORWARD,
	AW_NETWORK_PRIVATE,
	AW_NETWORK_KEYS,
};

/* load_network.c */
void aw_match_sni_read(struct aw_loader *l, const struct aw_node *value, int key);
void aw_proxy_read(struct aw_loader *l, const struct aw_node *value, int key);
void aw_refusal_read(struct aw_loader *l, const struct aw_node *value, int key);
void aw_forwards_read(struct aw_loader *l, const struct aw_node *value, int key);
void aw_private_names_read(struct aw_loader *l, const struct aw_node *value, int key);

/* The word that is not the default, for keys of one word; else NULL. */
const char *aw_network_word(const struct aw_policy *policy, enum aw_network_key key);
const char *aw_network_key_name(enum aw_network_key key);

/* Forget what the system policy has not settled. */
void aw_network_drop(struct aw_loader *l);
void aw_network_release(struct aw_network *network);

/*
 * A host name, perhaps with "*." in front, in lower case; owned by the caller.  NULL
 * after an error.  load_net.c
 */
char *aw_host_pattern_read(struct aw_loader *l, const struct aw_node *at);

/* load_diag.c */
void aw_report(struct aw_loader *l, const struct aw_node *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void aw_warn(struct aw_loader *l, const struct aw_node *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void aw_report_at(struct aw_loader *l, unsigned line, unsigned column, bool warning,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The word of words (NULL at the end) that text was probably meant to be, or NULL. */
const char *aw_nearest(const char *text, const char *const *words);

/* load_keys.c: maps whose keys are known (load_shape.h). */

/* Read a map; section is its name, or NULL for the document.  keys end with no name. */
void aw_keys_read(struct aw_loader *l, const struct aw_node *map, const char *section,
	const struct aw_key *keys);

/* The index of value among words, or -1 after an error. */
int aw_word_read(
	struct aw_loader *l, const struct aw_node *value, const char *const *words);

/* False, after an error, when value is not a list of texts. */
bool aw_list_check(struct aw_loader *l, const struct aw_node *value);

/* The value of a map's key, or NULL. */
const struct aw_node *aw_map_get(const struct aw_node *map, const char *key);

/* load_source.c: was this file read when its trust was judged? */
bool aw_is_judged(const struct aw_loader *l, const char *file);

/* load_source.c: a file as a tree; false after an error. */
bool aw_source_read(struct aw_loader *l, struct aw_tree *ret);

/* load_layers.c: a document of l->source, its rules going to l->stratum. */
void aw_document_read(struct aw_loader *l, const struct aw_node *root);
/* The same for an entry of `agents`, which has no version. */
void aw_entry_read(struct aw_loader *l, const struct aw_node *map);
void aw_merge_read(struct aw_loader *l, const struct aw_node *value, int argument);
void aw_agents_read(struct aw_loader *l, const struct aw_node *value, int argument);
void aw_intersect_read(struct aw_loader *l, const struct aw_node *value, int argument);

/* load_drop.c: what the files that are not the system's have said so far is forgotten;
 * their words on mode, runner and their kin only with `fields`. */
void aw_below_drop(struct aw_loader *l, bool fields);
/* What has been said so far is the system's and stays. */
void aw_base_take(struct aw_loader *l);
/* Read something that does not count, for its mistakes alone. */
void aw_redundant_read(struct aw_loader *l, const struct aw_node *node,
	void (*read)(struct aw_loader *l, const struct aw_node *node));
/* Free all but the policy and the diagnostics. */
void aw_loader_release(struct aw_loader *l);

/*
 * load_runners.c: rules for one runner.  The first keeps the section for later, the
 * second reads it behind the rest of its document.
 */
void aw_runners_read(struct aw_loader *l, const struct aw_node *value, int argument);
/* The same for the older `restricted_runner`, which is for whichever runner there is;
 * chosen: the document names a runner in the newer way. */
void aw_older_runner_read(
	struct aw_loader *l, const struct aw_node *value, int argument);
void aw_older_runner_apply(
	struct aw_loader *l, const struct aw_node *section, bool chosen);
/* load_fields.c: the value of `runner`. */
void aw_runner_read(struct aw_loader *l, const struct aw_node *value);
void aw_runners_apply(struct aw_loader *l, const struct aw_node *section);
/* filesystem.default where a simple form needs one and nobody names it. */
void aw_implied_complete(struct aw_loader *l);

/* load_sections.c */
enum { AW_RULES_FILES, AW_RULES_EXEC, AW_RULES_NETWORK };

void aw_rules_read(struct aw_loader *l, const struct aw_node *value, int rules);
void aw_environment_read(
	struct aw_loader *l, const struct aw_node *value, int argument);
/* One of our sections by its name; "filesystem", "exec", "network", "environment",
 * "limits" or "profiles". */
void aw_section_read(
	struct aw_loader *l, const struct aw_node *value, const char *name);

/* load_fields.c: words are NULL at the end; shapes are by field. */
extern const char *const aw_base_words[], *const aw_runner_words[],
						  *const aw_switch_words[];
extern const struct aw_shape aw_field_shapes[];
void aw_field_read(struct aw_loader *l, const struct aw_node *value, int field);
/* Where the log goes, now that it is known who says so. */
void aw_log_complete(struct aw_loader *l);
/* The word of a field, and what it is called. */
char **aw_field_of(struct aw_policy *policy, int field);
const char *aw_field_key(int field);

/* load_vars.c: expand variables; *ret is owned by the caller.  NULL after an error. */
enum aw_expand {
	AW_EXPAND_PLAIN,   /* a value: backslash only before "$" and itself */
	AW_EXPAND_PATTERN, /* a pattern: values are quoted, backslashes stay */
};

char *aw_expand(struct aw_loader *l, const struct aw_node *at, const char *text,
	enum aw_expand how);
/* The value of an environment variable, or NULL when it is unset or empty. */
const char *aw_environment(const char *name, size_t len);

/* load_paths.c: an absolute, normalised path pattern; NULL after an error. */
char *aw_pattern_read(struct aw_loader *l, const struct aw_node *at, const char *text);
/* False, after an error, when a pattern within one component is malformed. */
bool aw_glob_check(
	struct aw_loader *l, const struct aw_node *at, const char *text, size_t len);

/* One entry of a list: argument is an enum aw_list. */
void aw_path_list_read(struct aw_loader *l, const struct aw_node *value, int list);
void aw_exec_list_read(struct aw_loader *l, const struct aw_node *value, int list);
void aw_net_list_read(struct aw_loader *l, const struct aw_node *value, int list);

/* A new entry of the draft with text, place and "!" filled in; *ret_rest is behind it. */
struct aw_draft_entry *aw_entry_add(struct aw_loader *l, const struct aw_node *at,
	enum aw_list list, const char **ret_rest);

/* load_net.c: what the text of an entry, without "!", stands for. */
void aw_net_parse(struct aw_loader *l, const struct aw_node *at,
	struct aw_draft_entry *entry, const char *text);
/* One more address, name or network that an entry stands for. */
void aw_net_add(struct aw_loader *l, struct aw_draft_entry *entry,
	enum aw_net_kind kind, unsigned prefix, const void *key, size_t len,
	unsigned low, unsigned high);

/* load_dns.c: the name servers of /etc/resolv.conf, at these ports. */
void aw_name_servers_add(
	struct aw_loader *l, struct aw_draft_entry *entry, unsigned low, unsigned high);

/* load_limits.c */
void aw_limits_read(struct aw_loader *l, const struct aw_node *value, int argument);
/* One of them by its name. */
void aw_limit_read(struct aw_loader *l, const struct aw_node *value, const char *name);
/* The limits that hold: of several layers the smaller ones. */
void aw_limits_complete(struct aw_loader *l);

/* load_ask.c */
void aw_ask_read(struct aw_loader *l, const struct aw_node *value, int argument);

/* load_expose.c */
void aw_expose_read(struct aw_loader *l, const struct aw_node *value, int argument);
void aw_exposed_free(struct aw_exposed *exposed);

/* load_shown.c: the rules for what is exposed, under its other name, too. */
void aw_shown_add(struct aw_loader *l);

/* load_places.c: where each entry stands, once the draft is compiled. */
void aw_places_fill(struct aw_loader *l);
void aw_places_free(struct aw_policy *policy);

/* load_tests.c */
void aw_tests_read(struct aw_loader *l, const struct aw_node *value, int argument);
void aw_expectations_free(struct aw_policy *policy);

/* load_preset.c: fragments that ship with agentwatch, a layer below the trusted files. */
void aw_preset_read(struct aw_loader *l, const struct aw_node *value, int argument);
/* The one for the command's name, where no file has rules or names a preset. */
void aw_preset_pick(struct aw_loader *l);
/* load_source.c */
bool aw_is_preset(const struct aw_policy_source *source);
/* True when, in a preset, an entry names a variable that is not set. */
bool aw_preset_skips(const struct aw_loader *l, const char *text);
/* True when, in a preset, an entry's value comes from a variable. */
bool aw_preset_borrows(const struct aw_loader *l, const char *text);

/* load_profile.c: tighter policies for some programs, a stratum each. */
void aw_profiles_read(struct aw_loader *l, const struct aw_node *value, int argument);
void aw_profile_when_read(
	struct aw_loader *l, const struct aw_node *value, int argument);
/* Those of the policy before this one, in their places. */
void aw_profiles_keep(struct aw_loader *l);
/* Does a file still have the profile of this number?  One that is gone is known, but
 * empty. */
bool aw_profile_is_there(const struct aw_image *image, unsigned i);
void aw_profiles_free(struct aw_policy *policy);

/* load_sections.c: the sections that a profile has too; values go to l->stratum. */
extern const struct aw_key aw_profile_sections[];

/* load_protect.c: what is protected without a word in any file. */
void aw_protections_read(
	struct aw_loader *l, const struct aw_node *value, int argument);
void aw_protections_add(
	struct aw_loader *l, const struct aw_policy_source *sources, size_t count);

/* A path, as it stands, that is judged by its keys: see protections.def. */
void aw_protect_keyed(struct aw_loader *l, const char *path);

/*
 * load_gitconfig.c: protect all that a configuration of git's includes.  home is what
 * "~/" stands for in it.
 */
void aw_gitconfig_add(struct aw_loader *l, const char *home, const char *file);

/* load_env.c */
void aw_inherit_read(struct aw_loader *l, const struct aw_node *value, int argument);
void aw_unset_read(struct aw_loader *l, const struct aw_node *value, int argument);
void aw_set_read(struct aw_loader *l, const struct aw_node *value, int argument);

/* A name that stands twice counts at its last place. */
void aw_variable_names_complete(struct aw_loader *l);
void aw_variable_names_free(struct aw_variable_names *names);

/* load_env.c: a name for the list of variables that are unset. */
void aw_unset_add(struct aw_loader *l, const char *name);
/* A variable that is set, unless a file sets it. */
void aw_setting_add(struct aw_loader *l, const char *name, const char *value);

/* load_builtin.c: what hardly any program can do without. */
void aw_builtin_add(struct aw_loader *l);
/* What is ours stands in no file. */
void aw_built_in_source(struct aw_loader *l);

/* load_base.c */
/* Which base holds, once flags and files are known. */
void aw_base_complete(struct aw_loader *l);
/* Do its lists and defaults lie below the trusted files? */
bool aw_base_closed(const struct aw_loader *l);
/* Its defaults, where no trusted file has one; then its lists and variables. */
void aw_base_defaults(struct aw_loader *l);
void aw_base_add(struct aw_loader *l);
/* True when what a stratum's lists admit in a section (0: filesystem, 1: exec,
 * 2: network) is admitted above a default of the base's. */
bool aw_default_built_in(
	const struct aw_loader *l, enum aw_stratum stratum, unsigned rules);
/* A built-in entry of this rank; text is read as if it stood in a file. */
struct aw_draft_entry *aw_built_in_entry(struct aw_loader *l, enum aw_stratum stratum,
	enum aw_list list, enum aw_rank rank, const char *text, unsigned line);

/* load_origin.c */
void aw_origin_add(struct aw_loader *l, const struct aw_node *at, const char *key,
	const char *value);
enum { AW_ANY_STRATUM = AW_STRATA_MAX };
/* The newest of this key and value (NULL: any), of this stratum or of any. */
const struct aw_origin *aw_origin_find(const struct aw_policy *policy, unsigned stratum,
	const char *key, const char *value);
/* Is it a stratum of the system policy's, its profiles included? */
bool aw_is_systems(const struct aw_loader *l, enum aw_stratum stratum);
/* Forget those that are not the system's; those of fields only with `fields`. */
void aw_origins_drop(struct aw_loader *l, bool fields);
void aw_origins_free(struct aw_policy *policy);

/* A path as a pattern that means just it; owned by the caller, NULL when out of memory. */
char *aw_path_quoted(struct aw_loader *l, const char *path);

/* Take the newest entry of the draft back. */
void aw_entry_drop(struct aw_loader *l);

/* A limit as it is printed, in bytes, seconds or pieces. */
void aw_amount_text(double value, char *text, size_t size);

/* load_memory.c: strdup and calloc that mark the loader as failed */
char *aw_copy(struct aw_loader *l, const char *text);
void *aw_new(struct aw_loader *l, size_t count, size_t size);

#endif
