/* SPDX-License-Identifier: Apache-2.0 */
/* image_net.c - may this address be spoken to, listened on, or looked up? */
#include <string.h>

#include "policy/glob.h"
#include "policy/image/image_layout.h"
#include "policy/port_net.h"

#define HOST_MAX 255

/* What a look-up finds: port -1 asks for rules on the name as such. */
struct query {
	const struct aw_image *image;
	struct aw_matches *m;
	int32_t port;
	int32_t *next; /* the next port for which it may be otherwise, or NULL */
};

static void note_next(int32_t *next, int32_t port, int32_t change)
{
	if (change > port && change < *next)
		*next = change;
}

static bool port_fits(const struct query *q, const struct aw_image_net *net)
{
	const struct aw_image_entry *entries = aw_part_at(q->image, AW_PART_ENTRIES);

	if (q->port < 0)
		return entries[net->entry].negated ||
		       (net->port_low == 0 && net->port_high == UINT16_MAX);
	if (q->next) {
		note_next(q->next, q->port, net->port_low);
		note_next(q->next, q->port, net->port_high + 1);
	}
	return net->port_low <= q->port && q->port <= net->port_high;
}

static void look_up(const struct query *q, enum aw_net_kind kind, unsigned prefix,
	const void *key, size_t len)
{
	const struct aw_image_net *nets = aw_part_at(q->image, AW_PART_NETS);
	const struct aw_image_entry *entries = aw_part_at(q->image, AW_PART_ENTRIES);
	uint32_t hash = aw_net_hash(q->image->seed, kind, prefix, key, len), i, end;

	aw_bucket(q->image, AW_PART_NET_BUCKETS, hash, &i, &end);
	for (; i < end; i++)
		if (nets[i].hash == hash && nets[i].kind == kind &&
			nets[i].prefix == prefix && nets[i].key_len == len &&
			memcmp(aw_image_bytes(q->image, nets[i].key), key, len) == 0 &&
			port_fits(q, &nets[i]))
			aw_matches_add(q->m, entries, nets[i].entry);
}

/* Kept apart, here and below, so that no frame is on the stack that is not needed. */
__attribute__((noinline)) static void look_up_host(
	const struct query *q, const char *host)
{
	char name[HOST_MAX + 1];
	size_t len, i;

	for (len = 0; host[len]; len++) {
		if (len == HOST_MAX)
			return;
		name[len] = host[len];
		if (name[len] >= 'A' && name[len] <= 'Z')
			name[len] = (char)(name[len] - 'A' + 'a');
	}
	if (len > 1 && name[len - 1] == '.')
		len--;
	if (len == 0)
		return;
	look_up(q, AW_NET_HOST, 0, name, len);
	for (i = 0; i + 1 < len; i++)
		if (name[i] == '.')
			look_up(q, AW_NET_BELOW, 0, name + i + 1, len - i - 1);
}

static void mask(unsigned char *bytes, size_t size, unsigned prefix)
{
	size_t i;

	for (i = 0; i < size; i++) {
		unsigned keep = prefix >= 8 * (i + 1) ? 8
				: prefix > 8 * i      ? prefix - 8 * (unsigned)i
						      : 0;

		bytes[i] &= (unsigned char)(0xff00u >> keep);
	}
}

static void look_up_prefixes(const struct query *q, enum aw_net_kind kind,
	const uint32_t *used, const unsigned char *bytes, unsigned size)
{
	unsigned char key[16];
	unsigned n;

	memcpy(key, bytes, size);
	for (n = 8 * size + 1; n-- > 0;) {
		if (!(used[n / 32] & (1u << (n % 32))))
			continue;
		mask(key, size, n);
		look_up(q, kind, n, key, size);
	}
}

static const unsigned char mapped[12] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

/*
 * What is sent to no address at all (0.0.0.0, ::) goes to the machine itself, so rules
 * about its loopback are rules about that, too: ip(7), ipv6(7).
 */
