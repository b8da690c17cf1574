/* SPDX-License-Identifier: Apache-2.0 */
/* compile_trie.c - all path patterns as one tree of components. */
#include <stdlib.h>
#include <string.h>

#include "policy/compile/compile.h"
#include "policy/glob.h"

/* Enough tries to get short buckets even when names were chosen to collide. */
#define SEEDS 8
#define GOOD_BUCKET 8

struct edge {
	uint32_t node, child, text, len;
	bool wild;
};

struct trie {
	struct aw_build *build;
	struct aw_bytes nodes; /* struct aw_image_node */
	struct aw_bytes edges; /* struct edge */
	struct aw_bytes terms; /* pairs of node, entry */
	uint32_t *map;	       /* owned; open addressing: 1 + index of an edge */
	size_t map_size;
	bool failed;
};

static size_t node_count(const struct trie *t)
{
	return t->nodes.len / sizeof(struct aw_image_node);
}

static size_t edge_count(const struct trie *t)
{
	return t->edges.len / sizeof(struct edge);
}

static uint32_t add_node(struct trie *t, uint32_t flags)
{
	struct aw_image_node node = {.flags = flags};

	return (uint32_t)(aw_bytes_add(&t->nodes, &node, sizeof(node)) / sizeof(node));
}

static struct aw_image_node *node_at(struct trie *t, uint32_t i)
{
	return (struct aw_image_node *)(void *)t->nodes.data + i;
}

static const struct edge *edge_at(const struct trie *t, size_t i)
{
	return (const struct edge *)(const void *)t->edges.data + i;
}

static const char *text_at(const struct trie *t, uint32_t at)
{
	return t->build->parts[AW_PART_BYTES].data + at;
}

static uint32_t *map_slot(
	struct trie *t, uint32_t node, bool wild, const char *text, size_t len)
{
	size_t i = aw_hash_end(aw_hash_bytes(wild, text, len), node);

	for (;; i++) {
		uint32_t *slot = &t->map[i & (t->map_size - 1)];
		const struct edge *e;

		if (!*slot)
			return slot;
		e = edge_at(t, *slot - 1);
		if (e->node == node && e->wild == wild && e->len == len &&
			memcmp(text_at(t, e->text), text, len) == 0)
			return slot;
	}
}

static bool grow_map(struct trie *t)
{
	size_t size = t->map_size ? t->map_size * 2 : 256, i;

	if (2 * edge_count(t) < t->map_size)
		return true;
	free(t->map);
	t->map = calloc(size, sizeof(*t->map));
	if (!t->map)
		return false;
	t->map_size = size;
	for (i = 0; i < edge_count(t); i++) {
		const struct edge *e = edge_at(t, i);

		*map_slot(t, e->node, e->wild, text_at(t, e->text), e->len) =
			(uint32_t)i + 1;
	}
	return true;
}

static uint32_t child_of(
	struct trie *t, uint32_t node, bool wild, const char *text, size_t len)
{
	struct aw_bytes *bytes = &t->build->parts[AW_PART_BYTES];
	struct edge e = {.node = node, .len = (uint32_t)len, .wild = wild};
	uint32_t *slot;

	if (!grow_map(t)) {
		t->failed = true;
		return 0;
	}
	slot = map_slot(t, node, wild, text, len);
	if (*slot)
		return edge_at(t, *slot - 1)->child;
	e.child = add_node(t, 0);
	e.text = (uint32_t)aw_bytes_add(bytes, text, len);
	aw_bytes_add(&t->edges, &e, sizeof(e));
	if (t->edges.failed || t->nodes.failed || bytes->failed) {
		t->failed = true;
		return 0;
	}
	*slot = (uint32_t)edge_count(t);
	return e.child;
}

static uint32_t deep_of(struct trie *t, uint32_t node)
{
	uint32_t deep = node_at(t, node)->deep;

	if (deep || (node_at(t, node)->flags & AW_NODE_LOOP))
		return deep ? deep : node;
	deep = add_node(t, AW_NODE_LOOP);
	if (t->nodes.failed) {
		t->failed = true;
		return 0;
	}
	node_at(t, node)->deep = deep;
	return deep;
}

static size_t unescape(char *out, const char *text, size_t len)
{
	size_t from, to = 0;

	for (from = 0; from < len; from++) {
		if (text[from] == '\\' && from + 1 < len)
			from++;
		out[to++] = text[from];
	}
	return to;
}

/*
 * The node that pattern ends at; 0 for "/" itself, and when out of memory.  All nodes
 * on the way get the flags.
 */
