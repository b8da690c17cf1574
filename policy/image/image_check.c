/* SPDX-License-Identifier: Apache-2.0 */
/* image_check.c - no byte of an image is believed before this has seen it. */
#include <errno.h>

#include "policy/image/image_layout.h"

const uint32_t aw_part_record_sizes[AW_PARTS] = {
	[AW_PART_BYTES] = 1,
	[AW_PART_ENTRIES] = sizeof(struct aw_image_entry),
	[AW_PART_NODES] = sizeof(struct aw_image_node),
	[AW_PART_EDGES] = sizeof(struct aw_image_edge),
	[AW_PART_EDGE_BUCKETS] = sizeof(uint32_t),
	[AW_PART_WILDS] = sizeof(struct aw_image_wild),
	[AW_PART_ANCHORED] = sizeof(struct aw_image_wild),
	[AW_PART_ANCHORED_BUCKETS] = sizeof(uint32_t),
	[AW_PART_TERMS] = sizeof(uint32_t),
	[AW_PART_PATTERNS] = sizeof(uint32_t),
	[AW_PART_COMMANDS] = sizeof(struct aw_image_command),
	[AW_PART_COMMAND_BUCKETS] = sizeof(uint32_t),
	[AW_PART_WORDS] = sizeof(struct aw_image_word),
	[AW_PART_NETS] = sizeof(struct aw_image_net),
	[AW_PART_NET_BUCKETS] = sizeof(uint32_t),
	[AW_PART_PROFILES] = sizeof(uint32_t),
};

static uint32_t count(const struct aw_image *image, enum aw_part_id id)
{
	return image->parts[id].count;
}

static bool range_fits(uint32_t first, uint32_t len, uint32_t count)
{
	return first <= count && len <= count - first;
}

static bool text_fits(const struct aw_image *image, uint32_t at, uint32_t len)
{
	return range_fits(at, len, count(image, AW_PART_BYTES));
}

static bool header_fits(const struct aw_image *image, struct aw_error *err)
{
	unsigned s;

	if (image->mode != AW_AUDIT && image->mode != AW_ENFORCE)
		return aw_fail(err, EBADMSG, "unknown mode"), false;
	for (s = 0; s < AW_STRATA_MAX; s++)
		if (image->strata[s].files > AW_DEFAULT_DENY ||
			image->strata[s].exec > AW_DEFAULT_DENY ||
			image->strata[s].network > AW_DEFAULT_DENY ||
			image->strata[s].listen > 1)
			return aw_fail(err, EBADMSG, "unknown default"), false;
	if (image->prefixes4[1] > 1 || image->prefixes6[4] > 1)
		return aw_fail(err, EBADMSG, "a prefix that is too long"), false;
	return true;
}

static bool parts_fit(const struct aw_image *image, struct aw_error *err)
{
	const char *bytes;
	unsigned i;

	for (i = 0; i < AW_PARTS; i++) {
		const struct aw_part *part = &image->parts[i];

		if (part->offset % 4 || part->offset < sizeof(*image) ||
			part->offset > image->size ||
			part->count >
				(image->size - part->offset) / aw_part_record_sizes[i])
			return aw_fail(err, EBADMSG, "part %u is outside", i), false;
	}
	bytes = aw_part_at(image, AW_PART_BYTES);
	if (count(image, AW_PART_BYTES) == 0 ||
		bytes[count(image, AW_PART_BYTES) - 1] != '\0')
		return aw_fail(err, EBADMSG, "text without an end"), false;
	return true;
}

/* A power of two of buckets that follow each other and end within records. */
static bool buckets_fit(
	const struct aw_image *image, enum aw_part_id buckets, enum aw_part_id records)
{
	const uint32_t *starts = aw_part_at(image, buckets);
	uint32_t n = count(image, buckets), i;

	if (n < 2 || ((n - 1) & (n - 2)) != 0 || starts[0] != 0)
		return false;
	for (i = 1; i < n; i++)
		if (starts[i] < starts[i - 1])
			return false;
	return starts[n - 1] <= count(image, records);
}

static bool entries_fit(const struct aw_image *image)
{
	const struct aw_image_entry *e = aw_part_at(image, AW_PART_ENTRIES);
	uint32_t bytes = count(image, AW_PART_BYTES), i;

	for (i = 0; i < count(image, AW_PART_ENTRIES); i++, e++)
		if (e->text >= bytes || e->file >= bytes || e->layer >= bytes ||
			!text_fits(image, e->pattern, e->pattern_len) ||
			e->stratum >= aw_strata_of(image) || e->list >= AW_LISTS)
			return false;
	return true;
}

static bool profiles_fit(const struct aw_image *image)
{
	const uint32_t *names = aw_part_at(image, AW_PART_PROFILES);
	uint32_t i;

	for (i = 0; i < count(image, AW_PART_PROFILES); i++)
		if (names[i] >= count(image, AW_PART_BYTES))
			return false;
	return i <= AW_PROFILES;
}

