/* SPDX-License-Identifier: Apache-2.0 */
/*
 * message.h - what lies in a target's memory for sendmsg(2), decoded.
 *
 * Bytes in, bytes out: no target, no descriptor, no system call, so that it can be
 * tried with any bytes at all (tests/fuzz/fuzz_message.c).  The bytes are a program's
 * and say what they like; errors are errno values, as the kernel would answer.
 */
#ifndef AW_SUPERVISOR_LINUX_SOCKETS_MESSAGE_H
#define AW_SUPERVISOR_LINUX_SOCKETS_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes of a struct msghdr and of a struct iovec, for words of 8 or 4 bytes. */
#define AW_MESSAGE_HEADER(word) ((word) == 8 ? 56 : 28)
#define AW_MESSAGE_PART(word) ((word) == 8 ? 16 : 8)

/* A struct msghdr, both widths as one; numbers are addresses and lengths in the target. */
struct aw_message_header {
	uint64_t name, name_len, vector, vector_count, control, control_len;
};

struct aw_message_header aw_message_header(const void *bytes, int word);

/* A struct iovec. */
void aw_message_part(
	const void *bytes, int word, uint64_t *ret_base, uint64_t *ret_len);

/*
 * 32-bit control messages (headers of 12 bytes, all aligned to 4) as those of 64 bits:
 * *control of *len bytes, from malloc, is freed and replaced.  On failure it stays.
 */
int aw_control_widen(char **control, size_t *len);

/* One control message: its data as count numbers, which may be replaced.  An errno ends
 * the walk. */
typedef int (*aw_control_visit)(
	void *data, int level, int type, int *numbers, size_t count);

/*
 * Go over control messages of 64 bits (aligned for them), lengths as the kernel takes
 * them (ask_socket.h: CMSG_OK).  Credentials are taken out and *len shrinks, or are
 * refused with EPERM when addressed: over a connection the kernel says itself who we
 * are; elsewhere they would speak of us.
 */
int aw_control_walk(
	char *control, size_t *len, bool addressed, aw_control_visit visit, void *data);

#endif