static uint32_t add_pattern(struct trie *t, const char *pattern, uint32_t flags)
{
	uint32_t node = 0;
	size_t len;

	for (; !t->failed; pattern += len) {
		node_at(t, node)->flags |= flags;
		pattern += strspn(pattern, "/");
		len = strcspn(pattern, "/");
		if (len == 0)
			break;
		if (len == 2 && memcmp(pattern, "**", 2) == 0) {
			node = deep_of(t, node);
		} else if (!aw_glob_literal(pattern, len)) {
			node = child_of(t, node, true, pattern, len);
		} else {
			char *name = malloc(len);

			if (name)
				node = child_of(t, node, false, name,
					unescape(name, pattern, len));
			else
				t->failed = true;
			free(name);
		}
	}
	return node;
}

static bool is_about_reads(uint8_t list)
{
	return list != AW_LIST_DENY_WRITE && list != AW_LIST_KEYED;
}

static void add_patterns(struct trie *t, const struct aw_draft *draft)
{
	uint32_t pair[2] = {0, 0};
	size_t i;

	add_node(t, 0);
	t->failed = t->nodes.failed;
	for (i = 0; i < draft->count && !t->failed; i++) {
		if (draft->entries[i].dropped)
			continue;
		if (draft->entries[i].pattern) {
			pair[0] = add_pattern(t, draft->entries[i].pattern,
				is_about_reads(draft->entries[i].list) ? AW_NODE_READS
								       : 0);
			aw_bytes_add(&t->terms, pair, sizeof(pair));
		}
		pair[1]++;
	}
	t->failed |= t->nodes.failed | t->terms.failed | t->edges.failed;
}

static unsigned longest_bucket(const struct trie *t, uint32_t seed, size_t literal)
{
	size_t size = 1, i;
	unsigned longest = 0;
	unsigned char *fill;

	while (size < 2 * literal)
		size *= 2;
	fill = calloc(size, 1);
	if (!fill)
		return 0;
	for (i = 0; i < edge_count(t); i++) {
		const struct edge *e = edge_at(t, i);
		unsigned char *f;

		if (e->wild)
			continue;
		f = &fill[aw_hash_end(aw_hash_bytes(seed, text_at(t, e->text), e->len),
				  e->node) &
			  (size - 1)];
		if (*f < 255 && ++*f > longest)
			longest = *f;
	}
	free(fill);
	return longest;
}

static uint32_t pick_seed(const struct trie *t, size_t literal)
{
	uint32_t seed = 2166136261u, best = seed, i;
	unsigned longest, shortest = ~0u;

	for (i = 0; i < SEEDS; i++, seed = seed * 1664525u + 1013904223u) {
		longest = longest_bucket(t, seed, literal);
		if (longest < shortest) {
			shortest = longest;
			best = seed;
		}
		if (longest <= GOOD_BUCKET)
			break;
	}
	return best;
}

static void put_edge(struct trie *t, const struct edge *e)
{
	struct aw_image_edge edge = {
		e->node,
		aw_hash_end(
			aw_hash_bytes(t->build->head.seed, text_at(t, e->text), e->len),
			e->node),
		e->text,
		e->len,
		e->child,
	};

	aw_bytes_add(&t->build->parts[AW_PART_EDGES], &edge, sizeof(edge));
	node_at(t, e->node)->flags |= AW_NODE_EDGES;
}

/* Bytes at the start, or the end, that stand for themselves. */
static size_t literal_start(const char *p, size_t len)
{
	size_t n = 0;

	while (n < len && n < AW_PATH_VARIABLE_MAX && !strchr("*?[\\", p[n]))
		n++;
	return n;
}

static size_t literal_end(const char *p, size_t len)
{
	size_t n = 0;

	if (memchr(p, '\\', len))
		return 0;
	while (n < len && n < AW_PATH_VARIABLE_MAX && !strchr("*?]", p[len - 1 - n]))
		n++;
	return n;
}

static struct aw_image_wild make_wild(const struct trie *t, const struct edge *e)
{
	const char *p = text_at(t, e->text);
	size_t start = literal_start(p, e->len), end = literal_end(p, e->len);
	bool at_end = end > start;
	size_t n = at_end ? end : start;
	uint32_t hash =
		aw_hash_bytes(t->build->head.seed, at_end ? p + e->len - end : p, n);
	struct aw_image_wild w = {
		.node = e->node,
		.hash = aw_path_variable_hash(hash, e->node, at_end),
		.text = e->text,
		.child = e->child,
		.len = (uint16_t)e->len,
		.anchor = (uint8_t)n,
		.at_end = at_end,
	};

