/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - a policy into a file: whole or not at all, for its owner alone.
 */
#ifndef AW_SUPERVISOR_LEARN_OUTPUT_H
#define AW_SUPERVISOR_LEARN_OUTPUT_H

#include <stdbool.h>

#include "policy/error.h"

/* A file that is there is replaced only with force. */
int aw_output_write(
	const char *file, const char *text, bool force, struct aw_error *err);

#endif
