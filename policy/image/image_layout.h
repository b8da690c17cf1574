/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_layout.h - what the bytes of a compiled policy mean; private to policy/.
 *
 * A header, then parts: arrays of fixed-size records, found by offset and count.  Text
 * is (offset, length) into the part "bytes".  Path rules of every list and stratum
 * share one trie of components; names and addresses are in hash tables whose buckets
 * are ranges.
 */
#ifndef AW_POLICY_IMAGE_IMAGE_LAYOUT_H
#define AW_POLICY_IMAGE_IMAGE_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "policy/image/image.h"

#define AW_IMAGE_MAGIC 0x6d697761u /* "awim" */
#define AW_IMAGE_VERSION 3u

/* Nodes that can be alive at once while a path is walked; more take the slow way. */
#define AW_WALK_MAX 32

enum aw_stratum {
	AW_STRATUM_SYSTEM,
	AW_STRATUM_TRUSTED,
	AW_STRATUM_UNTRUSTED,
	AW_STRATUM_PROTECTIONS,
	AW_STRATA, /* of what holds for all; from here on, one for each profile */
	AW_STRATA_MAX = AW_STRATA + AW_PROFILES
};

enum aw_list {
	AW_LIST_HIDE,
	AW_LIST_DENY,
	AW_LIST_DENY_WRITE,
	AW_LIST_ASK,
	AW_LIST_WRITE,
	AW_LIST_READ,
	AW_LIST_KEYED, /* git's configuration: see aw_image_keyed() */
	AW_LIST_EXEC_DENY,
	AW_LIST_EXEC_ASK,
	AW_LIST_EXEC_ALLOW,
	AW_LIST_NET_DENY,
	AW_LIST_NET_ASK,
	AW_LIST_NET_ALLOW,
	AW_LIST_NET_LISTEN,
	AW_LIST_ENTER,	   /* programs that enter a profile */
	AW_LIST_ENTER_MCP, /* MCP servers that do; the pattern is one of names */
	AW_LISTS
};

#define AW_SLOTS (AW_STRATA * AW_LISTS)

enum aw_default { AW_DEFAULT_ALLOW, AW_DEFAULT_READ_ONLY, AW_DEFAULT_DENY };

enum {
	AW_IMAGE_HIDES = 1,
	AW_IMAGE_KEYS = 2,
	AW_IMAGE_SPEAKS = 256, /* shifted by a stratum: it says something */
};

struct aw_image_stratum {
	uint8_t files, exec, network; /* enum aw_default */
	uint8_t listen; /* 1: there is a listen list, which alone admits */
};

/* Whether a stratum can do anything but allow. */
#define AW_STRATUM_SPEAKS(image, s) ((image)->flags & (uint32_t)AW_IMAGE_SPEAKS << (s))

struct aw_part {
	uint32_t offset, count;
};

enum aw_part_id {
	AW_PART_BYTES,	 /* char, the last one is NUL */
	AW_PART_ENTRIES, /* struct aw_image_entry, in order of their lists */
	AW_PART_NODES,	 /* struct aw_image_node; [0] is "/"; children come later */
	AW_PART_EDGES,	 /* struct aw_image_edge, grouped by bucket */
	AW_PART_EDGE_BUCKETS,	  /* uint32_t: where each bucket starts, and the end */
	AW_PART_WILDS,		  /* struct aw_image_wild without anchor, by node */
	AW_PART_ANCHORED,	  /* struct aw_image_wild, grouped by bucket */
	AW_PART_ANCHORED_BUCKETS, /* uint32_t */
	AW_PART_TERMS,		  /* uint32_t: entries, grouped by node */
	AW_PART_PATTERNS,	  /* uint32_t: all entries that have a path pattern */
	AW_PART_COMMANDS, /* struct aw_image_command, grouped by bucket, then wild */
	AW_PART_COMMAND_BUCKETS, /* uint32_t */
	AW_PART_WORDS,		 /* struct aw_image_word: argument patterns */
	AW_PART_NETS,		 /* struct aw_image_net, grouped by bucket, then wild */
	AW_PART_NET_BUCKETS,	 /* uint32_t */
	AW_PART_PROFILES,	 /* uint32_t: the name of each, terminated, in bytes */
	AW_PARTS
};

struct aw_image {
	uint32_t magic, version, size, mode, flags, seed;
	struct aw_image_stratum strata[AW_STRATA_MAX];
	uint32_t prefixes4[2], prefixes6[5]; /* bit n: some address has that prefix */
	struct aw_part parts[AW_PARTS];
};

