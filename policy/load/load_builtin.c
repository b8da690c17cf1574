/* SPDX-License-Identifier: Apache-2.0 */
/* load_builtin.c - what holds without a word in any file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"

static const struct aw_policy_source built_in = {"built-in", "built-in", AW_TRUSTED};

/*
 * Hardly a program works without these, so a default that is stricter than "allow" does
 * not take them away.  A deny does: it comes before write.
 */
static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full",
	"/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts", "/dev/shm",
	"/dev/mqueue", "/dev/fd", "/dev/stdin", "/dev/stdout", "/dev/stderr",
	"/proc/self", "/proc/thread-self", "/proc/*/comm", "/proc/*/task/*/comm",
	"/proc/*/oom_score_adj", "/proc/*/coredump_filter",
	/* debuggers; of the session's processes alone, see emulate_judge.c */
	"/proc/*/mem", "/proc/*/task/*/mem", NULL};

/* A directory of the command's own, whatever signs its name has. */
static void add_folder(struct aw_loader *l, const char *folder)
{
	char *text = aw_path_quoted(l, folder);
	int s;

	for (s = 0; text && s < AW_STRATA + (int)l->policy.profile_count; s++)
		aw_built_in_entry(l, (enum aw_stratum)s, AW_LIST_WRITE,
			AW_RANK_BUILT_IN, text, 1);
	free(text);
}

/* Whoever speaks to the proxy is judged there; what is denied here stays denied. */
static void add_proxy(struct aw_loader *l, unsigned port)
{
	char text[32];
	int s;

	snprintf(text, sizeof(text), "127.0.0.1:%u", port);
	for (s = 0; s < AW_STRATA + (int)l->policy.profile_count; s++)
		if (l->draft.strata[s].network != AW_DEFAULT_ALLOW)
			aw_built_in_entry(l, (enum aw_stratum)s, AW_LIST_NET_ALLOW,
				AW_RANK_BASE, text, 1);
}

void aw_built_in_source(struct aw_loader *l)
{
	l->source = &built_in;
}

struct aw_draft_entry *aw_built_in_entry(struct aw_loader *l, enum aw_stratum stratum,
	enum aw_list list, enum aw_rank rank, const char *text, unsigned line)
{
	const struct aw_node at = {
		.kind = AW_NODE_TEXT, .line = line, .column = 1, .text = (char *)text};
	struct aw_draft_entry *entry;

	l->source = &built_in;
	entry = aw_draft_add(&l->draft);
	if (!entry)
		return NULL;
	entry->stratum = stratum;
	entry->list = list;
	entry->rank = rank;
	entry->file = entry->layer = built_in.file;
	entry->line = line;
	entry->column = 1;
	entry->negated = text[0] == '!';
	entry->text = aw_copy(l, text);
	if (!entry->text) {
		l->draft.count--;
		return NULL;
	}
	if (list >= AW_LIST_NET_DENY)
		aw_net_parse(l, &at, entry, text);
	else
		entry->pattern = aw_pattern_read(l, &at, text + entry->negated);
	return entry;
}

/* What a stratum's listen list has. */
struct listening {
	size_t own, internet; /* entries of files; entries for servers' addresses */
};

static void count_listening(const struct aw_loader *l, struct listening *ret)
{
	size_t i;

	for (i = 0; i < l->draft.count; i++) {
		const struct aw_draft_entry *e = &l->draft.entries[i];

		if (e->list != AW_LIST_NET_LISTEN)
			continue;
		ret[e->stratum].own += e->rank == AW_RANK_FILE;
		/* port 0 is one that the system picks: a client's, not a server's */
		ret[e->stratum].internet += e->net_count > 0 &&
					    e->nets[0].kind < AW_NET_ABSTRACT &&
					    e->nets[0].port_high > 0;
	}
}

/*
 * What presets and the base let be listened on counts where something is refused, and
 * where no file has an empty list.  Unix sockets alone are no list for addresses: these
 * have the default, and the loopback inside a sandbox stays free.
 */
static void settle_listening(struct aw_loader *l)
{
	struct listening has[AW_STRATA_MAX] = {{0, 0}};
	size_t i, kept = 0;
	unsigned n;

	count_listening(l, has);
	for (i = 0; i < l->draft.count; i++) {
		struct aw_draft_entry *e = &l->draft.entries[i];
		const struct aw_image_stratum *s = &l->draft.strata[e->stratum];

		if (e->list == AW_LIST_NET_LISTEN &&
			(s->listen ? !has[e->stratum].own
				   : s->network == AW_DEFAULT_ALLOW))
			aw_draft_entry_free(e);
		else
			l->draft.entries[kept++] = *e;
	}
	l->draft.count = kept;
	for (n = 0; n < AW_STRATA + l->policy.profile_count; n++) {
		struct aw_image_stratum *s = &l->draft.strata[n];

		if (s->network != AW_DEFAULT_ALLOW && (has[n].own || !s->listen))
			s->listen = has[n].internet > 0;
	}
}

void aw_builtin_add(struct aw_loader *l)
{
	unsigned i;
	int s;

	aw_base_defaults(l);
	for (s = 0; s < AW_STRATA + (int)l->policy.profile_count; s++)
		for (i = 0; devices[i] && l->draft.strata[s].files != AW_DEFAULT_ALLOW;
			i++)
			aw_built_in_entry(l, (enum aw_stratum)s, AW_LIST_WRITE,
				AW_RANK_BASE, devices[i], i + 10);
	aw_base_add(l);
	if (l->variables->instance)
		add_folder(l, l->variables->instance);
	if (l->variables->proxy)
		add_proxy(l, l->variables->proxy);
	settle_listening(l);
}
