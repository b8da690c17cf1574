/* SPDX-License-Identifier: Apache-2.0 */
/*
 * order.h - events in the order of time.
 *
 * A log is written in the order in which events come to be known, which differs by some
 * milliseconds, or for a process that was busy by seconds.  So a number of them is held
 * back, and the earliest of these comes next.
 */
#ifndef AW_SUPERVISOR_AUDIT_READ_ORDER_H
#define AW_SUPERVISOR_AUDIT_READ_ORDER_H

#include <cjson/cJSON.h>
#include <stddef.h>
#include <stdint.h>

enum { AW_ORDER_HELD = 8192 };

struct aw_order {
	struct aw_order_one {
		int64_t when;
		cJSON *line; /* owned */
	} * held;	     /* owned, in the order of time */
	size_t first, count;
};

/* Takes line over; the one that comes next goes to show(), if there are enough. */
void aw_order_add(struct aw_order *order, cJSON *line,
	void (*show)(void *ctx, const cJSON *line), void *ctx);

/* All that are still held. */
void aw_order_flush(
	struct aw_order *order, void (*show)(void *ctx, const cJSON *line), void *ctx);

void aw_order_release(struct aw_order *order);

#endif
