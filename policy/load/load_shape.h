/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_shape.h - what a policy document looks like: its keys, and what may stand there.
 *
 * The parser goes by these tables, and the JSON Schema and the reference are written
 * from them, so that none of the three can say something else than the others.
 */
#ifndef AW_POLICY_LOAD_LOAD_SHAPE_H
#define AW_POLICY_LOAD_LOAD_SHAPE_H

#include <stdbool.h>

struct aw_loader;
struct aw_node;

enum aw_shape_kind {
	AW_SHAPE_WORD,	  /* one of words */
	AW_SHAPE_SWITCH,  /* true or false */
	AW_SHAPE_TEXT,	  /* a text with a sign in it that is no blank */
	AW_SHAPE_AMOUNT,  /* a number from least on, or a text that matches pattern */
	AW_SHAPE_LIST,	  /* of texts, or of first */
	AW_SHAPE_MAP,	  /* with keys */
	AW_SHAPE_NAMED,	  /* a map of names that are free, to values, or to first */
	AW_SHAPE_ENTRIES, /* a map of names that are free, to documents but for
			     AW_KEY_TOP */
	AW_SHAPE_EITHER,  /* first or second */
};

struct aw_shape {
	enum aw_shape_kind kind;
	const char *const *words; /* NULL at the end */
	const char *pattern;	  /* ECMA regular expression for an amount as text */
	double least, most;	  /* of an amount; most 0: no bound */
	bool whole;		  /* an amount without a fraction */
	const struct aw_key *keys;
	const struct aw_shape *first, *second;
	const char *entry; /* what an entry, a text or an amount is, for people */
};

enum {
	AW_KEY_UNTRUSTED = 1, /* counts in an untrusted file too */
	AW_KEY_LATER = 2,     /* not in this version */
	AW_KEY_PRESET = 4,    /* may stand in a preset */
	AW_KEY_TOP = 8,	      /* not in an entry of `agents` */
	AW_KEY_REQUIRED = 16,
};

struct aw_key {
	const char *name; /* NULL: the end of a table */
	void (*read)(struct aw_loader *l, const struct aw_node *value, int argument);
	int argument;
	unsigned flags;
	const struct aw_shape *shape;
	const char *about; /* a sentence for the schema and the reference */
};

/* The whole document. */
extern const struct aw_shape aw_document_shape;

/* Parts of it, each in the file that reads it. */
extern const struct aw_shape aw_limits_shape, aw_exposed_shape, aw_protections_shape,
	aw_inherit_shape, aw_settings_shape, aw_files_shape, aw_exec_shape,
	aw_network_shape, aw_environment_shape, aw_runners_shape, aw_older_runner_shape,
	aw_tests_shape, aw_intersect_shape, aw_switch_shape, aw_paths_shape,
	aw_time_shape, aw_ask_shape, aw_when_shape, aw_profiles_shape, aw_proxy_shape,
	aw_refusal_shape, aw_forwards_shape, aw_host_names_shape;

#endif