static bool leads_home(const struct aw_address *address, struct aw_address *ret)
{
	static const unsigned char none[16];
	const unsigned char *bytes = address->bytes;
	bool as_ipv6 = address->family == AF_INET6;

	*ret = (struct aw_address){
		.family = AF_INET, .bytes = {127, 0, 0, 1}, .port = address->port};
	if (!as_ipv6)
		return memcmp(bytes, none, 4) == 0;
	if (memcmp(bytes, mapped, sizeof(mapped)) == 0)
		return memcmp(bytes + 12, none, 4) == 0;
	*ret = (struct aw_address){
		.family = AF_INET6, .bytes = {[15] = 1}, .port = address->port};
	return memcmp(bytes, none, 16) == 0;
}

static void look_up_bytes(const struct query *q, const struct aw_address *address)
{
	const unsigned char *bytes = address->bytes;

	if (address->family == AF_INET)
		look_up_prefixes(q, AW_NET_IPV4, q->image->prefixes4, bytes, 4);
	else if (memcmp(bytes, mapped, sizeof(mapped)) == 0)
		look_up_prefixes(q, AW_NET_IPV4, q->image->prefixes4, bytes + 12, 4);
	else
		look_up_prefixes(q, AW_NET_IPV6, q->image->prefixes6, bytes, 16);
}

static void look_up_internet(const struct query *q, const struct aw_address *address)
{
	look_up(q, AW_NET_ANY, 0, "", 0);
	if (address->host)
		look_up_host(q, address->host);
	look_up_bytes(q, address);
}

static void look_up_abstract(const struct query *q, const char *name, size_t len)
{
	const struct aw_image *image = q->image;
	const struct aw_image_net *nets = aw_part_at(image, AW_PART_NETS);
	const struct aw_image_entry *entries = aw_part_at(image, AW_PART_ENTRIES);
	const uint32_t *starts = aw_part_at(image, AW_PART_NET_BUCKETS);
	uint32_t i = starts[image->parts[AW_PART_NET_BUCKETS].count - 1];

	look_up(q, AW_NET_ABSTRACT, 0, name, len);
	for (; i < image->parts[AW_PART_NETS].count; i++)
		if (nets[i].kind == AW_NET_ABSTRACT_GLOB &&
			aw_glob_match(aw_image_bytes(image, nets[i].key),
				nets[i].key_len, name, len))
			aw_matches_add(q->m, entries, nets[i].entry);
}

static void judge_listen(const struct aw_image *image, unsigned s,
	const struct aw_matches *m, struct aw_decision *ret)
{
	const struct aw_image_stratum *stratum = &image->strata[s];
	uint32_t rule;

	if (aw_matches_hold(image, m, s, AW_LIST_NET_LISTEN, &rule))
		aw_decision_add(ret, AW_ALLOW, rule);
	else if (stratum->listen || stratum->network != AW_DEFAULT_ALLOW)
		aw_decision_add(ret, AW_DENY, rule);
}

static void judge_connect(const struct aw_image *image, unsigned s,
	const struct aw_matches *m, struct aw_decision *ret)
{
	uint32_t rule;

	if (aw_matches_hold(image, m, s, AW_LIST_NET_DENY, &rule))
		aw_decision_add(ret, AW_DENY, rule);
	else if (aw_matches_hold(image, m, s, AW_LIST_NET_ASK, &rule))
		aw_decision_add(ret, AW_ASK, rule);
	else if (aw_matches_hold(image, m, s, AW_LIST_NET_ALLOW, &rule))
		aw_decision_add(ret, AW_ALLOW, rule);
	else if (image->strata[s].network != AW_DEFAULT_ALLOW)
		aw_decision_add(ret, AW_DENY, AW_NO_RULE);
}

static void judge(const struct aw_image *image, const struct aw_window *w,
	enum aw_action action, const struct aw_matches *m, struct aw_decision *ret)
{
	unsigned s;

	for (s = w->first; s < w->end; s++)
		if (action == AW_BIND)
			judge_listen(image, s, m, ret);
		else
			judge_connect(image, s, m, ret);
}

