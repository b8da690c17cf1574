/* SPDX-License-Identifier: Apache-2.0 */
/*
 * component.h - one part of a path as it stands in a policy.
 *
 * Names that programs make up each time (process numbers, time stamps, what mkstemp(3)
 * and its kin put in, identifiers) become wildcards; everything else is quoted.
 */
#ifndef AW_SUPERVISOR_LEARN_COMPONENT_H
#define AW_SUPERVISOR_LEARN_COMPONENT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

enum { AW_COMPONENT_SIZE = 520 }; /* of the longest name, every sign quoted */

/* Who used a name: that tells what may be made up in it. */
struct aw_name_maker {
	pid_t pid;
	bool python; /* whose names for temporary files are eight signs and no more */
	const char *user; /* a part that is just this becomes $USER; NULL: none does */
};

/*
 * Write the pattern for a name of len bytes (at most 255 of them count).  temporary:
 * it stands in a directory for temporary files, where made-up names are taken for
 * granted. True when the pattern has a wildcard.
 */
bool aw_component_pattern(const char *name, size_t len, bool temporary,
	struct aw_name_maker maker, char out[AW_COMPONENT_SIZE]);

/*
 * The same for the part at of a path below the root directory (whole, no leading slash)
 * or, when rooted is false, below a variable: a number in /proc is that of a process,
 * and the user's name is the variable.
 */
bool aw_component_of_path(const char *whole, const char *at, size_t len, bool rooted,
	bool temporary, struct aw_name_maker maker, char out[AW_COMPONENT_SIZE]);

/* The same with nothing made up: every sign means itself. */
void aw_component_quote(const char *name, size_t len, char out[AW_COMPONENT_SIZE]);

#endif
