/* SPDX-License-Identifier: Apache-2.0 */
/* region.c - bounds of verdicts below a directory. */
#include "policy/image/region.h"

#include <string.h>

#include "policy/glob.h"
#include "policy/image/image_layout.h"
#include "policy/port_net.h"
#include "policy/private.h"

/* A name that hardly a literal rule has and no path can hold unnoticed. */
static const char any_child[] = "/\x01\x7f";

static const struct aw_image_entry *pattern_at(const struct aw_image *image, size_t i)
{
	const struct aw_image_entry *entries = aw_part_at(image, AW_PART_ENTRIES);
	const uint32_t *patterns = aw_part_at(image, AW_PART_PATTERNS);

	return &entries[patterns[i]];
}

size_t aw_image_pattern_count(const struct aw_image *image)
{
	return image->parts[AW_PART_PATTERNS].count;
}

static enum aw_boundary_kind kind_of(const struct aw_image_entry *entry)
{
	switch (entry->list) {
	case AW_LIST_HIDE:
	case AW_LIST_DENY:
	case AW_LIST_DENY_WRITE:
	case AW_LIST_ASK:
	case AW_LIST_WRITE:
	case AW_LIST_READ:
	case AW_LIST_EXEC_DENY:
		return AW_BOUNDARY_FILES;
	case AW_LIST_NET_ALLOW:
	case AW_LIST_NET_ASK:
	case AW_LIST_NET_LISTEN:
		return entry->negated ? AW_BOUNDARY_OTHER : AW_BOUNDARY_SOCKET;
	default:
		return AW_BOUNDARY_OTHER;
	}
}

/* The next component of text from *at on; false at the end. */
static bool next(const char *text, size_t len, size_t *at, size_t *ret_len)
{
	size_t start;

	while (*at < len && text[*at] == '/')
		(*at)++;
	for (start = *at; start < len && text[start] != '/'; start++)
		;
	*ret_len = start - *at;
	return *ret_len > 0;
}

size_t aw_image_boundary(const struct aw_image *image, size_t i, char *to, size_t size,
	struct aw_boundary *ret)
{
	const struct aw_image_entry *entry = pattern_at(image, i);
	const char *text = aw_image_bytes(image, entry->pattern);
	size_t at = 0, n, used = 0, j;

	ret->kind = kind_of(entry);
	ret->negated = entry->negated;
	while (next(text, entry->pattern_len, &at, &n) &&
		aw_glob_literal(text + at, n)) {
		if (used + n + 2 > size)
			return 0;
		to[used++] = '/';
		for (j = 0; j < n; j++) {
			if (text[at + j] == '\\' && j + 1 < n)
				j++;
			to[used++] = text[at + j];
		}
		at += n;
	}
	ret->wild = next(text, entry->pattern_len, &at, &n);
	if (!used)
		to[used++] = '/';
	to[used] = '\0';
	return used;
}

/*
 * Can the pattern match something below path that hangs on a wildcard, so that no
 * boundary tells of it?  Components are taken one by one; from "**" on everything may
 * still come.
 */
static bool may_come(
	const char *pattern, size_t pattern_len, const char *path, size_t path_len)
{
	size_t p = 0, t = 0, pn, tn;
	bool wild = false;

	while (next(path, path_len, &t, &tn)) {
		if (!next(pattern, pattern_len, &p, &pn))
			return false; /* path itself is covered */
		if (pn == 2 && memcmp(pattern + p, "**", 2) == 0)
			return true;
		if (!aw_glob_match(pattern + p, pn, path + t, tn))
			return false;
		wild |= !aw_glob_literal(pattern + p, pn);
		p += pn;
		t += tn;
	}
	if (!next(pattern, pattern_len, &p, &pn))
		return false;
	return wild || !aw_glob_literal(pattern + p, pn);
}

/*
 * Let an entry count as a match of its list when that makes the verdict milder, or
 * stricter.  A match of "read" admits reading, and forbids changes.
 */
static void suppose(const struct aw_image *image, enum aw_action action, uint32_t index,
	bool mild, struct aw_matches *m)
{
	const struct aw_image_entry *entry =
		(const struct aw_image_entry *)aw_part_at(image, AW_PART_ENTRIES) +
		index;
	bool admits = entry->list == AW_LIST_WRITE ||
		      (entry->list == AW_LIST_READ && action == AW_READ);
	uint32_t *best;

	if (entry->stratum >= AW_STRATA) /* a sandbox is the same for all */
		return;
	best = &m->best[entry->stratum * AW_LISTS + entry->list];
	if ((admits != (bool)entry->negated) != mild)
		return;
	if (*best == AW_NO_RULE || index > *best)
		*best = index;
}

static void judge(const struct aw_image *image, enum aw_action action,
	const struct aw_matches *m, struct aw_decision *ret)
{
	unsigned s;

	ret->verdict = AW_ALLOW;
	ret->rule = AW_NO_RULE;
	for (s = 0; s < AW_STRATA; s++)
		aw_image_judge_files(image, s, action, m, ret);
}

