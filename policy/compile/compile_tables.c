/* SPDX-License-Identifier: Apache-2.0 */
/* compile_tables.c - commands and network entries as hash tables. */
#include <string.h>

#include "policy/compile/compile.h"
#include "policy/glob.h"

static uint32_t add_text(struct aw_build *build, const void *text, size_t len)
{
	return (uint32_t)aw_bytes_add(&build->parts[AW_PART_BYTES], text, len);
}

/* Argument patterns are kept as written; only the last one says what may follow. */
static uint32_t add_words(struct aw_build *build, const struct aw_draft_entry *entry,
	struct aw_image_command *ret)
{
	struct aw_bytes *words = &build->parts[AW_PART_WORDS];
	const char *last = entry->words[entry->word_count - 1];
	size_t len = strlen(last), i;
	struct aw_image_word word;

	if (entry->word_count == 1)
		return AW_COMMAND_ANY;
	ret->word_first = (uint32_t)(words->len / sizeof(word));
	ret->word_count = (uint32_t)entry->word_count - 1;
	for (i = 1; i < entry->word_count; i++) {
		word.len = (uint32_t)strlen(entry->words[i]);
		word.text = add_text(build, entry->words[i], word.len);
		aw_bytes_add(words, &word, sizeof(word));
	}
	if (len == 1 && last[0] == '*')
		return AW_COMMAND_OPEN | AW_COMMAND_OPTIONAL;
	if (len > 1 && last[len - 1] == '*' && last[len - 2] != '\\')
		return AW_COMMAND_OPEN;
	return 0;
}

/* A name without wildcards is what a program is called: look it up by that. */
static void add_base(
	struct aw_build *build, const char *name, struct aw_image_command *ret)
{
	char plain[256];
	size_t len = 0;

	for (; *name && len < sizeof(plain); name++) {
		if (*name == '\\' && name[1])
			name++;
		plain[len++] = *name;
	}
	ret->hash = aw_hash_end(aw_hash_bytes(build->head.seed, plain, len), 0);
}

static void add_command(struct aw_build *build, const struct aw_draft_entry *entry,
	uint32_t index, bool hashed)
{
	struct aw_image_command command = {.entry = index};
	const char *name = entry->words[0];
	bool path = strchr(name, '/') != NULL;

	/* A path pattern covers what is below it, so the base name may be any other. */
	if ((!path && aw_glob_literal(name, strlen(name))) != hashed)
		return;
	if (hashed)
		add_base(build, name, &command);
	command.name_len = (uint32_t)strlen(name);
	command.name = add_text(build, name, command.name_len);
	command.flags = add_words(build, entry, &command);
	command.flags |= path ? AW_COMMAND_PATH : 0;
	aw_bytes_add(&build->parts[AW_PART_COMMANDS], &command, sizeof(command));
}

static size_t add_commands(
	struct aw_build *build, const struct aw_draft *draft, bool hashed)
{
	uint32_t index = 0;
	size_t i;

	for (i = 0; i < draft->count; i++) {
		if (draft->entries[i].dropped)
			continue;
		if (draft->entries[i].word_count)
			add_command(build, &draft->entries[i], index, hashed);
		index++;
	}
	return build->parts[AW_PART_COMMANDS].len / sizeof(struct aw_image_command);
}

void aw_build_commands(struct aw_build *build, const struct aw_draft *draft)
{
	size_t hashed = add_commands(build, draft, true);

	add_commands(build, draft, false);
	aw_build_buckets(build, AW_PART_COMMANDS, AW_PART_COMMAND_BUCKETS,
		sizeof(struct aw_image_command),
		offsetof(struct aw_image_command, hash), hashed);
}

static void add_net(
	struct aw_build *build, const struct aw_draft_net *from, uint32_t index)
{
	struct aw_image_net net = {.entry = index};

	net.kind = (uint8_t)from->kind;
	net.prefix = (uint8_t)from->prefix;
	net.port_low = (uint16_t)from->port_low;
	net.port_high = (uint16_t)from->port_high;
	net.key = add_text(build, from->key, from->key_len);
	net.key_len = (uint32_t)from->key_len;
	net.hash = aw_net_hash(
		build->head.seed, from->kind, from->prefix, from->key, from->key_len);
	if (from->kind == AW_NET_IPV4)
		build->head.prefixes4[from->prefix / 32] |= 1u << (from->prefix % 32);
	if (from->kind == AW_NET_IPV6)
		build->head.prefixes6[from->prefix / 32] |= 1u << (from->prefix % 32);
	aw_bytes_add(&build->parts[AW_PART_NETS], &net, sizeof(net));
}

static size_t add_nets(
	struct aw_build *build, const struct aw_draft *draft, bool hashed)
{
	uint32_t index = 0;
	size_t i, j;

	for (i = 0; i < draft->count; i++) {
		const struct aw_draft_entry *entry = &draft->entries[i];

		if (entry->dropped)
			continue;
		for (j = 0; j < entry->net_count; j++)
			if ((entry->nets[j].kind != AW_NET_ABSTRACT_GLOB) == hashed)
				add_net(build, &entry->nets[j], index);
		index++;
	}
	return build->parts[AW_PART_NETS].len / sizeof(struct aw_image_net);
}

void aw_build_nets(struct aw_build *build, const struct aw_draft *draft)
{
	size_t hashed = add_nets(build, draft, true);

	add_nets(build, draft, false);
	aw_build_buckets(build, AW_PART_NETS, AW_PART_NET_BUCKETS,
		sizeof(struct aw_image_net), offsetof(struct aw_image_net, hash),
		hashed);
}
