/* SPDX-License-Identifier: Apache-2.0 */
/* load_ask.c - how long a question to a human waits for its answer. */
#include "policy/load/load_internal.h"

static void read_deadline(
	struct aw_loader *l, const struct aw_node *value, int argument)
{
	static const char expected[] = "a time such as 90s, 30m or 1h";
	char text[48];
	uint64_t seconds;

	(void)argument;
	if (value->kind != AW_NODE_TEXT) {
		aw_report(l, value, "expected %s for ask.deadline, not a list or map",
			expected);
		return;
	}
	if (!aw_duration_read(value->text, &seconds)) {
		aw_report(l, value, "'%.60s' is not %s", value->text, expected);
		return;
	}
	if (l->deadline_fixed && l->source->trust != AW_SYSTEM) {
		if (seconds != l->policy.ask_deadline)
			aw_warn(l, value,
				"'ask.deadline: %.60s' is ignored: the system policy "
				"says %llu seconds",
				value->text,
				(unsigned long long)l->policy.ask_deadline);
		return;
	}
	l->deadline_fixed |= l->source->trust == AW_SYSTEM;
	l->policy.ask_deadline = seconds;
	aw_amount_text((double)seconds, text, sizeof(text));
	aw_origin_add(l, value, "ask.deadline", text);
}

static const struct aw_key keys[] = {
	{"deadline", read_deadline, 0, 0, &aw_time_shape,
		"when nobody has answered by then, the call is denied"},
	{NULL, NULL, 0, 0, NULL, NULL},
};

const struct aw_shape aw_ask_shape = {.kind = AW_SHAPE_MAP, .keys = keys};

void aw_ask_read(struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	aw_keys_read(l, value, "ask", keys);
}
