/* SPDX-License-Identifier: Apache-2.0 */
/* plan_print.c - a plan as text. */
#include <string.h>

#include "supervisor/sandbox/plan.h"

static const char *const accesses[] = {
	[AW_PLAN_NOTHING] = "nothing",
	[AW_PLAN_READ] = "read",
	[AW_PLAN_WRITE] = "write",
};

static void print_entry(const struct aw_plan_entry *entry, FILE *out)
{
	fprintf(out, "%-7s %s", accesses[entry->access], entry->path);
	if (strcmp(entry->path, entry->source) != 0)
		fprintf(out, " from %s", entry->source);
	fprintf(out, "  # %s%s%s%s\n", entry->why,
		entry->whole	 ? ", granted one by one"
		: entry->partial ? ", listed one by one"
				 : "",
		entry->open_ended ? ", not there yet" : "",
		entry->access == AW_PLAN_NOTHING && entry->exists && !entry->directory
			? ", a file"
			: "");
}

static void print_ports(
	const char *what, const uint16_t *ports, size_t count, bool all, FILE *out)
{
	fprintf(out, "%s", what);
	if (all)
		fputs(" all", out);
	else if (!count)
		fputs(" none", out);
	for (size_t i = 0; !all && i < count; i++)
		fprintf(out, " %u", ports[i]);
	fputc('\n', out);
}

void aw_plan_print(const struct aw_plan *plan, FILE *out)
{
	static const char *const networks[] = {
		[AW_PLAN_NET_ALL] = "all",
		[AW_PLAN_NET_NONE] = "none",
		[AW_PLAN_NET_SOME] = "some",
	};

	for (size_t i = 0; i < plan->count; i++)
		print_entry(&plan->entries[i], out);
	for (size_t i = 0; i < plan->link_count; i++)
		fprintf(out, "link    %s -> %s\n", plan->links[i].path,
			plan->links[i].text);
	fprintf(out, "network %s\n", networks[plan->network]);
	print_ports("connect", plan->connect_ports, plan->connect_count,
		plan->all_connect_ports, out);
	print_ports("listen ", plan->listen_ports, plan->listen_count,
		plan->all_listen_ports, out);
}
