/* SPDX-License-Identifier: Apache-2.0 */
/* port_text.h - functions of string.h that not every C library has. */
#ifndef AW_POLICY_PORT_TEXT_H
#define AW_POLICY_PORT_TEXT_H

#include <string.h>

#ifdef _WIN32
/* memmem(3); NULL when there is no such place. */
static inline void *memmem(
	const void *bytes, size_t len, const void *wanted, size_t wanted_len)
{
	const char *at = bytes;

	for (; len >= wanted_len; at++, len--)
		if (memcmp(at, wanted, wanted_len) == 0)
			return (void *)at;
	return NULL;
}
#endif

#endif