struct aw_image_entry {
	uint32_t text, file, layer; /* terminated, in bytes */
	uint32_t line;
	uint32_t pattern, pattern_len; /* path pattern; empty when there is none */
	uint8_t stratum, list, negated;
	uint8_t shown; /* follows from another one, for an exposed path */
};

enum {
	AW_NODE_LOOP = 1,  /* "**": stays alive whatever comes */
	AW_NODE_EDGES = 2, /* has literal edges */
	AW_NODE_LEAF = 4,  /* nothing below it */
	AW_NODE_READS = 8, /* here or below are rules not about changes alone */
};

struct aw_image_node {
	uint32_t wild_first, wild_count, term_first, term_count;
	uint32_t deep; /* the node of "**" below this one, 0: none */
	uint32_t flags;
	uint32_t anchors; /* bit n-1: some wild begins with n bytes, n+15: ends */
};

struct aw_image_edge {
	uint32_t node, hash, text, len, child;
};

/* The longest literal start or end of a wildcard pattern that is hashed. */
#define AW_PATH_VARIABLE_MAX 16

/*
 * A component with wildcards.  Those with a literal start or end are found by its hash,
 * so that many of them cost no more than few; the others are tried one after another.
 */

struct aw_image_wild {
	uint32_t node, hash, text, child;
	uint16_t len;
	uint8_t anchor; /* its length, 0: none */
	uint8_t at_end; /* 1: the anchor is the end */
};

enum {
	AW_COMMAND_PATH = 1,	 /* the name is a path pattern, else a base name's */
	AW_COMMAND_ANY = 2,	 /* no arguments given: all match */
	AW_COMMAND_OPEN = 4,	 /* further arguments are fine */
	AW_COMMAND_OPTIONAL = 8, /* ... and the last word, "*", may be missing */
};

struct aw_image_command {
	uint32_t entry, hash; /* of the base name */
	uint32_t name, name_len;
	uint32_t word_first, word_count;
	uint32_t flags;
};

struct aw_image_word {
	uint32_t text, len;
};

enum aw_net_kind {
	AW_NET_ANY,   /* every Internet address */
	AW_NET_HOST,  /* a name */
	AW_NET_BELOW, /* "*.name" */
	AW_NET_IPV4,  /* a prefix */
	AW_NET_IPV6,
	AW_NET_ABSTRACT,      /* an abstract Unix name */
	AW_NET_ABSTRACT_GLOB, /* wild: not in a bucket */
	AW_NET_KINDS
};

struct aw_image_net {
	uint32_t entry, hash, key, key_len;
	uint16_t port_low, port_high;
	uint8_t kind, prefix;
	uint16_t unused;
};

static inline const void *aw_part_at(const struct aw_image *image, enum aw_part_id id)
{
	return (const char *)image + image->parts[id].offset;
}

static inline const char *aw_image_bytes(const struct aw_image *image, uint32_t at)
{
	return (const char *)aw_part_at(image, AW_PART_BYTES) + at;
}

static inline uint32_t aw_hash_step(uint32_t hash, unsigned char c)
{
	return (hash ^ c) * 16777619u;
}

static inline uint32_t aw_hash_end(uint32_t hash, uint32_t salt)
{
	hash ^= salt * 0x9e3779b1u;
	hash ^= hash >> 15;
	hash *= 0x85ebca6bu;
	return hash ^ (hash >> 13);
}

static inline uint32_t aw_hash_bytes(uint32_t seed, const void *bytes, size_t len)
{
	const unsigned char *p = bytes;
	size_t i;

	for (i = 0; i < len; i++)
		seed = aw_hash_step(seed, p[i]);
	return seed;
}

static inline uint32_t aw_net_hash(
	uint32_t seed, unsigned kind, unsigned prefix, const void *key, size_t len)
{
	return aw_hash_end(aw_hash_bytes(seed, key, len), kind * 256 + prefix);
}

/* The records of hash's bucket: [*first, *end). */
static inline void aw_bucket(const struct aw_image *image, enum aw_part_id buckets,
	uint32_t hash, uint32_t *first, uint32_t *end)
{
	const uint32_t *starts = aw_part_at(image, buckets);
	uint32_t b = hash & (image->parts[buckets].count - 2);

	*first = starts[b];
	*end = starts[b + 1];
}

