/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash.h - uthash for a process that must go on without memory.
 *
 * What a HASH_ADD of any kind found no room for is not in the table, has an hh.tbl of
 * NULL and is still the caller's.
 */
#ifndef AW_SUPERVISOR_UTIL_HASH_H
#define AW_SUPERVISOR_UTIL_HASH_H

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

#endif
