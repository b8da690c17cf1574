/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern_probe.h - questions that a rule is about, made from its pattern.
 *
 * Whether a rule makes a difference is found out by asking: wildcards are filled with
 * names that hardly a rule has, so that another rule that answers the same question is
 * as wide as this one.  Three fillings, above and below, so that it is not by chance.
 * Pure: no I/O, no allocation.
 */
#ifndef AW_POLICY_IMAGE_PATTERN_PROBE_H
#define AW_POLICY_IMAGE_PATTERN_PROBE_H

#include "policy/image/rules.h"

enum { AW_PROBE_PATH = 4400, AW_PROBE_WORDS = 66 };

struct aw_probe {
	enum aw_action action;
	uint32_t profiles;	  /* of who asks: that of the (first) rule */
	char path[AW_PROBE_PATH]; /* terminated; "" for an Internet address */
	char words[AW_PROBE_PATH];
	const char *argv[AW_PROBE_WORDS]; /* into words; programs alone */
	size_t argc;
	struct aw_address address; /* family 0: files and programs */
	char host[260];
};

/* Question i about a rule, from 0 on; false when there are no more. */
bool aw_probe_make(
	const struct aw_image *image, uint32_t rule, unsigned i, struct aw_probe *ret);

/* Question n that is about both rules, as far as one is found; false after the last. */
bool aw_probe_meet(const struct aw_image *image, uint32_t a, uint32_t b, unsigned n,
	struct aw_probe *ret);

/* What an image answers. */
void aw_probe_decide(const struct aw_image *image, const struct aw_probe *sample,
	struct aw_decision *ret);

/* probe_path.c: a path that pattern covers; how: which filling, and how deep. */
bool aw_probe_path(
	const char *pattern, size_t len, unsigned how, char *to, size_t size);
/* A text that a pattern within one component matches; false when it does not fit. */
bool aw_probe_component(
	const char *pattern, size_t len, const char *star, char *to, size_t size);
/* Path n that both patterns cover; not all there are are found. */
bool aw_probe_common(const char *a, size_t a_len, const char *b, size_t b_len,
	unsigned n, char *to, size_t size);

/* Ways to fill: the first few tell most entries apart, the others are for doubts. */
enum { AW_PROBE_FEW = 12, AW_PROBE_WAYS = 4 * (3 + '~' - '!' + 1) };
void aw_probe_filling(unsigned how, char to[8]);

#endif
