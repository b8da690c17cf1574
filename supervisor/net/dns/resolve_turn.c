/* SPDX-License-Identifier: Apache-2.0 */
/* resolve_turn.c - shares of what may be asked at the same time. */
#include "supervisor/net/dns/resolve_turn.h"

#include <string.h>

#include "supervisor/util/share.h"

static bool same_domain(
	const struct aw_resolve_question *a, const struct aw_resolve_question *b)
{
	return a->domain_hash == b->domain_hash && strcmp(a->domain, b->domain) == 0;
}

bool aw_resolve_may_begin(
	const struct aw_resolver *r, const struct aw_resolve_question *q, pid_t asker)
{
	size_t all = 0, of_domain = 0, of_asker = 0, left;
	const struct aw_resolve_question *b;

	DL_FOREACH(r->busy, b)
	{
		all++;
		of_domain += same_domain(b, q);
		of_asker += b->asker == asker;
	}
	if (all >= AW_RESOLVE_THREADS || of_domain >= AW_RESOLVE_DOMAIN)
		return false;
	left = AW_RESOLVE_DOMAIN - of_domain;
	if (left > AW_RESOLVE_THREADS - all)
		left = AW_RESOLVE_THREADS - all;
	return aw_share_has_room(of_asker, left);
}

struct aw_resolve_question *aw_resolve_next(struct aw_resolver *r)
{
	pid_t last = 0; /* had no room, with this domain: */
	struct aw_resolve_question *q, *of = NULL;
	struct aw_dns_waiter *w;

	DL_FOREACH(r->queue, q)
	LL_FOREACH(q->waiters, w)
	{
		/* cppcheck-suppress uninitvar ; LL_FOREACH has set it */
		if (of && w->asker == last && same_domain(q, of))
			continue;
		if (aw_resolve_may_begin(r, q, w->asker)) {
			q->asker = w->asker;
			return q;
		}
		last = w->asker;
		of = q;
	}
	return NULL;
}

bool aw_resolve_has_room(const struct aw_resolver *r, pid_t asker)
{
	size_t mine = 0;
	const struct aw_resolve_question *q;

	DL_FOREACH(r->queue, q)
	mine += q->asker == asker;
	DL_FOREACH(r->busy, q)
	mine += q->asker == asker;
	return aw_share_has_room(mine, AW_RESOLVE_PENDING - r->pending);
}

const char *aw_resolve_domain(const char *name)
{
	const char *at = name + strlen(name);
	int dots = 0;

	while (at > name && (dots += at[-1] == '.') < 2)
		at--;
	return at;
}
