/* SPDX-License-Identifier: Apache-2.0 */
/* compile.c - entries, doubles, and putting the parts together. */
#include "policy/compile/compile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct aw_draft_entry *aw_draft_add(struct aw_draft *draft)
{
	size_t size = draft->size ? draft->size * 2 : 64;
	struct aw_draft_entry *grown;

	if (draft->count == draft->size) {
		grown = realloc(draft->entries, size * sizeof(*grown));
		if (!grown) {
			draft->failed = true;
			return NULL;
		}
		draft->entries = grown;
		draft->size = size;
	}
	memset(&draft->entries[draft->count], 0, sizeof(*draft->entries));
	return &draft->entries[draft->count++];
}

void aw_draft_like(struct aw_draft_entry *to, const struct aw_draft_entry *from)
{
	to->rank = from->rank;
	to->stratum = from->stratum;
	to->list = from->list;
	to->negated = from->negated;
	to->file = from->file;
	to->layer = from->layer;
	to->line = from->line;
	to->column = from->column;
}

void aw_draft_order(struct aw_draft *draft)
{
	struct aw_draft_entry *ordered;
	size_t i, n = 0;
	int rank;

	if (draft->count < 2)
		return;
	ordered = malloc(draft->count * sizeof(*ordered));
	if (!ordered) {
		draft->failed = true;
		return;
	}
	for (rank = AW_RANK_BASE; rank <= AW_RANK_FILE; rank++)
		for (i = 0; i < draft->count; i++)
			if ((int)draft->entries[i].rank == rank)
				ordered[n++] = draft->entries[i];
	memcpy(draft->entries, ordered, n * sizeof(*ordered));
	free(ordered);
}

void aw_draft_entry_free(struct aw_draft_entry *entry)
{
	size_t j;

	for (j = 0; j < entry->word_count; j++)
		free(entry->words[j]);
	free(entry->words);
	free(entry->nets);
	free(entry->pattern);
	free(entry->names);
	free(entry->text);
}

void aw_draft_release(struct aw_draft *draft)
{
	size_t i;

	for (i = 0; i < draft->count; i++)
		aw_draft_entry_free(&draft->entries[i]);
	free(draft->entries);
	memset(draft, 0, sizeof(*draft));
}