void aw_image_region(const struct aw_image *image, const char *path, size_t len,
	struct aw_region *ret)
{
	const uint32_t *patterns = aw_part_at(image, AW_PART_PATTERNS);
	const struct aw_window all = {0, AW_STRATA};
	struct aw_matches mild_read, strict_read, mild_write;
	char child[4096 + sizeof(any_child)];
	uint32_t i;

	memset(ret, 0, sizeof(*ret));
	if (len > 4096)
		return;
	if (len == 1) /* "/" */
		len = 0;
	memcpy(child, path, len);
	memcpy(child + len, any_child, sizeof(any_child));
	aw_image_walk(image, AW_WALK_CHANGES, &all, child, len + sizeof(any_child) - 1,
		&mild_read);
	strict_read = mild_write = mild_read;
	for (i = 0; i < image->parts[AW_PART_PATTERNS].count; i++) {
		const struct aw_image_entry *entry = pattern_at(image, i);

		if (kind_of(entry) != AW_BOUNDARY_FILES ||
			!may_come(aw_image_bytes(image, entry->pattern),
				entry->pattern_len, path, len))
			continue;
		suppose(image, AW_READ, patterns[i], true, &mild_read);
		suppose(image, AW_READ, patterns[i], false, &strict_read);
		suppose(image, AW_WRITE, patterns[i], true, &mild_write);
	}
	judge(image, AW_READ, &mild_read, &ret->mildest_read);
	judge(image, AW_READ, &strict_read, &ret->strictest_read);
	judge(image, AW_WRITE, &mild_write, &ret->mildest_write);
}

/* Can a match of this entry make the verdict on reading stricter? */
static bool may_refuse_reads(const struct aw_image_entry *entry)
{
	switch (entry->list) {
	case AW_LIST_HIDE:
	case AW_LIST_DENY:
	case AW_LIST_ASK:
	case AW_LIST_EXEC_DENY:
		return !entry->negated;
	case AW_LIST_WRITE:
	case AW_LIST_READ:
		return entry->negated;
	default:
		return false;
	}
}

/* Everything from here down, as far as no boundary lies below. */
static bool reads_all_up_to_boundaries(
	const struct aw_image *image, const char *path, size_t len)
{
	struct aw_decision here;
	struct aw_region below;

	aw_image_decide_path(image, AW_READ, path, len, &here);
	if (here.verdict != AW_ALLOW)
		return false;
	aw_image_region(image, path, len, &below);
	return below.strictest_read.verdict == AW_ALLOW;
}

bool aw_image_reads_all(const struct aw_image *image, const char *path, size_t len)
{
	char at[4096];
	size_t i, at_len;

	if (len >= sizeof(at) || !reads_all_up_to_boundaries(image, path, len))
		return false;
	len -= len == 1; /* "/" */
	for (i = 0; i < image->parts[AW_PART_PATTERNS].count; i++) {
		const struct aw_image_entry *entry = pattern_at(image, i);
		struct aw_boundary boundary;

		if (kind_of(entry) != AW_BOUNDARY_FILES || !may_refuse_reads(entry) ||
			entry->stratum >= AW_STRATA)
			continue;
		at_len = aw_image_boundary(image, i, at, sizeof(at), &boundary);
		if (!at_len)
			return false; /* too long to say where it lies */
		if (at_len <= len || memcmp(at, path, len) != 0 || at[len] != '/')
			continue;
		if (!reads_all_up_to_boundaries(image, at, at_len))
			return false;
	}
	return true;
}

static bool has_net(const struct aw_image *image, unsigned stratum, enum aw_list list)
{
	const struct aw_image_net *nets = aw_part_at(image, AW_PART_NETS);
	const struct aw_image_entry *entries = aw_part_at(image, AW_PART_ENTRIES);
	uint32_t i;

	for (i = 0; i < image->parts[AW_PART_NETS].count; i++) {
		const struct aw_image_entry *entry = &entries[nets[i].entry];

		if (entry->stratum == stratum && entry->list == list && !entry->negated)
			return true;
	}
	return false;
}

static bool refuses_some(const struct aw_image *image, unsigned s)
{
	return image->strata[s].network != AW_DEFAULT_ALLOW ||
	       image->strata[s].listen || has_net(image, s, AW_LIST_NET_DENY) ||
	       has_net(image, s, AW_LIST_NET_ASK);
}

enum aw_reach aw_image_network(const struct aw_image *image)
{
	enum aw_reach reach = AW_REACH_ALL;
	unsigned s;

	for (s = 0; s < AW_STRATA; s++) {
		const struct aw_image_stratum *stratum = &image->strata[s];
		bool closed = stratum->network != AW_DEFAULT_ALLOW;

		if (closed && !has_net(image, s, AW_LIST_NET_ALLOW) &&
			!has_net(image, s, AW_LIST_NET_ASK) &&
			!has_net(image, s, AW_LIST_NET_LISTEN))
			return AW_REACH_NONE;
		if (refuses_some(image, s))
			reach = AW_REACH_SOME;
	}
	return reach;
}

bool aw_image_network_closed(const struct aw_image *image)
{
	for (unsigned s = 0; s < AW_STRATA; s++)
		if (image->strata[s].network != AW_DEFAULT_ALLOW)
			return true;
	return false;
}