__attribute__((noinline)) static void decide_unix(const struct aw_image *image,
	const struct aw_window *w, enum aw_action action,
	const struct aw_address *address, struct aw_decision *ret)
{
	struct aw_decision files = {AW_ALLOW, AW_NO_RULE};
	struct aw_matches m;
	struct query q = {image, &m, 0, NULL};
	unsigned s;

	if (address->path_len == 0 || !address->path)
		return; /* unnamed: nobody else can be meant */
	if (address->path[0] == '/') {
		aw_image_walk(image,
			aw_is_change(action) ? AW_WALK_CHANGES : AW_WALK_READS, w,
			address->path, address->path_len, &m);
		for (s = w->first; s < w->end; s++)
			aw_image_judge_files(image, s, action, &m, &files);
	} else {
		aw_matches_reset(&m, w);
		if (address->path[0] == '@')
			look_up_abstract(&q, address->path + 1, address->path_len - 1);
	}
	judge(image, w, action, &m, ret);
	aw_decision_add(ret, files.verdict, files.rule);
}

__attribute__((noinline)) static void decide_internet(const struct aw_image *image,
	const struct aw_window *w, enum aw_action action,
	const struct aw_address *address, struct aw_decision *ret)
{
	struct aw_matches m;
	struct query q = {image, &m, address->port, NULL};
	struct aw_address home;

	aw_matches_reset(&m, w);
	look_up_internet(&q, address);
	/* a name alone has no address here; that is not this one */
	if (action != AW_BIND && !address->host && leads_home(address, &home))
		look_up_internet(&q, &home);
	judge(image, w, action, &m, ret);
}

static bool denies_strange_families(
	const struct aw_image *image, const struct aw_window *w, int family)
{
	unsigned s;

	if (family == AF_UNSPEC)
		return false;
#ifdef AF_NETLINK
	if (family == AF_NETLINK)
		return false;
#endif
	for (s = w->first; s < w->end; s++)
		if (image->strata[s].network != AW_DEFAULT_ALLOW)
			return true;
	return false;
}

void aw_image_decide_address(const struct aw_image *image, enum aw_action action,
	const struct aw_address *address, struct aw_decision *ret)
{
	aw_image_decide_address_in(image, 0, action, address, ret);
}

void aw_image_decide_address_in(const struct aw_image *image, uint32_t profiles,
	enum aw_action action, const struct aw_address *address,
	struct aw_decision *ret)
{
	uint32_t windows = aw_windows_of(profiles);
	struct aw_window w;

	ret->verdict = AW_ALLOW;
	ret->rule = AW_NO_RULE;
	while (aw_window_next(image, &windows, &w)) {
		switch (address->family) {
		case AF_UNIX:
			decide_unix(image, &w, action, address, ret);
			break;
		case AF_INET:
		case AF_INET6:
			decide_internet(image, &w, action, address, ret);
			break;
		default:
			if (denies_strange_families(image, &w, address->family))
				aw_decision_add(ret, AW_DENY, AW_NO_RULE);
		}
	}
}

void aw_image_decide_host(
	const struct aw_image *image, const char *host, struct aw_decision *ret)
{
	aw_image_decide_host_in(image, 0, host, ret);
}

void aw_image_decide_host_in(const struct aw_image *image, uint32_t profiles,
	const char *host, struct aw_decision *ret)
{
	uint32_t windows = aw_windows_of(profiles), rule;
	struct aw_matches m;
	struct query q = {image, &m, -1, NULL};
	struct aw_window w;
	unsigned s;

	ret->verdict = AW_ALLOW;
	ret->rule = AW_NO_RULE;
	while (aw_window_next(image, &windows, &w)) {
		aw_matches_reset(&m, &w);
		look_up_host(&q, host);
		for (s = w.first; s < w.end; s++)
			if (aw_matches_hold(image, &m, s, AW_LIST_NET_DENY, &rule))
				aw_decision_add(ret, AW_DENY, rule);
			else if (aw_matches_hold(image, &m, s, AW_LIST_NET_ASK, &rule))
				aw_decision_add(ret, AW_ASK, rule);
	}
}

enum { PORTS = UINT16_MAX + 1 };

/* What holds at one port for a name, or else for an address by its own rules. */
static void judge_at(const struct aw_image *image, uint32_t profiles, const char *host,
	const struct aw_address *address, int32_t port, int32_t *next,
	struct aw_decision *ret)
{
	uint32_t windows = aw_windows_of(profiles);
	struct aw_matches m;
	struct query q = {image, &m, port, next};
	struct aw_window w;

