/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_shown.c - rules about what is exposed hold under its other name, too.
 *
 * With /srv/data shown at /data, a rule for /srv/data/key gets a second one behind it,
 * for /data/key.  So whoever asks about a name, a sandbox included, need not know what
 * is shown where.
 */
#include <stdlib.h>
#include <string.h>

#include "policy/image/pattern.h"
#include "policy/load/load_internal.h"

/* One exposed path, and what is found out about each list. */
struct showing {
	struct aw_loader *l;
	const struct aw_exposed *exposed;
	size_t source_len, target_len, count;
	uint32_t matters[AW_STRATA_MAX]; /* bit n: list n has rules to follow from */
	uint32_t spares[AW_STRATA_MAX];	 /* an exception is among them */
};

/* Where one stands in a pattern below the source, and below the target. */
struct stand {
	struct aw_pattern parts;
	uint64_t source, target, whole;
};

static bool look(const struct showing *s, const char *pattern, struct stand *ret)
{
	if (!aw_pattern_take_apart(pattern, strlen(pattern), &ret->parts))
		return false;
	ret->whole = UINT64_C(1) << ret->parts.count;
	ret->source = aw_pattern_behind(&ret->parts, s->exposed->source, s->source_len);
	ret->target = aw_pattern_behind(&ret->parts, s->exposed->target, s->target_len);
	return true;
}

/* Places of `a` that `b` has not. */
static bool has_more(uint64_t a, uint64_t b, uint64_t whole)
{
	return !(b & whole) && a & ~b;
}

/* Does the list refuse, or hold by what it has? */
static bool refuses(enum aw_list list)
{
	switch (list) {
	case AW_LIST_WRITE:
	case AW_LIST_READ:
	case AW_LIST_EXEC_ALLOW:
	case AW_LIST_NET_ALLOW:
	case AW_LIST_NET_LISTEN:
	case AW_LIST_ENTER_MCP:
		return false;
	default:
		return true;
	}
}

/*
 * Whoever exposes a path may admit it by its new name, but neither past the system
 * policy nor past a file that is not trusted: to those it is what it is on the host.
 */
static bool is_apart(unsigned stratum)
{
	return stratum == AW_STRATUM_SYSTEM || stratum == AW_STRATUM_UNTRUSTED;
}

static bool is_meant(const struct aw_draft_entry *e)
{
	return e->pattern && e->list != AW_LIST_ENTER_MCP &&
	       (refuses(e->list) || is_apart(e->stratum));
}

static void survey(struct showing *s)
{
	uint32_t reached[AW_STRATA_MAX] = {0}, freed[AW_STRATA_MAX] = {0};
	struct stand at;

	for (size_t i = 0; i < s->count; i++) {
		const struct aw_draft_entry *e = &s->l->draft.entries[i];
		uint32_t list = 1u << e->list;

		if (!is_meant(e) || !look(s, e->pattern, &at))
			continue;
		if (!refuses(e->list) ||
			(!e->negated && has_more(at.source, at.target, at.whole)))
			s->matters[e->stratum] |= list;
		if (at.source)
			*(e->negated ? &s->spares[e->stratum] : &reached[e->stratum]) |=
				list;
		if (e->negated && has_more(at.target, at.source, at.whole))
			freed[e->stratum] |= list;
	}
	/* by an exception for the new name */
	for (unsigned n = 0; n < AW_STRATA_MAX; n++)
		s->matters[n] |= reached[n] & freed[n];
}

static void put_quoted(struct aw_bytes *out, const char *path)
{
	for (; *path; path++) {
		if (strchr("*?[]\\", *path))
			aw_bytes_add(out, "\\", 1);
		aw_bytes_add(out, path, 1);
	}
}

/* The pattern below the target, from component `from` on; owned by the caller. */
static char *rebased(
	const struct showing *s, const struct aw_pattern *parts, unsigned from)
{
	struct aw_bytes out = {NULL, 0, 0, false};

	put_quoted(&out, s->exposed->target);
	for (; from < parts->count; from++) {
		aw_bytes_add(&out, "/", 1);
		aw_bytes_add(&out, parts->at[from], parts->len[from]);
	}
	aw_bytes_add(&out, "", 1);
	s->l->failed |= out.failed;
	if (!out.failed)
		return out.data;
	aw_bytes_free(&out);
	return NULL;
}

