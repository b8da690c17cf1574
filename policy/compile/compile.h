/* SPDX-License-Identifier: Apache-2.0 */
/*
 * compile.h - from a list of rules to an image.
 *
 * A draft is what the loader gathers: entries in the order of their lists, all values
 * resolved.  Compiling it drops doubles (the last one stays) and lays out the image.
 * Nothing is checked here that the loader must report with a position.
 */
#ifndef AW_POLICY_COMPILE_COMPILE_H
#define AW_POLICY_COMPILE_COMPILE_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/bytes.h"
#include "policy/error.h"
#include "policy/image/image_layout.h"

/* One address or name that an entry stands for. */
struct aw_draft_net {
	enum aw_net_kind kind;
	unsigned char key[256];
	size_t key_len;
	unsigned prefix, port_low, port_high;
};

/* Where an entry stands in its list: those of a lower rank come first. */
enum aw_rank { AW_RANK_BASE, AW_RANK_PRESET, AW_RANK_BUILT_IN, AW_RANK_FILE };

struct aw_draft_entry {
	enum aw_rank rank;
	enum aw_stratum stratum;
	enum aw_list list;
	bool negated, dropped;
	bool shown;		  /* follows from another one, for an exposed path */
	char *text;		  /* owned; as written */
	const char *file, *layer; /* outlive the draft */
	unsigned line, column;
	char *pattern; /* owned; path pattern, absolute and normalised, or NULL */
	char *names;   /* owned; AW_LIST_ENTER_MCP: a pattern of names, or NULL */
	char **words;  /* owned; a command: name or path pattern, then arguments */
	size_t word_count;
	struct aw_draft_net *nets; /* owned */
	size_t net_count;
};

struct aw_draft {
	enum aw_mode mode;
	struct aw_image_stratum strata[AW_STRATA_MAX];
	const char *profiles[AW_PROFILES]; /* names; outlive the draft */
	unsigned profile_count;
	struct aw_draft_entry *entries; /* owned */
	size_t count, size;
	bool failed; /* out of memory */
};

/* A new, zeroed entry at the end; NULL (and draft->failed) when out of memory. */
struct aw_draft_entry *aw_draft_add(struct aw_draft *draft);

/* Say of an entry what is said of another one, but for what it is about. */
void aw_draft_like(struct aw_draft_entry *to, const struct aw_draft_entry *from);

/* Bring the entries into the order of their ranks; equal ones keep theirs. */
void aw_draft_order(struct aw_draft *draft);

/* True when both say the same in the same list: the last one of these counts. */
bool aw_draft_same(const struct aw_draft_entry *a, const struct aw_draft_entry *b);

/* Lay the image out; *ret_image is malloc'd.  0, or -1 with the reason. */
int aw_draft_compile(struct aw_draft *draft, void **ret_image, size_t *ret_size,
	struct aw_error *err);

/* Free what one entry owns. */
void aw_draft_entry_free(struct aw_draft_entry *entry);

/* Free the contents, not the struct itself. */
void aw_draft_release(struct aw_draft *draft);

/* The pieces below are shared by the files that compile. */
struct aw_build {
	struct aw_image head;
	struct aw_bytes parts[AW_PARTS];
};

/* compile_trie.c: nodes, edges, wilds and terms; picks the seed. */
void aw_build_trie(struct aw_build *build, const struct aw_draft *draft);
/* compile_tables.c: commands and addresses. */
void aw_build_commands(struct aw_build *build, const struct aw_draft *draft);
void aw_build_nets(struct aw_build *build, const struct aw_draft *draft);

/*
 * Sort count records of record_size bytes, whose hash stands hash_at bytes in, into
 * buckets; those from `hashed` on stay at the end, in no bucket.
 */
void aw_build_buckets(struct aw_build *build, enum aw_part_id records,
	enum aw_part_id buckets, size_t record_size, size_t hash_at, size_t hashed);

#endif
