/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_wire.c - a message that is accepted has a type, a call and an action that exist,
 * and parts that lie one behind the other in exactly the bytes that were announced; one
 * that is refused says why and announces nothing.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "policy/calls.h"
#include "policy/shared/wire.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_be_whole(const struct aw_wire_head *head, size_t size)
{
	size_t at = 0;

	if (size > AW_WIRE_MAX || !head->type || head->type >= AW_WIRE_TYPES)
		abort();
	if (!aw_call_name(head->call)[0] || head->call >= AW_CALL_COUNT ||
		head->action >= AW_ACTIONS)
		abort();
	for (int i = 0; i < AW_WIRE_PARTS; i++) {
		if (head->len[i] > size - at)
			abort();
		at += head->len[i];
	}
	if (at != size)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct aw_error err = {0};
	struct aw_wire_head head;
	size_t announced = SIZE_MAX;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, data, sizeof(head));
	if (aw_wire_check(&head, &announced, &err) == 0)
		must_be_whole(&head, announced);
	else if (announced != SIZE_MAX || !err.code || !err.text[0])
		abort();
	return 0;
}
