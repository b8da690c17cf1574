/* SPDX-License-Identifier: Apache-2.0 */
/*
 * permission_diff.h - what one policy allows and another one does not.
 *
 * Policies are compared by what they say, not by what they mean for each file: a rule
 * that admits, or takes a denial out, counts unless the other policy clearly has it.
 * So too much may be listed, and never too little.
 */
#ifndef AW_SUPERVISOR_LINT_PERMISSION_DIFF_H
#define AW_SUPERVISOR_LINT_PERMISSION_DIFF_H

#include <stdio.h>

#include "policy/load/load.h"

/* Print a line for each thing in which `with` is looser than `without`; how many. */
unsigned aw_permission_diff_print(
	const struct aw_policy *without, const struct aw_policy *with, FILE *out);

#endif