/* Takes pattern. */
static void add_like(struct showing *s, size_t like, char *pattern)
{
	struct aw_draft_entry *to = pattern ? aw_draft_add(&s->l->draft) : NULL;
	const struct aw_draft_entry *from = &s->l->draft.entries[like];

	if (!to) {
		free(pattern);
		s->l->failed = true;
		return;
	}
	aw_draft_like(to, from);
	to->pattern = pattern;
	to->shown = true;
	to->text = aw_copy(s->l, from->text);
	if (!to->text)
		aw_entry_drop(s->l);
}

/* All that is left of the entry behind the source. */
static void follow(struct showing *s, size_t i)
{
	const struct aw_draft_entry *e = &s->l->draft.entries[i];
	struct stand at;

	if (!(s->matters[e->stratum] >> e->list & 1) || !is_meant(e) ||
		!look(s, e->pattern, &at))
		return;
	if (at.source & at.whole) {
		add_like(s, i, rebased(s, &at.parts, at.parts.count));
		return;
	}
	for (unsigned k = 0; k < at.parts.count && !s->l->failed; k++)
		/* behind "**" one is wherever that leads to */
		if (at.source >> k & 1 && !(k && at.source >> (k - 1) & 1 &&
						  aw_pattern_is_deep(&at.parts, k - 1)))
			add_like(s, i, rebased(s, &at.parts, k));
}

/* An exception for the source is none from a rule for the target. */
static void say_again(struct showing *s, size_t i)
{
	const struct aw_draft_entry *e = &s->l->draft.entries[i];
	uint32_t spares = s->matters[e->stratum] & s->spares[e->stratum];
	struct stand at;

	if (e->negated || !(spares >> e->list & 1) || !refuses(e->list) ||
		!is_meant(e) || !look(s, e->pattern, &at))
		return;
	if (has_more(at.target, at.source, at.whole))
		add_like(s, i, aw_copy(s->l, e->pattern));
}

/* What a list apart admits by the target's name does not count there. */
static void take_out(struct showing *s)
{
	uint32_t done[AW_STRATA_MAX] = {0};

	for (size_t i = 0; i < s->count && !s->l->failed; i++) {
		const struct aw_draft_entry *e = &s->l->draft.entries[i];
		unsigned stratum = e->stratum;
		const struct aw_pattern none = {.count = 0};

		/* without `read` such a default would let it be changed */
		bool opens = e->list == AW_LIST_READ &&
			     s->l->draft.strata[stratum].files == AW_DEFAULT_ALLOW;

		if (!is_meant(e) || refuses(e->list) || opens ||
			done[stratum] >> e->list & 1)
			continue;
		done[stratum] |= 1u << e->list;
		add_like(s, i, rebased(s, &none, 0));
		if (!s->l->failed)
			s->l->draft.entries[s->l->draft.count - 1].negated = true;
	}
}

static void show(struct aw_loader *l, const struct aw_exposed *exposed, size_t count)
{
	struct showing s = {.l = l,
		.exposed = exposed,
		.source_len = strlen(exposed->source),
		.target_len = strlen(exposed->target),
		.count = count};

	survey(&s);
	take_out(&s);
	for (size_t i = 0; i < count && !l->failed; i++)
		follow(&s, i);
	for (size_t i = 0; i < count && !l->failed; i++)
		say_again(&s, i);
}

/* What a sandbox shows stays for as long as the session lasts. */
static void keep_shown(struct aw_loader *l)
{
	const struct aw_policy *before = l->variables->before;
	struct aw_policy *p = &l->policy;

	for (size_t i = 0; i < p->exposed_count; i++)
		aw_exposed_free(&p->exposed[i]);
	free(p->exposed);
	p->exposed_count = 0;
	p->exposed = aw_new(l, before->exposed_count + 1, sizeof(*p->exposed));
	for (size_t i = 0; p->exposed && i < before->exposed_count; i++) {
		const struct aw_exposed *from = &before->exposed[i];

		p->exposed[i] = *from;
		p->exposed[i].source = aw_copy(l, from->source);
		p->exposed[i].target = aw_copy(l, from->target);
		p->exposed[i].source_text = aw_copy(l, from->source_text);
		p->exposed[i].target_text = aw_copy(l, from->target_text);
		p->exposed_count++;
	}
}

void aw_shown_add(struct aw_loader *l)
{
	const struct aw_policy *p = &l->policy;
	size_t count = l->draft.count;

	if (l->variables->before)
		keep_shown(l);
	for (size_t i = 0; i < p->exposed_count && !l->failed; i++)
		if (strcmp(p->exposed[i].source, p->exposed[i].target) != 0)
			show(l, &p->exposed[i], count);
}
