/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image_walk.c - finding every path rule that matches, in one pass over the path.
 *
 * All places in the trie that the components read so far can have led to are alive at
 * once.  Their number is bounded; a policy and a path that need more (many "**" that
 * all stay possible) are compared pattern by pattern instead, which is slow but exact.
 */
#include "policy/image/image_layout.h"

#include <string.h>

#include "policy/glob.h"

struct alive {
	uint32_t nodes[AW_WALK_MAX];
	uint32_t count;
};

/* What stays the same on the way. */
struct walk {
	const struct aw_image *image;
	struct aw_matches *matches;
	uint32_t need; /* flags without which a node is not entered */
};

struct component {
	const char *text;
	size_t len;
	uint32_t hash; /* without a node */
};

static bool is_alive(const struct alive *set, uint32_t node)
{
	uint32_t i;

	for (i = 0; i < set->count; i++)
		if (set->nodes[i] == node)
			return true;
	return false;
}

/* Arrive at a node: its rules match, and "**" below it may begin. */
static bool enter(const struct walk *walk, uint32_t at, struct alive *set)
{
	const struct aw_image *image = walk->image;
	const struct aw_image_entry *entries = aw_part_at(image, AW_PART_ENTRIES);
	const struct aw_image_node *nodes = aw_part_at(image, AW_PART_NODES);
	const uint32_t *terms = aw_part_at(image, AW_PART_TERMS);
	const struct aw_image_node *node;
	uint32_t i;

	do {
		node = &nodes[at];
		if ((node->flags & walk->need) != walk->need)
			return true;
		for (i = 0; i < node->term_count; i++)
			aw_matches_add(
				walk->matches, entries, terms[node->term_first + i]);
		if (node->flags & AW_NODE_LEAF)
			return true;
		if ((node->flags & AW_NODE_LOOP) && is_alive(set, at))
			return true;
		if (set->count == AW_WALK_MAX)
			return false;
		set->nodes[set->count++] = at;
		at = node->deep;
	} while (at);
	return true;
}

static uint32_t find_edge(
	const struct aw_image *image, uint32_t node, const struct component *c)
{
	const struct aw_image_edge *edges = aw_part_at(image, AW_PART_EDGES);
	uint32_t hash = aw_hash_end(c->hash, node), i, end;

	aw_bucket(image, AW_PART_EDGE_BUCKETS, hash, &i, &end);
	for (; i < end; i++)
		if (edges[i].hash == hash && edges[i].node == node &&
			edges[i].len == c->len &&
			memcmp(aw_image_bytes(image, edges[i].text), c->text, c->len) ==
				0)
			return edges[i].child;
	return 0;
}

static bool wild_matches(const struct aw_image *image, const struct aw_image_wild *wild,
	const struct component *c)
{
	return aw_glob_match(
		aw_image_bytes(image, wild->text), wild->len, c->text, c->len);
}

/* Patterns below a node whose literal start or end, n bytes long, has this hash. */
static bool step_anchored(const struct walk *walk, uint32_t node, uint32_t hash,
	unsigned n, unsigned at_end, const struct component *c, struct alive *to)
{
	const struct aw_image *image = walk->image;
	const struct aw_image_wild *wild = aw_part_at(image, AW_PART_ANCHORED);
	uint32_t i, end;

	hash = aw_path_variable_hash(hash, node, at_end);
	aw_bucket(image, AW_PART_ANCHORED_BUCKETS, hash, &i, &end);
	for (wild += i; i < end; i++, wild++)
		if (wild->hash == hash && wild->node == node && wild->anchor == n &&
			wild->at_end == at_end && wild_matches(image, wild, c) &&
			!enter(walk, wild->child, to))
			return false;
	return true;
}

/* Try every length of start and end that some pattern below the node has. */
static bool step_anchors(const struct walk *walk, uint32_t node, uint32_t anchors,
	const struct component *c, struct alive *to)
{
	uint32_t hash = walk->image->seed,
		 starts = anchors & ((1u << AW_PATH_VARIABLE_MAX) - 1);
	uint32_t ends = anchors >> AW_PATH_VARIABLE_MAX;
	unsigned n;

	for (n = 1; starts && n <= c->len; n++, starts >>= 1) {
		hash = aw_hash_step(hash, (unsigned char)c->text[n - 1]);
		if ((starts & 1) && !step_anchored(walk, node, hash, n, 0, c, to))
			return false;
	}
	for (n = 1; ends && n <= c->len; n++, ends >>= 1)
		if ((ends & 1) && !step_anchored(walk, node,
					  aw_hash_bytes(walk->image->seed,
						  c->text + c->len - n, n),
					  n, 1, c, to))
			return false;
	return true;
}

/* Move every live node over one component. */
static bool step(const struct walk *walk, const struct alive *from,
	const struct component *c, struct alive *to)
{
	const struct aw_image *image = walk->image;
	const struct aw_image_node *nodes = aw_part_at(image, AW_PART_NODES);
	const struct aw_image_wild *wilds = aw_part_at(image, AW_PART_WILDS), *wild;
	uint32_t i, j, child;

	to->count = 0;
	for (i = 0; i < from->count; i++) {
		const struct aw_image_node *node = &nodes[from->nodes[i]];

		if ((node->flags & AW_NODE_LOOP) && !enter(walk, from->nodes[i], to))
			return false;
		if (node->flags & AW_NODE_EDGES) {
			child = find_edge(image, from->nodes[i], c);
			if (child && !enter(walk, child, to))
				return false;
		}
		if (node->anchors &&
			!step_anchors(walk, from->nodes[i], node->anchors, c, to))
			return false;
		for (j = 0; j < node->wild_count; j++) {
			wild = &wilds[node->wild_first + j];
			if (wild_matches(image, wild, c) &&
				!enter(walk, wild->child, to))
				return false;
		}
	}
	return true;
}

static void compare_all(const struct aw_image *image, const char *path, size_t len,
	struct aw_matches *m)
{
	const struct aw_image_entry *entries = aw_part_at(image, AW_PART_ENTRIES);
	const uint32_t *patterns = aw_part_at(image, AW_PART_PATTERNS);
	uint32_t i;

	for (i = 0; i < image->parts[AW_PART_PATTERNS].count; i++) {
		const struct aw_image_entry *entry = &entries[patterns[i]];

		if (aw_glob_covers(aw_image_bytes(image, entry->pattern),
			    entry->pattern_len, path, len))
			aw_matches_add(m, entries, patterns[i]);
	}
}

void aw_image_walk(const struct aw_image *image, enum aw_walk how,
	const struct aw_window *window, const char *path, size_t len,
	struct aw_matches *ret)
{
	const struct walk walk = {image, ret, how == AW_WALK_READS ? AW_NODE_READS : 0};
	struct alive sets[2], *from = &sets[0], *to = &sets[1], *swap;
	struct component c;
	size_t at = 0;

	aw_matches_reset(ret, window);
	from->count = 0;
	if (!enter(&walk, 0, from)) {
		compare_all(image, path, len, ret);
		return;
	}
	/* NOLINTNEXTLINE(clang-analyzer-core.*): step() sets it */
	while (from->count > 0) {
		while (at < len && path[at] == '/')
			at++;
		if (at == len)
			return;
		c.text = path + at;
		c.hash = image->seed;
		for (; at < len && path[at] != '/'; at++)
			c.hash = aw_hash_step(c.hash, (unsigned char)path[at]);
		c.len = (size_t)(path + at - c.text);
		if (!step(&walk, from, &c, to)) {
			compare_all(image, path, len, ret);
			return;
		}
		swap = from;
		from = to;
		to = swap;
	}
}
