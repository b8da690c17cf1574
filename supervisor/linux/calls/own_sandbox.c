/* SPDX-License-Identifier: Apache-2.0 */
/* own_sandbox.c - which program wanted a sandbox, and how that is switched off. */
#include "supervisor/linux/calls/own_sandbox.h"

#include <stdio.h>
#include <string.h>

#include "policy/array.h"
#include "supervisor/cli/say.h"

/* By the last component of the program's name; the rest of it may follow. */
static const struct {
	const char *name, *how;
} programs[] = {
	{"codex", "start codex with --sandbox danger-full-access"},
	{"claude", "switch it off by /sandbox in Claude Code, or with "
		   "\"sandbox\": {\"enabled\": false} in its settings"},
	{"chrom", "start the browser with --no-sandbox --no-zygote"},
	{"electron", "start the program with --no-sandbox --no-zygote"},
	{"headless_shell", "start the browser with --no-sandbox --no-zygote"},
};

static const char *how_of(const char *exe)
{
	const char *name = strrchr(exe, '/');

	name = name ? name + 1 : exe;
	for (size_t i = 0; i < ARRAY_SIZE(programs); i++)
		if (strncmp(name, programs[i].name, strlen(programs[i].name)) == 0)
			return programs[i].how;
	return NULL;
}

/* The nearest of the process and those above it that is known. */
static const char *how_to_do_without(struct aw_watch *watch,
	const struct aw_process_info *who, struct aw_process_info *ret)
{
	const char *how;
	int depth = 0;

	*ret = *who;
	while (!(how = how_of(ret->exe)) && depth++ < 8 &&
		aw_processes_peek(watch->tree, ret->ppid, ret))
		;
	if (!how)
		*ret = *who;
	return how;
}

void aw_own_sandbox_refused(
	struct aw_watch *watch, const struct aw_process_info *who, bool optional)
{
	struct aw_process_info whose;
	const char *how = how_to_do_without(watch, who, &whose);

	if (watch->quiet || (optional && !how) ||
		atomic_exchange(&watch->said_sandbox, true))
		return;
	aw_say("%s cannot have a sandbox of its own inside agentwatch's: %s", whose.exe,
		how ? how : "switch off that of the program that wants it");
}
