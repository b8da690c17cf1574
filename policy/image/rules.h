/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules.h - the rules of an image one by one, for those who explain them.
 */
#ifndef AW_POLICY_IMAGE_RULES_H
#define AW_POLICY_IMAGE_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/image/image.h"

enum aw_rule_section { AW_RULE_FILES, AW_RULE_EXEC, AW_RULE_NETWORK };

/* Files that are judged together; the strictest verdict of all these holds. */
enum aw_rules_of {
	AW_RULES_SYSTEM,
	AW_RULES_TRUSTED,
	AW_RULES_UNTRUSTED,
	AW_RULES_PROTECTIONS,
	AW_RULES_OF, /* from here on, one for each profile */
};

/* What a rule says, besides where it stands; strings point into the image. */
struct aw_rule_about {
	enum aw_rules_of of;
	enum aw_rule_section section;
	const char *list;     /* "deny_write", "listen", ... */
	unsigned list_number; /* tells lists of all sections apart; below AW_RULE_LISTS
			       */
	enum aw_verdict
		strictest; /* what it can lead to; AW_ALLOW where it only admits */
	bool changes_only; /* deny_write: reading stays */
	bool negated;	   /* "!": takes out what others put in */
	bool arguments;	   /* a program with arguments */
	bool literal;	   /* `path` is one path, and what is below it */
	const char *path;  /* the path pattern, not terminated; "" without one */
	size_t path_len;
};

enum { AW_RULE_LISTS = 16 };

/* Fill *ret for a rule index from 0 on; false when there are no more. */
bool aw_image_rule_about(
	const struct aw_image *image, uint32_t rule, struct aw_rule_about *ret);

/* True for a network rule about all names below one: "*.example.com". */
bool aw_image_rule_below(const struct aw_image *image, uint32_t rule);

/* The strictest defaults of all layers: true where they refuse. */
struct aw_rule_defaults {
	bool files_read, files_change, exec, connect, listen;
};
void aw_image_defaults(const struct aw_image *image, struct aw_rule_defaults *ret);

/* The same for one profile; false when there is none of this number. */
bool aw_image_profile_defaults(
	const struct aw_image *image, unsigned profile, struct aw_rule_defaults *ret);

#endif
