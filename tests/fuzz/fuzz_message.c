/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_message.c - control messages of a target's, of either width, keep what they say:
 * widened ones are the same list; a walk that succeeds leaves no credentials and a list
 * that the same walk takes again with the same descriptors, all of them inside it.
 * Input: a byte of choices (1: 32 bits, 2: addressed), then the bytes.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "supervisor/linux/sockets/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
	const char *control;
	size_t len, calls, numbers;
};

static int note_rights(void *data, int level, int type, int *numbers, size_t count)
{
	struct seen *seen = data;
	const char *start = (const char *)numbers;

	if (start < seen->control ||
		start + count * sizeof(int) > seen->control + seen->len)
		abort();
	if (level != SOL_SOCKET || type != SCM_RIGHTS)
		return 0;
	for (size_t i = 0; i < count; i++)
		seen->numbers += (unsigned)(numbers[i] == 7);
	seen->calls++;
	return 0;
}

/* Each narrow message is the wide one at the same place in the list. */
static void must_be_same(
	const uint8_t *narrow, size_t size, const char *wide, size_t wide_len)
{
	size_t at = 0, to = 0, data_len;
	struct cmsghdr c;
	uint32_t head[3];

	while (at < size && size - at >= sizeof(head)) {
		memcpy(head, narrow + at, sizeof(head));
		data_len = head[0] - sizeof(head);
		if (wide_len - to < CMSG_LEN(data_len))
			abort();
		memcpy(&c, wide + to, sizeof(c));
		if (c.cmsg_len != CMSG_LEN(data_len) || c.cmsg_level != (int)head[1] ||
			c.cmsg_type != (int)head[2] ||
			memcmp(wide + to + CMSG_LEN(0), narrow + at + sizeof(head),
				data_len) != 0)
			abort();
		at += (head[0] + 3) & ~3u;
		to += CMSG_SPACE(data_len);
	}
	if (to != wide_len)
		abort();
}

static void must_be_without_credentials(const char *control, size_t len)
{
	struct cmsghdr c;

	for (size_t at = 0; at < len && len - at >= sizeof(c);
		at += CMSG_ALIGN(c.cmsg_len)) {
		memcpy(&c, control + at, sizeof(c));
		if (c.cmsg_level == SOL_SOCKET && c.cmsg_type == SCM_CREDENTIALS)
			abort();
	}
}

static void walk(char *control, size_t len, bool addressed)
{
	struct seen first = {.control = control, .len = len}, second;
	size_t left = len;

	if (aw_control_walk(control, &left, addressed, note_rights, &first) != 0)
		return;
	if (left > len || (addressed && left != len))
		abort();
	must_be_without_credentials(control, left);
	second = (struct seen){.control = control, .len = left};
	len = left;
	if (aw_control_walk(control, &left, addressed, note_rights, &second) != 0 ||
		left != len || first.calls != second.calls ||
		first.numbers != second.numbers)
		abort();
}

static void look_at_headers(const uint8_t *data, size_t size)
{
	uint64_t base, len;

	for (int word = 4; word <= 8; word += 4) {
		if (size < AW_MESSAGE_HEADER((size_t)word))
			continue;
		if (aw_message_header(data, word).name_len > UINT32_MAX)
			abort();
		aw_message_part(data, word, &base, &len);
		if (word == 4 && (base > UINT32_MAX || len > UINT32_MAX))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *control;
	size_t len;

	if (size < 2 || size > 65537)
		return 0;
	len = size - 1;
	look_at_headers(data + 1, len);
	control = malloc(len);
	if (!control)
		return 0;
	memcpy(control, data + 1, len);
	if (!(data[0] & 1)) {
		walk(control, len, data[0] & 2);
	} else if (aw_control_widen(&control, &len) == 0) {
		must_be_same(data + 1, size - 1, control, len);
		walk(control, len, data[0] & 2);
	}
	free(control);
	return 0;
}
