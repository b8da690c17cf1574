/* SPDX-License-Identifier: Apache-2.0 */
/* preset.c - which of the presets that ship would have said the same. */
#include "supervisor/learn/preset.h"

#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "policy/port_file.h"
#include "supervisor/learn/memory.h"
#include "supervisor/util/cleanup.h"

#define END ".yaml"

/* About no program: whoever does what they let may have them. */
static const char *const general[] = {"home-folders", "loopback", "names", "proxy"};

static void load_one(struct aw_presets *presets, const char *name, size_t len,
	const struct aw_policy_variables *variables)
{
	AW_FREE char *copy = aw_learn_copy(name, len);
	AW_FREE char *text = aw_learn_text("version: 1\nmode: enforce\npreset: [%s]\n"
					   "filesystem: {default: deny}\n"
					   "network: {default: deny}\n",
		copy);
	struct aw_error err;

	if (aw_judge_load_alone(
		    text, variables, &presets->items[presets->count].policy, &err) < 0)
		return;
	presets->items[presets->count++].name = aw_take_ptr(&copy);
}

void aw_presets_load(
	struct aw_presets *presets, const struct aw_policy_variables *variables)
{
	struct dirent **found;
	int count = variables->presets
			    ? scandir(variables->presets, &found, NULL, alphasort)
			    : -1;

	memset(presets, 0, sizeof(*presets));
	for (int i = 0; i < count; i++) {
		const char *name = found[i]->d_name, *end = strstr(name, END);

		if (end && !end[sizeof(END) - 1] && name[0] != '.' &&
			presets->count < AW_PRESETS_MAX)
			load_one(presets, name, (size_t)(end - name), variables);
		free(found[i]);
	}
	if (count >= 0)
		free(found);
}

void aw_presets_release(struct aw_presets *presets)
{
	for (size_t i = 0; i < presets->count; i++) {
		free(presets->items[i].name);
		aw_policy_release(&presets->items[i].policy);
	}
	presets->count = 0;
}

/* The rule stands in the preset itself. */
static bool owns(const struct aw_policy *policy, const char *name, uint32_t index)
{
	struct aw_rule rule;
	const char *file;
	size_t len = strlen(name);

	if (!aw_image_rule(policy->image, index, &rule))
		return false;
	file = strrchr(rule.file, '/') ? strrchr(rule.file, '/') + 1 : rule.file;
	return strncmp(file, name, len) == 0 && strcmp(file + len, END) == 0;
}

uint64_t aw_presets_admit(struct aw_presets *presets, const struct aw_seen *seen,
	const struct aw_access_need *need)
{
	uint64_t mask = 0;

	for (size_t i = 0; i < presets->count; i++) {
		const struct aw_policy *policy = &presets->items[i].policy;
		struct aw_decision decision;

		aw_judge(policy, seen, need, &decision);
		if (decision.verdict != AW_ALLOW)
			continue;
		mask |= (uint64_t)1 << i;
		if (need->access != AW_GRANT_READ &&
			owns(policy, presets->items[i].name, decision.rule))
			presets->owning |= (uint64_t)1 << i;
	}
	return mask;
}

static bool is_general(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(general); i++)
		if (strcmp(general[i], name) == 0)
			return true;
	return false;
}

bool aw_presets_are_of_program(const struct aw_presets *presets)
{
	for (size_t i = 0; i < presets->count; i++)
		if (presets->chosen >> i & 1 && !is_general(presets->items[i].name))
			return true;
	return false;
}

/* Its program ran: the preset's name begins with the program's, as claude-code does. */
static bool is_called_for(const char *name, const struct aw_programs *programs)
{
	AW_FREE char *program = aw_learn_copy(name, strcspn(name, "-"));

	return is_general(name) || aw_programs_have(programs, program) ||
	       aw_programs_have(programs, name);
}

/* Every fact of this one is also one of the others. */
static bool is_spare(
	size_t preset, uint64_t others, const uint64_t *masks, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (masks[i] >> preset & 1 && !(masks[i] & others))
			return false;
	return true;
}

/* The one to try next: it admits least; of equals the last by name. */
static int next_to_try(const struct aw_presets *presets, uint64_t left)
{
	int best = -1;

	for (size_t i = 0; i < presets->count; i++)
		if (left >> i & 1 && (best < 0 || presets->items[i].facts <=
							  presets->items[best].facts))
			best = (int)i;
	return best;
}

void aw_presets_choose(struct aw_presets *presets, const struct aw_programs *programs,
	const uint64_t *masks, size_t count)
{
	uint64_t left;
	int preset;

	presets->chosen = 0;
	for (size_t i = 0; i < presets->count; i++) {
		presets->items[i].facts = 0;
		for (size_t m = 0; m < count; m++)
			presets->items[i].facts += masks[m] >> i & 1;
		if (presets->items[i].facts && presets->owning >> i & 1 &&
			is_called_for(presets->items[i].name, programs))
			presets->chosen |= (uint64_t)1 << i;
	}
	left = presets->chosen;
	while ((preset = next_to_try(presets, left)) >= 0) {
		uint64_t bit = (uint64_t)1 << preset;

		left &= ~bit;
		if (is_spare((size_t)preset, presets->chosen & ~bit, masks, count))
			presets->chosen &= ~bit;
	}
}