/*
 * Strata that are judged in one go: those that hold for all, or one profile.  What is
 * found out about others on the way is left out, so that a profile costs no room.
 */
struct aw_window {
	unsigned first, end;
};

static inline unsigned aw_strata_of(const struct aw_image *image)
{
	return AW_STRATA + image->parts[AW_PART_PROFILES].count;
}

/* What a set of profiles stands for, as aw_window_next() takes it apart. */
static inline uint32_t aw_windows_of(uint32_t profiles)
{
	return profiles ^ AW_PROFILES_ALONE;
}

/* The next window of a set; false when there are no more. */
static inline bool aw_window_next(
	const struct aw_image *image, uint32_t *windows, struct aw_window *ret)
{
	unsigned i;

	if (*windows & AW_PROFILES_ALONE) {
		*windows &= ~AW_PROFILES_ALONE;
		*ret = (struct aw_window){0, AW_STRATA};
		return true;
	}
	i = *windows ? (unsigned)__builtin_ctz(*windows) : AW_PROFILES;
	if (AW_STRATA + i >= aw_strata_of(image))
		return false;
	*windows &= *windows - 1;
	*ret = (struct aw_window){AW_STRATA + i, AW_STRATA + i + 1};
	return true;
}

/* Has a stratum of a window anything to say?  A profile always has. */
static inline bool aw_stratum_speaks(const struct aw_image *image, unsigned s)
{
	return s >= AW_STRATA || AW_STRATUM_SPEAKS(image, s);
}

/*
 * The best (last) matching entry of every list of a window, AW_NO_RULE where there is
 * none.
 */
struct aw_matches {
	unsigned first;
	uint32_t best[AW_SLOTS];
};

static inline void aw_matches_reset(struct aw_matches *m, const struct aw_window *w)
{
	m->first = w->first;
	memset(m->best, 0xff, sizeof(m->best));
}

static inline void aw_matches_add(
	struct aw_matches *m, const struct aw_image_entry *entries, uint32_t index)
{
	unsigned s = entries[index].stratum - m->first;
	uint32_t *best;

	if (s >= AW_STRATA)
		return;
	best = &m->best[s * AW_LISTS + entries[index].list];
	if (*best == AW_NO_RULE || index > *best)
		*best = index;
}

/* True, with its index in *ret_rule, when the last match in this list is not a "!". */
static inline bool aw_matches_hold(const struct aw_image *image,
	const struct aw_matches *m, unsigned stratum, enum aw_list list,
	uint32_t *ret_rule)
{
	const struct aw_image_entry *entries = aw_part_at(image, AW_PART_ENTRIES);

	*ret_rule = m->best[(stratum - m->first) * AW_LISTS + list];
	return *ret_rule != AW_NO_RULE && !entries[*ret_rule].negated;
}

static inline uint32_t aw_path_variable_hash(
	uint32_t hash, uint32_t node, unsigned at_end)
{
	return aw_hash_end(hash, 2 * node + at_end);
}

/* Keep the stricter one; of equals, one that names a rule. */
static inline void aw_decision_add(
	struct aw_decision *d, enum aw_verdict verdict, uint32_t rule)
{
	if (verdict < d->verdict || (verdict == d->verdict && d->rule != AW_NO_RULE))
		return;
	d->verdict = verdict;
	d->rule = rule;
}

/* Most rules, the protections above all, guard against changes alone. */
enum aw_walk { AW_WALK_CHANGES, AW_WALK_READS };

/*
 * image_walk.c: all path rules of a window that match path, *ret is set up first.
 * AW_WALK_READS may leave out those of AW_LIST_DENY_WRITE and AW_LIST_KEYED.
 */
void aw_image_walk(const struct aw_image *image, enum aw_walk how,
	const struct aw_window *window, const char *path, size_t len,
	struct aw_matches *ret);

/* image_exec.c: programs of exec lists that match, into *m, which is set up already. */
void aw_image_match_programs(const struct aw_image *image, const char *path, size_t len,
	const char *const *argv, size_t argc, struct aw_matches *m);

/* image.c: does the action change what is at its path? */
bool aw_is_change(enum aw_action action);

/* image.c: what the file lists of one stratum say. */
void aw_image_judge_files(const struct aw_image *image, unsigned stratum,
	enum aw_action action, const struct aw_matches *m, struct aw_decision *ret);

/* Bytes of one record of each part; for those who make and who check images. */
extern const uint32_t aw_part_record_sizes[AW_PARTS];

#endif
