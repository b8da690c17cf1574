/* SPDX-License-Identifier: Apache-2.0 */
/* dns_internal.h - numbers in messages of the domain name system; for dns*.c alone. */
#ifndef AW_SUPERVISOR_NET_PROTO_DNS_INTERNAL_H
#define AW_SUPERVISOR_NET_PROTO_DNS_INTERNAL_H

#include <stdint.h>

#define AW_DNS_HEADER 12u

static inline uint16_t aw_get16(const unsigned char *at)
{
	return (uint16_t)(at[0] << 8 | at[1]);
}

static inline uint32_t aw_get32(const unsigned char *at)
{
	return (uint32_t)aw_get16(at) << 16 | aw_get16(at + 2);
}

static inline void aw_put16(unsigned char *at, unsigned value)
{
	at[0] = (unsigned char)(value >> 8);
	at[1] = (unsigned char)value;
}

static inline void aw_put32(unsigned char *at, uint32_t value)
{
	aw_put16(at, value >> 16);
	aw_put16(at + 2, value & 0xffff);
}

#endif
