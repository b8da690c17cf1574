/* SPDX-License-Identifier: Apache-2.0 */
/* rules.c - the rules of an image one by one. */
#include "policy/image/rules.h"

#include <string.h>

#include "policy/image/image_layout.h"

static const struct {
	const char *name;
	enum aw_rule_section section;
	enum aw_verdict strictest;
} lists[AW_LISTS] = {
	[AW_LIST_HIDE] = {"hide", AW_RULE_FILES, AW_HIDE},
	[AW_LIST_DENY] = {"deny", AW_RULE_FILES, AW_DENY},
	[AW_LIST_DENY_WRITE] = {"deny_write", AW_RULE_FILES, AW_DENY},
	[AW_LIST_ASK] = {"ask", AW_RULE_FILES, AW_ASK},
	[AW_LIST_WRITE] = {"write", AW_RULE_FILES, AW_ALLOW},
	[AW_LIST_READ] = {"read", AW_RULE_FILES, AW_ALLOW},
	[AW_LIST_KEYED] = {"keyed", AW_RULE_FILES, AW_DENY},
	[AW_LIST_EXEC_DENY] = {"deny", AW_RULE_EXEC, AW_DENY},
	[AW_LIST_EXEC_ASK] = {"ask", AW_RULE_EXEC, AW_ASK},
	[AW_LIST_EXEC_ALLOW] = {"allow", AW_RULE_EXEC, AW_ALLOW},
	[AW_LIST_NET_DENY] = {"deny", AW_RULE_NETWORK, AW_DENY},
	[AW_LIST_NET_ASK] = {"ask", AW_RULE_NETWORK, AW_ASK},
	[AW_LIST_NET_ALLOW] = {"allow", AW_RULE_NETWORK, AW_ALLOW},
	[AW_LIST_NET_LISTEN] = {"listen", AW_RULE_NETWORK, AW_ALLOW},
	[AW_LIST_ENTER] = {"when.exec", AW_RULE_EXEC, AW_ALLOW},
	[AW_LIST_ENTER_MCP] = {"when.mcp", AW_RULE_EXEC, AW_ALLOW},
};

_Static_assert((int)AW_RULES_OF == (int)AW_STRATA &&
		       (int)AW_RULES_PROTECTIONS == (int)AW_STRATUM_PROTECTIONS &&
		       (int)AW_RULE_LISTS == (int)AW_LISTS,
	"rules.h says the same as the image");

static bool is_literal(const char *pattern, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (strchr("*?[\\", pattern[i]))
			return false;
	return len > 0 && pattern[0] == '/';
}

bool aw_image_rule_about(
	const struct aw_image *image, uint32_t rule, struct aw_rule_about *ret)
{
	const struct aw_image_entry *entry = aw_part_at(image, AW_PART_ENTRIES);
	const struct aw_image_command *commands = aw_part_at(image, AW_PART_COMMANDS);
	uint32_t count = image->parts[AW_PART_COMMANDS].count;

	if (rule >= image->parts[AW_PART_ENTRIES].count)
		return false;
	entry += rule;
	*ret = (struct aw_rule_about){
		.of = (enum aw_rules_of)entry->stratum,
		.list_number = entry->list,
		.section = lists[entry->list].section,
		.list = lists[entry->list].name,
		.strictest = lists[entry->list].strictest,
		.changes_only = entry->list == AW_LIST_DENY_WRITE ||
				entry->list == AW_LIST_KEYED,
		.negated = entry->negated,
		.path = aw_image_bytes(image, entry->pattern),
		.path_len = entry->pattern_len,
	};
	if (entry->list == AW_LIST_ENTER_MCP) /* a pattern of names */
		ret->path_len = 0;
	ret->literal = is_literal(ret->path, ret->path_len);
	for (uint32_t i = 0; ret->section == AW_RULE_EXEC && i < count; i++)
		if (commands[i].entry == rule)
			ret->arguments = !(commands[i].flags & AW_COMMAND_ANY);
	return true;
}

bool aw_image_rule_below(const struct aw_image *image, uint32_t rule)
{
	const struct aw_image_net *nets = aw_part_at(image, AW_PART_NETS);

	for (uint32_t i = 0; i < image->parts[AW_PART_NETS].count; i++)
		if (nets[i].entry == rule && nets[i].kind == AW_NET_BELOW)
			return true;
	return false;
}

static void add_defaults(
	const struct aw_image_stratum *stratum, struct aw_rule_defaults *ret)
{
	ret->files_read |= stratum->files == AW_DEFAULT_DENY;
	ret->files_change |= stratum->files != AW_DEFAULT_ALLOW;
	ret->exec |= stratum->exec != AW_DEFAULT_ALLOW;
	ret->connect |= stratum->network != AW_DEFAULT_ALLOW;
	ret->listen |= stratum->listen || stratum->network != AW_DEFAULT_ALLOW;
}

void aw_image_defaults(const struct aw_image *image, struct aw_rule_defaults *ret)
{
	memset(ret, 0, sizeof(*ret));
	for (unsigned s = 0; s < AW_STRATA; s++)
		add_defaults(&image->strata[s], ret);
}

bool aw_image_profile_defaults(
	const struct aw_image *image, unsigned profile, struct aw_rule_defaults *ret)
{
	memset(ret, 0, sizeof(*ret));
	if (AW_STRATA + profile >= aw_strata_of(image))
		return false;
	add_defaults(&image->strata[AW_STRATA + profile], ret);
	return true;
}