	ret->verdict = AW_ALLOW;
	ret->rule = AW_NO_RULE;
	while (aw_window_next(image, &windows, &w)) {
		aw_matches_reset(&m, &w);
		if (host) {
			look_up(&q, AW_NET_ANY, 0, "", 0);
			look_up_host(&q, host);
		} else if (address) {
			look_up_bytes(&q, address);
		}
		judge(image, &w, AW_CONNECT, &m, ret);
	}
}

/* The mildest that holds at any port. */
static void judge_everywhere(const struct aw_image *image, uint32_t profiles,
	const char *host, const struct aw_address *address, struct aw_decision *ret)
{
	struct aw_decision here;
	int32_t port = 0, next;

	judge_at(image, profiles, host, address, 0, NULL, ret);
	for (; port < PORTS && ret->verdict != AW_ALLOW; port = next) {
		next = PORTS;
		judge_at(image, profiles, host, address, port, &next, &here);
		if (here.verdict < ret->verdict || ret->rule == AW_NO_RULE)
			*ret = here;
	}
}

void aw_image_decide_name_in(const struct aw_image *image, uint32_t profiles,
	const char *host, struct aw_decision *ret)
{
	judge_everywhere(image, profiles, host, NULL, ret);
}

bool aw_image_admits_address(const struct aw_image *image, uint32_t profiles,
	const struct aw_address *address)
{
	struct aw_decision decision;

	judge_everywhere(image, profiles, NULL, address, &decision);
	return decision.verdict == AW_ALLOW;
}

/* What kinds of names a list of one stratum has. */
static bool has_names(
	const struct aw_image *image, unsigned stratum, enum aw_list list, bool any_too)
{
	const struct aw_image_entry *entries = aw_part_at(image, AW_PART_ENTRIES);
	const struct aw_image_net *nets = aw_part_at(image, AW_PART_NETS);
	uint32_t i;

	for (i = 0; i < image->parts[AW_PART_NETS].count; i++) {
		const struct aw_image_entry *entry = &entries[nets[i].entry];

		if (entry->stratum == stratum && entry->list == list &&
			!entry->negated &&
			(nets[i].kind == AW_NET_HOST || nets[i].kind == AW_NET_BELOW ||
				(any_too && nets[i].kind == AW_NET_ANY)))
			return true;
	}
	return false;
}

bool aw_image_admits_names(const struct aw_image *image, uint32_t profiles)
{
	uint32_t windows = aw_windows_of(profiles);
	struct aw_window w;
	unsigned s;

	while (aw_window_next(image, &windows, &w))
		for (s = w.first; s < w.end; s++)
			if (image->strata[s].network != AW_DEFAULT_ALLOW &&
				!has_names(image, s, AW_LIST_NET_ALLOW, true) &&
				!has_names(image, s, AW_LIST_NET_ASK, true))
				return false;
	return true;
}

bool aw_image_judges_names(const struct aw_image *image)
{
	unsigned s;

	for (s = 0; s < aw_strata_of(image); s++)
		if (s != AW_STRATUM_PROTECTIONS &&
			(image->strata[s].network != AW_DEFAULT_ALLOW ||
				has_names(image, s, AW_LIST_NET_DENY, false) ||
				has_names(image, s, AW_LIST_NET_ASK, false)))
			return true;
	return false;
}

bool aw_image_next_name(
	const struct aw_image *image, uint32_t *at, const char **ret, size_t *ret_len)
{
	const struct aw_image_entry *entries = aw_part_at(image, AW_PART_ENTRIES);
	const struct aw_image_net *nets = aw_part_at(image, AW_PART_NETS);

	while (*at < image->parts[AW_PART_NETS].count) {
		const struct aw_image_net *net = &nets[(*at)++];
		const struct aw_image_entry *entry = &entries[net->entry];

		if (net->kind != AW_NET_HOST || entry->list != AW_LIST_NET_ALLOW ||
			entry->negated)
			continue;
		*ret = aw_image_bytes(image, net->key);
		*ret_len = net->key_len;
		return true;
	}
	return false;
}
