/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yield.h - put in front of policy/shared/ring.c: lets others run before each step of
 * it.
 *
 * Each atomic operation is one step; a copy is two, since half of it may be seen.
 * Memory is sequentially consistent here: what the orders in ring.c add is not looked
 * at.
 */
#ifndef AW_TESTS_MODEL_YIELD_H
#define AW_TESTS_MODEL_YIELD_H

#include <stdatomic.h>
#include <string.h>

void aw_model_yield(void);
void aw_model_copy(void *to, const void *from, size_t len);

#undef atomic_load_explicit
#undef atomic_load
#undef atomic_store_explicit
#undef atomic_store
#undef atomic_compare_exchange_weak_explicit
#undef atomic_compare_exchange_strong_explicit
#undef atomic_compare_exchange_strong

#define atomic_load_explicit(at, order) (aw_model_yield(), get_value(at))
#define atomic_load(at) (aw_model_yield(), get_value(at))
#define atomic_store_explicit(at, value, order) (aw_model_yield(), put_value(at, value))
#define atomic_store(at, value) (aw_model_yield(), put_value(at, value))
#define atomic_compare_exchange_weak_explicit(at, expected, value, yes, no)            \
	(aw_model_yield(), exchange(at, expected, value))
#define atomic_compare_exchange_strong_explicit(at, expected, value, yes, no)          \
	(aw_model_yield(), exchange(at, expected, value))
#define atomic_compare_exchange_strong(at, expected, value)                            \
	(aw_model_yield(), exchange(at, expected, value))
#define memcpy(to, from, len) aw_model_copy(to, from, len)

#define get_value(at) (*(volatile __typeof__(*(at)) *)(at))
#define put_value(at, value) ((void)(*(at) = (value)))
#define exchange(at, expected, value)                                                  \
	(*(at) == *(expected) ? (*(at) = (value), 1) : (*(expected) = *(at), 0))

#endif
