/* SPDX-License-Identifier: Apache-2.0 */
/* gcc_analyzer.h - what gcc's analyzer shall not look into: how tables and lists are
 * made.
 *
 * It would follow every bucket, for minutes.  Here what is found may be anything, and
 * what is put in is kept.
 */
#include <stdlib.h>
#include <uthash.h>
#include <utlist.h>

/* a file says itself what becomes of it without memory */
#undef HASH_NONFATAL_OOM
#undef uthash_fatal

unsigned aw_hash(const void *key, size_t len);
void *aw_hash_find(const void *table, const void *key, size_t len);
void aw_hash_add(void *table, void *what);
void aw_hash_take_out(void *table, void *what);
void aw_list_add(void *list, void *what);

#undef HASH_VALUE
#define HASH_VALUE(key, len, hash) ((hash) = aw_hash(key, len))
#undef HASH_FIND_BYHASHVALUE
#define HASH_FIND_BYHASHVALUE(hh, head, key, len, hash, out)                           \
	((void)(hash), (out) = aw_hash_find(head, key, len))
#undef HASH_ADD_KEYPTR_BYHASHVALUE
#define HASH_ADD_KEYPTR_BYHASHVALUE(hh, head, key, len, hash, add)                     \
	((void)(hash), aw_hash_add(&(head), add))
#undef HASH_DELETE_HH
#define HASH_DELETE_HH(hh, head, handle) aw_hash_take_out(&(head), handle)
#undef LL_PREPEND2
#define LL_PREPEND2(head, add, next) aw_list_add(&(head), add)

/* What grew stays where it was kept; what is taken is owned by somebody else. */
#include "supervisor/util/cleanup.h"

void *aw_grow(void *old, size_t size);
void *aw_taken(void *where);
#define realloc(old, size) aw_grow(old, size)
#undef aw_take_ptr
#define aw_take_ptr(where) ((__typeof__(*(where)))aw_taken(where))
