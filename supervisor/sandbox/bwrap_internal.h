/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bwrap_internal.h - between the two files of this runner.
 */
#ifndef AW_SUPERVISOR_SANDBOX_BWRAP_INTERNAL_H
#define AW_SUPERVISOR_SANDBOX_BWRAP_INTERNAL_H

#include "supervisor/sandbox/runner.h"

/* As in struct aw_runner: tried once, then known. */
int aw_bwrap_probe(struct aw_error *err);

#endif
