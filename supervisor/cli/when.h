/* SPDX-License-Identifier: Apache-2.0 */
/*
 * when.h - moments as people and the log write them.
 */
#ifndef AW_SUPERVISOR_CLI_WHEN_H
#define AW_SUPERVISOR_CLI_WHEN_H

#include <stdint.h>

#include "policy/error.h"

/*
 * RFC 3339 ("2026-11-21T21:55:01.5Z", "+01:00"), the same with a blank, without
 * seconds, without a zone (local time) or a date alone; 0 with nanoseconds since 1970
 * in *ret.
 */
int aw_when_parse(const char *text, int64_t *ret);

/* The same, or how long ago: "90s", "5m", "2h", "1d", "1h30m". */
int aw_when_parse_option(const char *text, int64_t *ret, struct aw_error *err);

#endif
