/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_internal.h - what the files of the loader share.
 *
 * One loader goes over all sources.  Mistakes are reported where they stand and reading
 * goes on, so that all of them are seen; `failed` is for running out of memory.
 */
#ifndef AW_POLICY_LOAD_INTERNAL_H
#define AW_POLICY_LOAD_INTERNAL_H

#include "policy/compile.h"
#include "policy/load.h"
#include "policy/load_tree.h"

/* Where a value outside the lists came from: "mode=enforce" at "system /etc/x:3". */
struct aw_origin {
	char *what, *where; /* owned */
	struct aw_origin *next;
};

/* Where something stands that may be worth a warning later. */
struct aw_place {
	const struct aw_policy_source *source; /* NULL: nowhere */
	unsigned line, column;
};

enum { AW_LIMITS = 6 };

struct aw_loader {
	const struct aw_policy_source *source;
	const struct aw_policy_variables *variables;
	struct aw_diagnostics *diagnostics;
	enum aw_stratum stratum;
	struct aw_draft draft;
	struct aw_policy policy;
	bool default_set[AW_STRATA_MAX]
			[3]; /* filesystem, exec, network: default named */
	bool rules_named;    /* a trusted file has rules of its own */
	bool inherit_named;  /* ... and says which variables are inherited */
	size_t unset_presets, unset_built_in; /* of policy.environment.unset */
	bool preset_named;		      /* ... or which presets, if any */
	bool preset_used;     /* some preset stands below the trusted files */
	unsigned fixed;	      /* scalars that the system layer has settled */
	unsigned unprotected; /* protections that are off, a bit each */
	unsigned protected;   /* ... that the system layer keeps on */
	struct aw_limits limits[AW_STRATA];
	struct aw_place loose_limits[AW_LIMITS]; /* of untrusted files, by field */
	const char *profile; /* the name of the one being read, or NULL */
	bool lenient; /* mistakes are warnings: the value is not of a file's making */
	struct aw_exposing *exposing; /* the entry of filesystem.expose being read */
	struct aw_preset *presets;    /* owned: those that were read, newest first */
	bool failed;
};

/* load_diag.c */
void aw_report(struct aw_loader *l, const struct aw_node *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void aw_warn(struct aw_loader *l, const struct aw_node *at, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void aw_report_at(struct aw_loader *l, unsigned line, unsigned column, bool warning,
	const char *fmt, ...) __attribute__((format(printf, 5, 6)));

/* The word of words (NULL at the end) that text was probably meant to be, or NULL. */
const char *aw_nearest(const char *text, const char *const *words);

/* load_keys.c: maps whose keys are known. */
enum {
	AW_KEY_UNTRUSTED = 1, /* counts in an untrusted file too */
	AW_KEY_LATER = 2,     /* not in this version */
	AW_KEY_PRESET = 4,    /* may stand in a preset */
};

struct aw_key {
	const char *name;
	void (*read)(struct aw_loader *l, const struct aw_node *value, int argument);
	int argument;
	unsigned flags;
};

/* Read a map; section is its name, or NULL for the document.  keys end with no name. */
void aw_keys_read(struct aw_loader *l, const struct aw_node *map, const char *section,
	const struct aw_key *keys);

/* The index of value among words, or -1 after an error. */
int aw_word_read(
	struct aw_loader *l, const struct aw_node *value, const char *const *words);

/* False, after an error, when value is not a list of texts. */
bool aw_list_check(struct aw_loader *l, const struct aw_node *value);

/* load.c: read one file, its rules going to a stratum. */
void aw_source_load(struct aw_loader *l, const struct aw_policy_source *source,
	enum aw_stratum stratum);

/* load_sections.c */
void aw_document_read(struct aw_loader *l, const struct aw_node *root);

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

/* A new entry of the draft with text, place and "!" filled in; *ret_rest is behind it.
 */
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
/* The limits that hold: of several layers the smaller ones. */
void aw_limits_settle(struct aw_loader *l);

/* load_expose.c */
void aw_expose_read(struct aw_loader *l, const struct aw_node *value, int argument);

/* load_preset.c: fragments that ship with agentwatch, a layer below the trusted files.
 */
void aw_preset_read(struct aw_loader *l, const struct aw_node *value, int argument);
/* The one for the command's name, where no file has rules or names a preset. */
void aw_preset_pick(struct aw_loader *l);
bool aw_is_preset(const struct aw_policy_source *source);
/* True when, in a preset, an entry names a variable that is not set. */
bool aw_preset_skips(const struct aw_loader *l, const char *text);
/* True when, in a preset, an entry's value comes from a variable. */
bool aw_preset_borrows(const struct aw_loader *l, const char *text);
void aw_presets_free(struct aw_loader *l);

/* load_profile.c: tighter policies for some programs, a stratum each. */
void aw_profiles_read(struct aw_loader *l, const struct aw_node *value, int argument);
void aw_profile_when_read(
	struct aw_loader *l, const struct aw_node *value, int argument);
/* Those of the policy before this one, in their places. */
void aw_profiles_keep(struct aw_loader *l);
void aw_profiles_print(const struct aw_policy *policy, enum aw_trust trust, FILE *out);
void aw_profiles_free(struct aw_policy *policy);

/* load_sections.c: the sections that a profile has too; values go to l->stratum. */
extern const struct aw_key aw_profile_sections[];

/* load_protect.c: what is protected without a word in any file. */
void aw_protections_read(
	struct aw_loader *l, const struct aw_node *value, int argument);
void aw_protections_add(
	struct aw_loader *l, const struct aw_policy_source *sources, size_t count);
/* The name of protection i, or NULL behind the last one. */
const char *aw_protection_name(unsigned i);

/* load_env.c */
void aw_inherit_read(struct aw_loader *l, const struct aw_node *value, int argument);
void aw_unset_read(struct aw_loader *l, const struct aw_node *value, int argument);
void aw_set_read(struct aw_loader *l, const struct aw_node *value, int argument);

/* load_env.c: a name for the list of variables that are unset. */
void aw_unset_add(struct aw_loader *l, const char *name);
/* A variable that is set, unless a file sets it. */
void aw_setting_add(struct aw_loader *l, const char *name, const char *value);

/* load_builtin.c: what holds without a word in any file. */
void aw_builtin_add(struct aw_loader *l);
/* True when the trusted files leave a section's default (0: filesystem, 1: exec,
 * 2: network) to us. */
bool aw_default_built_in(const struct aw_loader *l, unsigned rules);
/* A built-in entry of this rank; text is read as if it stood in a file. */
struct aw_draft_entry *aw_built_in_entry(struct aw_loader *l, enum aw_stratum stratum,
	enum aw_list list, enum aw_rank rank, const char *text, unsigned line);

/* load_print.c */
void aw_origin_add(struct aw_loader *l, const struct aw_node *at, const char *key,
	const char *value);

/* The rules of one stratum as sections of a document; prefix: of the keys' origins. */
void aw_rules_print(const struct aw_policy *policy, unsigned stratum,
	const char *prefix, FILE *out);
/* The entries of one list under this key, as many blanks in. */
void aw_list_print(const struct aw_image *image, unsigned stratum, enum aw_list list,
	const char *key, FILE *out);

/* A limit as it is printed, in bytes, seconds or pieces. */
void aw_amount_text(double value, char *text, size_t size);

/* strdup that marks the loader as failed. */
char *aw_copy(struct aw_loader *l, const char *text);

#endif