	return w;
}

static void put_anchored(struct trie *t)
{
	struct aw_bytes *part = &t->build->parts[AW_PART_ANCHORED];
	size_t i;

	for (i = 0; i < edge_count(t); i++) {
		const struct edge *e = edge_at(t, i);
		struct aw_image_wild w;

		if (!e->wild)
			continue;
		w = make_wild(t, e);
		if (!w.anchor)
			continue;
		node_at(t, e->node)->anchors |=
			1u << (w.anchor - 1 + (w.at_end ? AW_PATH_VARIABLE_MAX : 0));
		aw_bytes_add(part, &w, sizeof(w));
	}
	aw_build_buckets(t->build, AW_PART_ANCHORED, AW_PART_ANCHORED_BUCKETS,
		sizeof(struct aw_image_wild), offsetof(struct aw_image_wild, hash),
		part->len / sizeof(struct aw_image_wild));
}

static bool is_unanchored(const struct trie *t, const struct edge *e)
{
	return e->wild && make_wild(t, e).anchor == 0;
}

/* Give every node its range of wilds and terms: count, add up, fill. */
static void put_ranges(struct trie *t)
{
	struct aw_bytes *wild_part = &t->build->parts[AW_PART_WILDS];
	struct aw_bytes *term_part = &t->build->parts[AW_PART_TERMS];
	const uint32_t(*pairs)[2] = (void *)t->terms.data;
	size_t terms = t->terms.len / sizeof(*pairs), i;
	uint32_t wild = 0, term = 0;

	for (i = 0; i < edge_count(t); i++)
		if (is_unanchored(t, edge_at(t, i)))
			node_at(t, edge_at(t, i)->node)->wild_count++;
	for (i = 0; i < terms; i++)
		node_at(t, pairs[i][0])->term_count++;
	for (i = 0; i < node_count(t); i++) {
		struct aw_image_node *node = node_at(t, (uint32_t)i);

		node->wild_first = wild;
		node->term_first = term;
		wild += node->wild_count;
		term += node->term_count;
		if (!node->wild_count && !node->anchors && !node->deep &&
			!(node->flags & (AW_NODE_EDGES | AW_NODE_LOOP)))
			node->flags |= AW_NODE_LEAF;
		node->wild_count = node->term_count = 0;
	}
	aw_bytes_add(wild_part, NULL, wild * sizeof(struct aw_image_wild));
	aw_bytes_add(term_part, NULL, term * sizeof(uint32_t));
	if (wild_part->failed || term_part->failed)
		return;
	for (i = 0; i < edge_count(t); i++)
		if (is_unanchored(t, edge_at(t, i))) {
			struct aw_image_node *node = node_at(t, edge_at(t, i)->node);
			struct aw_image_wild w = make_wild(t, edge_at(t, i));

			memcpy(wild_part->data +
					sizeof(w) *
						(node->wild_first + node->wild_count++),
				&w, sizeof(w));
		}
	for (i = 0; i < terms; i++) {
		struct aw_image_node *node = node_at(t, pairs[i][0]);

		memcpy(term_part->data + sizeof(uint32_t) * (node->term_first +
								    node->term_count++),
			&pairs[i][1], sizeof(uint32_t));
	}
}

void aw_build_trie(struct aw_build *build, const struct aw_draft *draft)
{
	struct trie t = {.build = build};
	size_t literal = 0, i;

	add_patterns(&t, draft);
	if (t.failed) {
		build->parts[AW_PART_NODES].failed = true;
	} else {
		for (i = 0; i < edge_count(&t); i++)
			literal += !edge_at(&t, i)->wild;
		build->head.seed = pick_seed(&t, literal);
		for (i = 0; i < edge_count(&t); i++)
			if (!edge_at(&t, i)->wild)
				put_edge(&t, edge_at(&t, i));
		aw_build_buckets(build, AW_PART_EDGES, AW_PART_EDGE_BUCKETS,
			sizeof(struct aw_image_edge),
			offsetof(struct aw_image_edge, hash), literal);
		put_anchored(&t);
		put_ranges(&t);
		aw_bytes_add(&build->parts[AW_PART_NODES], t.nodes.data, t.nodes.len);
	}
	aw_bytes_free(&t.nodes);
	aw_bytes_free(&t.edges);
	aw_bytes_free(&t.terms);
	free(t.map);
}
