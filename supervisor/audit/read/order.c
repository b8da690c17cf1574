/* SPDX-License-Identifier: Apache-2.0 */
/* order.c - events in the order of time. */
#include "supervisor/audit/read/order.h"

#include <stdlib.h>
#include <string.h>

#include "supervisor/audit/read/log_filter.h"
#include "supervisor/cli/when.h"

static void show_first(
	struct aw_order *order, void (*show)(void *ctx, const cJSON *line), void *ctx)
{
	cJSON *line = order->held[order->first].line;

	order->first++;
	order->count--;
	show(ctx, line);
	cJSON_Delete(line);
}

/* When the last of what is held was; before all else when nothing is. */
static int64_t last_time(const struct aw_order *order)
{
	return order->count ? order->held[order->first + order->count - 1].when
			    : INT64_MIN;
}

void aw_order_add(struct aw_order *order, cJSON *line,
	void (*show)(void *ctx, const cJSON *line), void *ctx)
{
	const char *ts = aw_event_word(line, "ts");
	struct aw_order_one one = {.line = line}, *held;
	size_t at;

	if (!order->held)
		order->held = calloc(2 * AW_ORDER_HELD, sizeof(*order->held));
	if (!order->held) { /* as it comes */
		show(ctx, line);
		cJSON_Delete(line);
		return;
	}
	if (order->count == AW_ORDER_HELD)
		show_first(order, show, ctx);
	if (order->first == AW_ORDER_HELD) {
		memmove(order->held, order->held + order->first,
			order->count * sizeof(*order->held));
		order->first = 0;
	}
	held = order->held;
	if (!ts || aw_when_parse(ts, &one.when) < 0)
		one.when = last_time(order);
	for (at = order->first + order->count;
		at > order->first && held[at - 1].when > one.when; at--)
		held[at] = held[at - 1];
	held[at] = one;
	order->count++;
}

void aw_order_flush(
	struct aw_order *order, void (*show)(void *ctx, const cJSON *line), void *ctx)
{
	while (order->count)
		show_first(order, show, ctx);
	order->first = 0;
}

void aw_order_release(struct aw_order *order)
{
	for (size_t i = 0; i < order->count; i++)
		cJSON_Delete(order->held[order->first + i].line);
	free(order->held);
	*order = (struct aw_order){.count = 0};
}
