/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c - checking messages before anything in them is used. */
#include "policy/shared/wire.h"

#include <errno.h>

#include "policy/calls.h"

int aw_wire_check(
	const struct aw_wire_head *head, size_t *ret_size, struct aw_error *err)
{
	size_t size = 0;

	if (head->magic != AW_WIRE_MAGIC)
		return aw_fail(
			err, EPROTO, "a message that does not start with the magic");
	if (head->type < AW_WIRE_REGISTER || head->type >= AW_WIRE_TYPES)
		return aw_fail(err, EPROTO, "message type %u is not known", head->type);
	if (head->call >= AW_CALL_COUNT || head->action >= AW_ACTIONS)
		return aw_fail(err, EPROTO, "call %u or action %u is not known",
			head->call, head->action);
	for (int i = 0; i < AW_WIRE_PARTS; i++) {
		if (head->len[i] > AW_WIRE_MAX - size)
			return aw_fail(err, EMSGSIZE, "a message of more than %u bytes",
				AW_WIRE_MAX);
		size += head->len[i];
	}
	if ((head->type == AW_WIRE_REGISTER || head->type == AW_WIRE_REGISTER_BIG ||
		    head->type == AW_WIRE_AGAIN) &&
		size)
		return aw_fail(err, EPROTO, "a hello with %zu bytes behind it", size);
	*ret_size = size;
	return 0;
}
