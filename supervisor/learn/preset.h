/* SPDX-License-Identifier: Apache-2.0 */
/*
 * preset.h - which of the presets that ship would have said the same.
 *
 * Each preset in the directory is loaded by itself and asked about what was wanted. One
 * is taken when a rule of its own (not of one that it includes) admits a change or an
 * address (reading is left to the default beside it), when the program that it is named
 * after ran or it is about no program, and when the others that are taken do not admit
 * all of it anyway.
 */
#ifndef AW_SUPERVISOR_LEARN_PRESET_H
#define AW_SUPERVISOR_LEARN_PRESET_H

#include "supervisor/learn/reference_policy.h"
#include "supervisor/learn/counter.h"

enum { AW_PRESETS_MAX = 64 };

struct aw_presets {
	struct {
		char *name; /* owned */
		struct aw_policy policy;
		uint64_t facts; /* that it admits */
	} items[AW_PRESETS_MAX];
	size_t count;
	uint64_t owning; /* those of which a rule of their own admitted something */
	uint64_t chosen;
};

/* All that can be loaded from the directory; none is fine. */
void aw_presets_load(
	struct aw_presets *presets, const struct aw_policy_variables *variables);
void aw_presets_release(struct aw_presets *presets);

/* Those that admit a need, a bit each. */
uint64_t aw_presets_admit(struct aw_presets *presets, const struct aw_seen *seen,
	const struct aw_access_need *need);

/* masks are what each of the things that were wanted is admitted by. */
void aw_presets_choose(struct aw_presets *presets, const struct aw_programs *programs,
	const uint64_t *masks, size_t count);

/* True when one of the chosen presets is a program's. */
bool aw_presets_are_of_program(const struct aw_presets *presets);

#endif
