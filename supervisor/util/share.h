/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share.h - how much of something that all wait for may one have?
 *
 * No more than is left for the others.  Whoever is alone gets a third of it, the next
 * one a little less, and who has nothing yet gets one as long as there is any.
 */
#ifndef AW_SUPERVISOR_UTIL_SHARE_H
#define AW_SUPERVISOR_UTIL_SHARE_H

#include <stdbool.h>
#include <stddef.h>

/* May one that has `mine` have one more, where so many are left? */
static inline bool aw_share_has_room(size_t mine, size_t left)
{
	return mine < (left + 1) / 2;
}

#endif