/* Children come after their parents, so there is no way in a circle. */
static bool nodes_fit(const struct aw_image *image)
{
	const struct aw_image_node *node = aw_part_at(image, AW_PART_NODES);
	const struct aw_image_wild *wilds = aw_part_at(image, AW_PART_WILDS), *wild;
	uint32_t nodes = count(image, AW_PART_NODES), i, j;

	if (nodes == 0)
		return false;
	for (i = 0; i < nodes; i++, node++) {
		if (!range_fits(node->wild_first, node->wild_count,
			    count(image, AW_PART_WILDS)) ||
			!range_fits(node->term_first, node->term_count,
				count(image, AW_PART_TERMS)))
			return false;
		if (node->deep && (node->deep <= i || node->deep >= nodes))
			return false;
		for (j = 0; j < node->wild_count; j++) {
			wild = &wilds[node->wild_first + j];
			if (wild->child <= i || wild->child >= nodes ||
				!text_fits(image, wild->text, wild->len))
				return false;
		}
	}
	return true;
}

static bool edges_fit(const struct aw_image *image)
{
	const struct aw_image_edge *edge = aw_part_at(image, AW_PART_EDGES);
	uint32_t i;

	for (i = 0; i < count(image, AW_PART_EDGES); i++, edge++)
		if (edge->child <= edge->node ||
			edge->child >= count(image, AW_PART_NODES) ||
			!text_fits(image, edge->text, edge->len))
			return false;
	return buckets_fit(image, AW_PART_EDGE_BUCKETS, AW_PART_EDGES);
}

static bool anchored_fit(const struct aw_image *image)
{
	const struct aw_image_wild *wild = aw_part_at(image, AW_PART_ANCHORED);
	uint32_t i;

	for (i = 0; i < count(image, AW_PART_ANCHORED); i++, wild++)
		if (wild->child <= wild->node ||
			wild->child >= count(image, AW_PART_NODES) ||
			!text_fits(image, wild->text, wild->len))
			return false;
	return buckets_fit(image, AW_PART_ANCHORED_BUCKETS, AW_PART_ANCHORED);
}

static bool indices_fit(const struct aw_image *image, enum aw_part_id id)
{
	const uint32_t *index = aw_part_at(image, id);
	uint32_t i;

	for (i = 0; i < count(image, id); i++)
		if (index[i] >= count(image, AW_PART_ENTRIES))
			return false;
	return true;
}

static bool commands_fit(const struct aw_image *image)
{
	const struct aw_image_command *c = aw_part_at(image, AW_PART_COMMANDS);
	const struct aw_image_word *word = aw_part_at(image, AW_PART_WORDS);
	uint32_t i;

	for (i = 0; i < count(image, AW_PART_COMMANDS); i++, c++)
		if (c->entry >= count(image, AW_PART_ENTRIES) ||
			!text_fits(image, c->name, c->name_len) ||
			!range_fits(c->word_first, c->word_count,
				count(image, AW_PART_WORDS)))
			return false;
	for (i = 0; i < count(image, AW_PART_WORDS); i++, word++)
		if (!text_fits(image, word->text, word->len))
			return false;
	return buckets_fit(image, AW_PART_COMMAND_BUCKETS, AW_PART_COMMANDS);
}

static bool nets_fit(const struct aw_image *image)
{
	const struct aw_image_net *net = aw_part_at(image, AW_PART_NETS);
	uint32_t i;

	for (i = 0; i < count(image, AW_PART_NETS); i++, net++)
		if (net->entry >= count(image, AW_PART_ENTRIES) ||
			net->kind >= AW_NET_KINDS ||
			!text_fits(image, net->key, net->key_len))
			return false;
	return buckets_fit(image, AW_PART_NET_BUCKETS, AW_PART_NETS);
}

int aw_image_check(const void *bytes, size_t size, struct aw_error *err)
{
	const struct aw_image *image = bytes;

	if ((uintptr_t)bytes % 4)
		return aw_fail(err, EINVAL, "policy image: not aligned");
	if (size < sizeof(*image) || image->magic != AW_IMAGE_MAGIC)
		return aw_fail(err, EBADMSG, "policy image: not one");
	if (image->version != AW_IMAGE_VERSION)
		return aw_fail(err, EPROTO, "policy image: version %u, this is %u",
			(unsigned)image->version, AW_IMAGE_VERSION);
	if (image->size != size)
		return aw_fail(err, EBADMSG, "policy image: %u bytes long, not %zu",
			(unsigned)image->size, size);
	if (!header_fits(image, err) || !parts_fit(image, err))
		return aw_while(err, "policy image");
	if (!profiles_fit(image) || !entries_fit(image) || !nodes_fit(image) ||
		!edges_fit(image) || !anchored_fit(image) ||
		!indices_fit(image, AW_PART_TERMS) ||
		!indices_fit(image, AW_PART_PATTERNS) || !commands_fit(image) ||
		!nets_fit(image))
		return aw_fail(err, EBADMSG, "policy image: a reference leads nowhere");
	return 0;
}
