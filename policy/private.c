/* SPDX-License-Identifier: Apache-2.0 */
/* private.c - the ranges of addresses that are not public. */
#include "policy/private.h"

#include <string.h>
#include <strings.h>

#include "policy/array.h"
#include "policy/port_net.h"

struct range {
	unsigned char bytes[4], prefix;
	const char *kind;
};

/* RFC 6890 and those after it; what is for documentation leads nowhere. */
static const struct range ranges4[] = {
	{{0, 0, 0, 0}, 8, "unspecified"},
	{{10, 0, 0, 0}, 8, "private"},
	{{100, 64, 0, 0}, 10, "shared by a provider's customers"},
	{{127, 0, 0, 0}, 8, "loopback"},
	{{169, 254, 0, 0}, 16, "link-local"},
	{{172, 16, 0, 0}, 12, "private"},
	{{192, 0, 0, 0}, 24, "reserved"},
	{{192, 168, 0, 0}, 16, "private"},
	{{198, 18, 0, 0}, 15, "reserved"},
	{{224, 0, 0, 0}, 4, "multicast"},
	{{240, 0, 0, 0}, 4, "reserved"},
};

/* The first bits say it; ::/96 and what carries IPv4 is looked at apart. */
static const struct range ranges6[] = {
	{{0xfc, 0}, 7, "private"},
	{{0xfe, 0x80}, 10, "link-local"},
	{{0xfe, 0xc0}, 10, "private"},
	{{0xff, 0}, 8, "multicast"},
	{{0x20, 0x01, 0, 0}, 32, "tunnelled (Teredo)"},
};

/* RFC 8215: each network's own way from IPv6 to IPv4. */
static const unsigned char translated[6] = {0, 0x64, 0xff, 0x9b, 0, 1};

/* Where IPv6 carries an IPv4 address: a prefix, and how far in it is. */
static const struct {
	unsigned char bytes[12], prefix, at;
} carriers[] = {
	{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 12, 12},
	{{0}, 12, 12},
	{{[8] = 0xff, [9] = 0xff}, 12, 12},
	{{0, 0x64, 0xff, 0x9b}, 12, 12},
	{{0x20, 0x02}, 2, 2},
};

static const char *const local_names[] = {"localhost", "local", "internal", "home.arpa",
	"lan", "test", "intranet", "corp", "private", "home"};

static bool begins_with(const unsigned char *bytes, const struct range *range)
{
	unsigned bit;

	for (bit = 0; bit < range->prefix; bit++)
		if ((bytes[bit / 8] ^ range->bytes[bit / 8]) & (0x80 >> bit % 8))
			return false;
	return true;
}

static const char *kind_among(
	const unsigned char *bytes, const struct range *ranges, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (begins_with(bytes, &ranges[i]))
			return ranges[i].kind;
	return NULL;
}

static const char *kind4(const unsigned char *bytes)
{
	return kind_among(bytes, ranges4, ARRAY_SIZE(ranges4));
}

const char *aw_private_kind(const struct aw_address *address)
{
	static const unsigned char home[16] = {[15] = 1}, isatap[3] = {0, 0x5e, 0xfe};
	const unsigned char *bytes = address->bytes;
	size_t i;

	if (address->family == AF_INET)
		return kind4(bytes);
	if (address->family != AF_INET6)
		return NULL;
	if (memcmp(bytes, home, sizeof(home)) == 0)
		return "loopback";
	for (i = 0; i < ARRAY_SIZE(carriers); i++)
		if (memcmp(bytes, carriers[i].bytes, carriers[i].prefix) == 0)
			return kind4(bytes + carriers[i].at);
	if (memcmp(bytes, translated, sizeof(translated)) == 0)
		return "translated to IPv4";
	/* ISATAP, RFC 5214: below any prefix */
	if ((bytes[8] & ~2) == 0 && memcmp(bytes + 9, isatap, sizeof(isatap)) == 0 &&
		kind4(bytes + 12))
		return kind4(bytes + 12);
	return kind_among(bytes, ranges6, ARRAY_SIZE(ranges6));
}

static bool is_below(const char *name, const char *domain)
{
	size_t len = strlen(name), end = strlen(domain);

	return len > end && name[len - end - 1] == '.' &&
	       strcasecmp(name + len - end, domain) == 0;
}

static bool matches(const char *pattern, const char *name)
{
	if (strcmp(pattern, "*") == 0)
		return true;
	return strncmp(pattern, "*.", 2) == 0 ? is_below(name, pattern + 2)
					      : strcasecmp(pattern, name) == 0;
}

bool aw_private_is_public(const char *name, char *const *patterns, size_t count)
{
	size_t i;

	if (!strchr(name, '.'))
		return false;
	for (i = 0; i < ARRAY_SIZE(local_names); i++)
		if (is_below(name, local_names[i]))
			return false;
	for (i = 0; i < count; i++)
		if (matches(patterns[i], name))
			return false;
	return true;
}

bool aw_address_is_loopback(const struct aw_address *a)
{
	static const unsigned char mapped[12] = {
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255};
	static const unsigned char one[16] = {[15] = 1};

	if (a->family == AF_INET)
		return a->bytes[0] == 127;
	return memcmp(a->bytes, one, 16) == 0 ||
	       (memcmp(a->bytes, mapped, 12) == 0 && a->bytes[12] == 127);
}

bool aw_address_is_any(const struct aw_address *a)
{
	static const unsigned char none[16];

	return memcmp(a->bytes, none, a->family == AF_INET ? 4 : 16) == 0;
}