bool aw_image_network_open(const struct aw_image *image, uint32_t profiles)
{
	uint32_t windows = aw_windows_of(profiles);
	struct aw_window w;

	while (aw_window_next(image, &windows, &w))
		for (unsigned s = w.first; s < w.end; s++)
			if (refuses_some(image, s))
				return false;
	return true;
}

/* A list of Unix sockets alone, which defaults and presets bring along, is not meant. */
static bool lists_listening(const struct aw_image *image, unsigned stratum)
{
	const struct aw_image_entry *entries = aw_part_at(image, AW_PART_ENTRIES);
	bool some = false;

	if (!image->strata[stratum].listen)
		return false;
	for (uint32_t i = 0; i < image->parts[AW_PART_ENTRIES].count; i++) {
		const char *text = aw_image_bytes(image, entries[i].text);

		if (entries[i].stratum != stratum ||
			entries[i].list != AW_LIST_NET_LISTEN)
			continue;
		if (strncmp(text[0] == '!' ? text + 1 : text, "unix:", 5) != 0)
			return true;
		some = true;
	}
	return !some;
}

bool aw_image_lists_listening(const struct aw_image *image, uint32_t profiles)
{
	uint32_t windows = aw_windows_of(profiles);
	struct aw_window w;
	unsigned s;

	while (aw_window_next(image, &windows, &w))
		for (s = w.first; s < w.end; s++)
			if (lists_listening(image, s))
				return true;
	return false;
}

/*
 * Bound to all interfaces of a network that has a loopback alone, it listens on that:
 * so who may listen there may do this.
 */
static void admit_all_interfaces(const struct aw_image *image, uint32_t profiles,
	const struct aw_address *to, struct aw_decision *decision)
{
	static const struct aw_address loopback[] = {
		{.family = AF_INET, .bytes = {127, [3] = 1}},
		{.family = AF_INET6, .bytes = {[15] = 1}}};
	struct aw_decision worst = {AW_ALLOW, AW_NO_RULE}, one;

	if (!aw_address_is_any(to))
		return;
	for (size_t i = 0; i < (to->family == AF_INET ? 1U : 2U); i++) {
		struct aw_address home = loopback[i];

		home.port = to->port;
		aw_image_decide_address_in(image, profiles, AW_BIND, &home, &one);
		if (one.verdict >= worst.verdict)
			worst = one;
	}
	if (worst.verdict < decision->verdict)
		*decision = worst;
}

void aw_image_decide_inside(const struct aw_image *image, uint32_t profiles,
	enum aw_action action, const struct aw_address *to,
	struct aw_decision *decision)
{
	if (decision->verdict != AW_DENY || decision->rule != AW_NO_RULE)
		return;
	if (action == AW_BIND && aw_image_lists_listening(image, profiles)) {
		admit_all_interfaces(image, profiles, to, decision);
		return;
	}
	aw_image_decide_address_in(
		image, profiles | AW_PROFILES_ALONE, action, to, decision);
}

static bool is_of(const struct aw_image_entry *entry, enum aw_action action)
{
	if (entry->negated)
		return false;
	if (action == AW_BIND)
		return entry->list == AW_LIST_NET_LISTEN;
	return entry->list == AW_LIST_NET_ALLOW || entry->list == AW_LIST_NET_ASK;
}

bool aw_image_ports(const struct aw_image *image, enum aw_action action,
	void (*each)(void *ctx, unsigned low, unsigned high), void *ctx)
{
	const struct aw_image_net *nets = aw_part_at(image, AW_PART_NETS);
	const struct aw_image_entry *entries = aw_part_at(image, AW_PART_ENTRIES);
	unsigned s;
	uint32_t i;

	for (s = 0; s < AW_STRATA; s++)
		if (image->strata[s].network != AW_DEFAULT_ALLOW ||
			(action == AW_BIND && image->strata[s].listen))
			break;
	if (s == AW_STRATA)
		return false;
	/* what one stratum does not admit, no other can */
	for (i = 0; i < image->parts[AW_PART_NETS].count; i++) {
		const struct aw_image_entry *entry = &entries[nets[i].entry];

		if (entry->stratum == s && is_of(entry, action) &&
			nets[i].kind != AW_NET_ABSTRACT &&
			nets[i].kind != AW_NET_ABSTRACT_GLOB)
			each(ctx, nets[i].port_low, nets[i].port_high);
	}
	return true;
}

bool aw_image_defaults_apart(const struct aw_image *image)
{
	return image->strata[AW_STRATUM_SYSTEM].files != AW_DEFAULT_ALLOW ||
	       image->strata[AW_STRATUM_UNTRUSTED].files != AW_DEFAULT_ALLOW;
}

bool aw_image_same_defaults(const struct aw_image *a, const struct aw_image *b)
{
	for (unsigned s = 0; s < AW_STRATA; s++)
		if (a->strata[s].files != b->strata[s].files ||
			a->strata[s].exec != b->strata[s].exec ||
			a->strata[s].network != b->strata[s].network)
			return false;
	return true;
}
