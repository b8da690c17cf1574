/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_tell_internal.h - what the files that tell a policy share: load_tell.c the
 * document, load_tell_rules.c what is judged by lists.
 */
#ifndef AW_POLICY_LOAD_TEXT_LOAD_TELL_INTERNAL_H
#define AW_POLICY_LOAD_TEXT_LOAD_TELL_INTERNAL_H

#include "policy/load/load_internal.h"

/* Who tells what to whom. */
struct aw_telling {
	const struct aw_policy *policy;
	const struct aw_image *image;
	const struct aw_policy_teller *teller;
	void *to;
};

void aw_tell_map(const struct aw_telling *t, const char *key);
void aw_tell_open_list(const struct aw_telling *t, const char *key);
void aw_tell_close(const struct aw_telling *t);

/* A value with the last of its origins, which is looked for as origin_key=origin. */
void aw_tell_value(const struct aw_telling *t, unsigned stratum, const char *key,
	const char *text, bool plain, const char *origin_key, const char *origin);

/* Has the stratum such a list?  An empty `listen` counts. */
bool aw_tell_has_list(const struct aw_telling *t, unsigned stratum, unsigned list);

/* Sections for files, programs and the network; prefix: of the keys' origins. */
void aw_tell_rules(const struct aw_telling *t, unsigned stratum, const char *prefix);

/* The profiles of files that are trusted so far. */
bool aw_tell_has_profiles(const struct aw_telling *t, enum aw_trust trust);
void aw_tell_profiles(const struct aw_telling *t, enum aw_trust trust);

#endif
