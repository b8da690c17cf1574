/* SPDX-License-Identifier: Apache-2.0 */
/* test_identity.c - what stands behind a sandbox is what was planned, or nothing
 * starts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/sandbox/plan_internal.h"
#include "tests/unit/tap.h"

static char base[] = "/tmp/aw-identity-XXXXXX", shown[64], other[64], aside[64];
static struct aw_plan_entry entries[2];
static const struct aw_plan plan = {.entries = entries, .count = 2};

/* A plan for the folder as it is now. */
static void planned(void)
{
	entries[0] = (struct aw_plan_entry){
		.path = (char *)"/", .source = (char *)"/", .access = AW_PLAN_READ};
	entries[1] = (struct aw_plan_entry){.path = shown,
		.source = shown,
		.access = AW_PLAN_WRITE,
		.exists = true,
		.directory = true};
	aw_plan_identify(&entries[1]);
}

static int checked(struct aw_error *err)
{
	memset(err, 0, sizeof(*err));
	return aw_plan_check(&plan, getpid(), err);
}

int main(void)
{
	struct aw_error err;

	if (!mkdtemp(base))
		return 1;
	snprintf(shown, sizeof(shown), "%s/shown", base);
	snprintf(other, sizeof(other), "%s/other", base);
	snprintf(aside, sizeof(aside), "%s/aside", base);
	mkdir(shown, 0755);
	mkdir(other, 0755);

	planned();
	ok(entries[1].identity == AW_PLAN_KNOWN && checked(&err) == 0,
		"the folder that was planned");
	rename(shown, aside);
	rename(other, shown);
	ok(checked(&err) < 0 && strstr(err.text, shown) &&
			strstr(err.text, "was exchanged"),
		"another one in its place is refused, with its name");
	rename(shown, other);
	ok(symlink(other, shown) == 0 && checked(&err) < 0, "and a link");
	planned();
	ok(entries[1].identity == AW_PLAN_EXCHANGED && checked(&err) < 0,
		"nor is one planned, where others can change it");
	entries[1].access = AW_PLAN_NOTHING;
	ok(checked(&err) == 0, "what is covered is not compared");
	entries[1] = (struct aw_plan_entry){.path = (char *)"/bin/sh",
		.source = (char *)"/bin/sh",
		.access = AW_PLAN_READ,
		.exists = true};
	aw_plan_identify(&entries[1]);
	ok(entries[1].identity != AW_PLAN_EXCHANGED && checked(&err) == 0,
		"links that root alone can change may stand on the way");
	unlink(shown);
	rmdir(other);
	rmdir(aside);
	rmdir(base);
	return done();
}
