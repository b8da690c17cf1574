/* SPDX-License-Identifier: Apache-2.0 */
/* test_wire.c - messages are checked before anything in them is used. */
#include <errno.h>
#include <string.h>

#include "policy/calls.h"
#include "policy/shared/wire.h"
#include "policy/verdict.h"
#include "tests/unit/tap.h"

static const struct aw_wire_head good = {
	.magic = AW_WIRE_MAGIC, .type = AW_WIRE_ASK, .len = {1, 2, 3, 4, 5}};

static void refused(const char *what, struct aw_wire_head head, int code)
{
	struct aw_error err = {0};
	size_t size = 99;

	ok(aw_wire_check(&head, &size, &err) == -1 && err.code == code && size == 99,
		"refuses %s (%s)", what, err.text);
}

#define REFUSED(what, code, ...)                                                       \
	do {                                                                           \
		struct aw_wire_head head = good;                                       \
		__VA_ARGS__;                                                           \
		refused(what, head, code);                                             \
	} while (0)

static void good_messages_are_measured(void)
{
	struct aw_wire_head head = good;
	struct aw_error err;
	size_t size = 0;

	ok(!aw_wire_check(&head, &size, &err) && size == 15, "parts are added up");
	head.len[4] = AW_WIRE_MAX - 10;
	ok(!aw_wire_check(&head, &size, &err) && size == AW_WIRE_MAX,
		"the largest message is taken");
	memset(head.len, 0, sizeof(head.len));
	for (int type = AW_WIRE_REGISTER; type < AW_WIRE_TYPES; type++) {
		head.type = (uint16_t)type;
		size = 1;
		ok(!aw_wire_check(&head, &size, &err) && size == 0,
			"type %d without parts is taken", type);
	}
}

static void bad_messages_are_refused(void)
{
	REFUSED("another magic", EPROTO, head.magic ^= 1);
	REFUSED("type 0", EPROTO, head.type = 0);
	REFUSED("a type to come", EPROTO, head.type = AW_WIRE_TYPES);
	REFUSED("a call that is not there", EPROTO, head.call = AW_CALL_COUNT);
	REFUSED("an action that is not there", EPROTO, head.action = AW_ACTIONS);
	REFUSED("one byte too many", EMSGSIZE, head.len[4] = AW_WIRE_MAX - 9);
	REFUSED("a part of 4 GB", EMSGSIZE, head.len[0] = UINT32_MAX);
	REFUSED("parts whose sum wraps around", EMSGSIZE,
		head.len[0] = head.len[1] = 0x80000000u);
	REFUSED("a hello with something behind it", EPROTO,
		head.type = AW_WIRE_REGISTER);
	REFUSED("the same for a larger ring", EPROTO, head.type = AW_WIRE_REGISTER_BIG);
	REFUSED("and for a new session", EPROTO, head.type = AW_WIRE_AGAIN);
}

int main(void)
{
	good_messages_are_measured();
	bad_messages_are_refused();
	return done();
}
