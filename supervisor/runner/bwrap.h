/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bwrap.h - between the two files of this runner.
 */
#ifndef AW_SUPERVISOR_RUNNER_BWRAP_H
#define AW_SUPERVISOR_RUNNER_BWRAP_H

#include "supervisor/runner/runner.h"

/* As in struct aw_runner: tried once, then known. */
int aw_bwrap_probe(struct aw_error *err);

#endif
