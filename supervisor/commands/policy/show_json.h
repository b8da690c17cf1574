/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_json.h - the effective policy as JSON.
 *
 * {"policy": {...}, "origins": {...}}: the first is a policy in its own right; the
 * second has the same shape, with {"file", "line", "layer"} in place of each value, or
 * null where no file says it.
 */
#ifndef AW_SUPERVISOR_COMMANDS_POLICY_SHOW_JSON_H
#define AW_SUPERVISOR_COMMANDS_POLICY_SHOW_JSON_H

#include <stdio.h>

#include "policy/error.h"
#include "policy/load/load.h"

int aw_show_json(const struct aw_policy *policy, FILE *out, struct aw_error *err);

#endif
