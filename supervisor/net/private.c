/* SPDX-License-Identifier: Apache-2.0 */
/* private.c - private addresses (RFC 6890 and its kin) and names (RFC 6761, 6762). */
#include "supervisor/net/private.h"

#include <stddef.h>
#include <string.h>

struct range {
	unsigned char bytes[16];
	unsigned bits;
};

static const struct range ranges4[] = {
	{{0}, 8},
	{{10}, 8},
	{{100, 64}, 10},
	{{127}, 8},
	{{169, 254}, 16},
	{{172, 16}, 12},
	{{192, 0, 0}, 24},
	{{192, 168}, 16},
	{{198, 18}, 15},
	{{224}, 4},
	{{240}, 4},
};

static const struct range ranges6[] = {
	{{0}, 127}, /* unspecified and loopback */
	{{0xfc}, 7},
	{{0xfe, 0x80}, 10},
	{{0xfe, 0xc0}, 10},
	{{0xff}, 8},
};

/* IPv6 addresses with an IPv4 one behind these bits. */
static const struct range wrappers[] = {
	{{[10] = 0xff, [11] = 0xff}, 96}, /* mapped */
	{{[8] = 0xff, [9] = 0xff}, 96},	  /* translated */
	{{0x00, 0x64, 0xff, 0x9b}, 96},	  /* NAT64 */
	{{0x20, 0x02}, 16},		  /* 6to4 */
	{{0}, 96},			  /* compatible */
};

static bool is_in(const unsigned char *bytes, const struct range *range)
{
	unsigned whole = range->bits / 8, rest = range->bits % 8;

	return memcmp(bytes, range->bytes, whole) == 0 &&
	       (!rest || (bytes[whole] ^ range->bytes[whole]) >> (8 - rest) == 0);
}

static bool is_in_one(
	const unsigned char *bytes, const struct range *ranges, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (is_in(bytes, &ranges[i]))
			return true;
	return false;
}

#define IN(bytes, ranges) is_in_one(bytes, ranges, sizeof(ranges) / sizeof(*(ranges)))

bool aw_address_is_private(const unsigned char bytes[16])
{
	for (size_t i = 0; i < sizeof(wrappers) / sizeof(*wrappers); i++)
		if (is_in(bytes, &wrappers[i]) &&
			IN(bytes + wrappers[i].bits / 8, ranges4))
			return true;
	return IN(bytes, ranges6);
}

static bool is_below(const char *name, const char *zone)
{
	size_t len = strlen(name), end = strlen(zone);

	return len > end && name[len - end - 1] == '.' &&
	       strcmp(name + len - end, zone) == 0;
}

/* "*", "*.zone" or a name, as in network.allow. */
static bool fits(const char *name, const char *pattern)
{
	return strcmp(pattern, "*") == 0 || strcmp(pattern, name) == 0 ||
	       (strncmp(pattern, "*.", 2) == 0 && is_below(name, pattern + 2));
}

bool aw_name_is_public(const char *name, const struct aw_network *network)
{
	static const char *const zones[] = {"localhost", "local", "internal",
		"home.arpa", "lan", "test", "intranet", "corp", "private", "home"};

	if (!strchr(name, '.'))
		return false;
	for (size_t i = 0; i < sizeof(zones) / sizeof(*zones); i++)
		if (is_below(name, zones[i]))
			return false;
	for (size_t i = 0; i < network->private_names.count; i++)
		if (fits(name, network->private_names.items[i]))
			return false;
	return true;
}