static int compare_text(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

/* Orders by list, then by meaning, then by place. */
static int compare_meaning(
	const struct aw_draft_entry *a, const struct aw_draft_entry *b)
{
	int order;

	if (a->stratum != b->stratum)
		return a->stratum < b->stratum ? -1 : 1;
	if (a->list != b->list)
		return a->list < b->list ? -1 : 1;
	order = compare_text(a->pattern, b->pattern);
	if (order || a->pattern)
		return order ? order : (int)a->negated - (int)b->negated;
	return strcmp(a->text, b->text);
}

bool aw_draft_same(const struct aw_draft_entry *a, const struct aw_draft_entry *b)
{
	return compare_meaning(a, b) == 0;
}

static int compare_entries(const void *left, const void *right)
{
	const struct aw_draft_entry *a = *(const struct aw_draft_entry *const *)left;
	const struct aw_draft_entry *b = *(const struct aw_draft_entry *const *)right;
	int order = compare_meaning(a, b);

	return order ? order : (a > b) - (a < b);
}

/* The last of equal entries decides anyway: the earlier ones can go. */
static void drop_doubles(struct aw_draft *draft)
{
	struct aw_draft_entry **sorted;
	size_t i;

	if (draft->count < 2)
		return;
	sorted = calloc(draft->count, sizeof(*sorted));
	if (!sorted) {
		draft->failed = true;
		return;
	}
	for (i = 0; i < draft->count; i++)
		sorted[i] = &draft->entries[i];
	qsort(sorted, draft->count, sizeof(*sorted), compare_entries);
	for (i = 1; i < draft->count; i++)
		if (compare_meaning(sorted[i - 1], sorted[i]) == 0)
			sorted[i - 1]->dropped = true;
	free(sorted);
}

/* Remember the last text added for file and layer, which repeat a lot. */
struct last {
	const char *text;
	uint32_t at;
};

static uint32_t add_text(struct aw_build *build, const char *text, struct last *last)
{
	if (last && last->text && strcmp(last->text, text) == 0)
		return last->at;
	uint32_t at = (uint32_t)aw_bytes_add(
		&build->parts[AW_PART_BYTES], text, strlen(text) + 1);
	if (last) {
		last->text = text;
		last->at = at;
	}
	return at;
}

static void add_entries(struct aw_build *build, struct aw_draft *draft)
{
	struct last file = {NULL, 0}, layer = {NULL, 0};
	uint32_t index = 0;
	size_t i;

	for (i = 0; i < draft->count; i++) {
		const struct aw_draft_entry *from = &draft->entries[i];
		struct aw_image_entry to = {0};

		if (from->dropped)
			continue;
		to.text = add_text(build, from->text, NULL);
		to.file = add_text(build, from->file, &file);
		to.layer = add_text(build, from->layer, &layer);
		to.line = from->line;
		to.stratum = (uint8_t)from->stratum;
		to.list = (uint8_t)from->list;
		to.negated = from->negated;
		to.shown = from->shown;
		if (from->pattern) {
			to.pattern = add_text(build, from->pattern, NULL);
			to.pattern_len = (uint32_t)strlen(from->pattern);
			aw_bytes_add(
				&build->parts[AW_PART_PATTERNS], &index, sizeof(index));
		} else if (from->names) {
			to.pattern = add_text(build, from->names, NULL);
			to.pattern_len = (uint32_t)strlen(from->names);
		}
		if (from->stratum < AW_STRATA)
			build->head.flags |= (uint32_t)AW_IMAGE_SPEAKS << from->stratum;
		if (from->list == AW_LIST_HIDE && !from->negated)
			build->head.flags |= AW_IMAGE_HIDES;
		if (from->list == AW_LIST_KEYED)
			build->head.flags |= AW_IMAGE_KEYS;
		aw_bytes_add(&build->parts[AW_PART_ENTRIES], &to, sizeof(to));
		index++;
	}
}

static void add_profiles(struct aw_build *build, const struct aw_draft *draft)
{
	unsigned i;

	for (i = 0; i < draft->profile_count; i++) {
		uint32_t at = add_text(build, draft->profiles[i], NULL);

		aw_bytes_add(&build->parts[AW_PART_PROFILES], &at, sizeof(at));
	}
}

void aw_build_buckets(struct aw_build *build, enum aw_part_id records,
	enum aw_part_id buckets, size_t record_size, size_t hash_at, size_t hashed)
{
	struct aw_bytes *part = &build->parts[records];
	uint32_t count = 1, *starts, hash;
	char *sorted;
	size_t i;

	while (count < 2 * hashed)
		count *= 2;
	aw_bytes_add(&build->parts[buckets], NULL, (count + 1) * sizeof(uint32_t));
	sorted = malloc(part->len + 1);
	if (!sorted || part->failed || build->parts[buckets].failed) {
		build->parts[buckets].failed = true;
		free(sorted);
		return;
	}
	starts = (uint32_t *)(void *)build->parts[buckets].data;
	for (i = 0; i < hashed; i++) {
		memcpy(&hash, part->data + i * record_size + hash_at, sizeof(hash));
		starts[(hash & (count - 1)) + 1]++;
	}
	for (i = 1; i <= count; i++)
		starts[i] += starts[i - 1];
	/* From the back, so that each start ends where its first record goes. */
	for (i = hashed; i-- > 0;) {
		memcpy(&hash, part->data + i * record_size + hash_at, sizeof(hash));
		memcpy(sorted + --starts[(hash & (count - 1)) + 1] * record_size,
			part->data + i * record_size, record_size);
	}
	memmove(starts, starts + 1, count * sizeof(uint32_t));
	starts[count] = (uint32_t)hashed;
	if (hashed)
		memcpy(part->data, sorted, hashed * record_size);
	free(sorted);
}

static int put_together(struct aw_build *build, void **ret_image, size_t *ret_size,
	struct aw_error *err)
{
	size_t size = (sizeof(build->head) + 7) & ~(size_t)7;
	char *image;
	unsigned i;

	for (i = 0; i < AW_PARTS; i++) {
		struct aw_part *part = &build->head.parts[i];

		if (build->parts[i].failed || size > UINT32_MAX / 2)
			return aw_fail(
				err, ENOMEM, "the policy does not fit in memory");
		part->offset = (uint32_t)size;
		part->count = (uint32_t)(build->parts[i].len / aw_part_record_sizes[i]);
		size = (size + build->parts[i].len + 7) & ~(size_t)7;
	}
	build->head.size = (uint32_t)size;
	image = calloc(1, size);
	if (!image)
		return aw_fail(err, ENOMEM, "the policy does not fit in memory");
	memcpy(image, &build->head, sizeof(build->head));
	for (i = 0; i < AW_PARTS; i++)
		if (build->parts[i].len)
			memcpy(image + build->head.parts[i].offset,
				build->parts[i].data, build->parts[i].len);
	*ret_image = image;
	*ret_size = size;
	return 0;
}

int aw_draft_compile(struct aw_draft *draft, void **ret_image, size_t *ret_size,
	struct aw_error *err)
{
	struct aw_build build = {0};
	unsigned i;
	int result;

	drop_doubles(draft);
	if (draft->failed)
		return aw_fail(err, ENOMEM, "the policy does not fit in memory");
	build.head.magic = AW_IMAGE_MAGIC;
	build.head.version = AW_IMAGE_VERSION;
	build.head.mode = (uint32_t)draft->mode;
	memcpy(build.head.strata, draft->strata, sizeof(draft->strata));
	for (i = 0; i < AW_STRATA; i++)
		if (draft->strata[i].files || draft->strata[i].exec ||
			draft->strata[i].network || draft->strata[i].listen)
			build.head.flags |= (uint32_t)AW_IMAGE_SPEAKS << i;
	add_entries(&build, draft);
	add_profiles(&build, draft);
	aw_build_trie(&build, draft);
	aw_build_commands(&build, draft);
	aw_build_nets(&build, draft);
	aw_bytes_add(&build.parts[AW_PART_BYTES], "", 1);
	result = put_together(&build, ret_image, ret_size, err);
	for (i = 0; i < AW_PARTS; i++)
		aw_bytes_free(&build.parts[i]);
	return result;
}
