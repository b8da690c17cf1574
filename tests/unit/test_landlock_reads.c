/* SPDX-License-Identifier: Apache-2.0 */
/* test_landlock_reads.c - reading is granted only where no rule can refuse it. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/image/region.h"
#include "supervisor/linux/landlock_apply.h"
#include "supervisor/linux/landlock_rights.h"
#include "supervisor/sandbox/landlock.h"
#include "tests/unit/policy_text.h"

enum { NEWEST = 7 };

/* "/" at the end: a folder; "!" at the launcher: a program. */
static const char *const tree[] = {"/ro/", "/ro/data", "!/ro/tool", "/ro/key",
	"!/ro/bad", "/ro/open/", "/ro/open/file", "/ro/deep/", "/ro/deep/token",
	"!/ro/deep/tool", "/ro/deep/open/", "/ro/deep/open/file", "/rw/", "/rw/file",
	"/bound/", "/bound/file"};

static char top[64];

/* A text with top in place of "%", in one of a few buffers. */
static const char *at(const char *text)
{
	static char buffers[8][600];
	static unsigned next;
	char *out = buffers[next++ % 8], *to = out;

	for (; *text; text++)
		to += *text == '%' ? sprintf(to, "%s", top) : (*to = *text, 1);
	*to = '\0';
	return out;
}

static const char *in_top(const char *path)
{
	static char buffers[8][200];
	static unsigned next;
	char *out = buffers[next++ % 8];

	snprintf(out, sizeof(buffers[0]), "%s%s", top, path);
	return out;
}

static void plant(void)
{
	strcpy(top, "/tmp/aw-reads-XXXXXX");
	if (!mkdtemp(top))
		abort();
	for (size_t i = 0; i < sizeof(tree) / sizeof(tree[0]); i++) {
		bool program = tree[i][0] == '!';
		const char *path = in_top(tree[i] + program);

		if (path[strlen(path) - 1] == '/' ? mkdir(path, 0755)
						  : close(open(path, O_CREAT | O_WRONLY,
							    program ? 0755 : 0644)))
			abort();
	}
}

static int unplant_one(
	const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st, (void)kind, (void)walk;
	return remove(path);
}

static void all_may_be_read(void)
{
	static const struct {
		const char *policy, *path;
		bool clean;
	} cases[] = {
		{"filesystem: {default: read-only}", "/a", true},
		{"filesystem: {default: read-only, deny: [/a/b]}", "/a", false},
		{"filesystem: {default: read-only, deny: [/a/b]}", "/a/b", false},
		{"filesystem: {default: read-only, deny: [/a/b]}", "/a/b/c", false},
		{"filesystem: {default: read-only, deny: [/a/b]}", "/a/bc", true},
		{"filesystem: {default: read-only, deny: [/a/b]}", "/", false},
		{"filesystem: {default: read-only, hide: [/a/b]}", "/a", false},
		{"filesystem: {default: read-only, ask: [/a/b]}", "/a", false},
		{"filesystem: {default: read-only, deny_write: [/a/b]}", "/a", true},
		{"filesystem: {default: read-only, deny: [/a/b/*.key]}", "/a/b", false},
		{"filesystem: {default: read-only, deny: [/a/b/*.key]}", "/a/b/c",
			true},
		{"filesystem: {default: read-only, deny: ['/a/*/key']}", "/a/b", false},
		{"filesystem: {default: read-only, deny: ['**/.env*']}", "/a/b", false},
		{"filesystem: {default: read-only, deny: ['**/.env*', '!/a/**']}",
			"/a/b", true},
		{"filesystem: {default: deny}", "/a", false},
		{"filesystem: {default: deny, read: [/a]}", "/a/b", true},
		{"filesystem: {default: deny, read: [/a, '!/a/b']}", "/a", false},
		{"filesystem: {default: deny, write: [/a]}", "/a", true},
		{"exec: {deny: [/a/tool]}", "/a", false},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct aw_image *image = image_of(cases[i].policy);

		ok(aw_image_reads_all(image, cases[i].path, strlen(cases[i].path)) ==
				cases[i].clean,
			"%s: all of %s may be read: %s", cases[i].policy, cases[i].path,
			cases[i].clean ? "yes" : "no");
		free(image);
	}
}

struct line {
	const char *path, *source;
	enum aw_plan_access access;
};

static const struct line usual[] = {{"", NULL, AW_PLAN_READ},
	{"/rw", NULL, AW_PLAN_WRITE}, {NULL, NULL, AW_PLAN_NOTHING}};

static void rules_for(const char *policy, const struct line *lines, bool narrow,
	struct aw_landlock *ret)
{
	struct aw_plan_entry entries[8] = {{.path = NULL}};
	struct aw_plan plan = {.entries = entries, .network = AW_PLAN_NET_ALL};
	struct aw_image *image = image_of(at(policy));
	struct aw_landlock_params params = {
		.plan = &plan, .version = NEWEST, .image = narrow ? image : NULL};
	struct aw_error err;

	if (aw_landlock_version() > 0 && aw_landlock_version() < NEWEST)
		params.version = aw_landlock_version();
	for (; lines[plan.count].path; plan.count++) {
		const struct line *line = &lines[plan.count];
		struct aw_plan_entry *entry = &entries[plan.count];

		entry->path = strdup(in_top(line->path));
		entry->source = strdup(
			line->source ? in_top(line->source) : in_top(line->path));
		entry->access = line->access;
		entry->exists = entry->directory = true;
		entry->rule = AW_NO_RULE;
	}
	if (aw_landlock_make(&params, ret, &err) < 0)
		abort();
	while (plan.count) {
		free(entries[--plan.count].path);
		free(entries[plan.count].source);
	}
	free(image);
}

static uint64_t reads_of(const struct aw_landlock *landlock, const char *path)
{
	for (size_t i = 0; i < landlock->count; i++)
		if (strcmp(landlock->rules[i].path, in_top(path)) == 0)
			return landlock->rules[i].access & AW_LL_READS;
	return 0;
}

#define DENIES                                                                         \
	"filesystem: {default: read-only, write: ['%/rw'], "                           \
	"deny: ['%/ro/key', '%/ro/bad', '%/ro/deep/token', '%/ro/later']}"

static void only_what_is_clean_is_granted(void)
{
	struct aw_landlock l;

	rules_for(DENIES, usual, true, &l);
	ok(l.reads_held && !l.why_not[0], "such a policy is held");
	ok(!reads_of(&l, "") && !reads_of(&l, "/ro") && !reads_of(&l, "/ro/deep"),
		"a folder with something denied in it is not granted, nor listed");
	ok(reads_of(&l, "/ro/open") == AW_LL_READS &&
			reads_of(&l, "/ro/deep/open") == AW_LL_READS &&
			reads_of(&l, "/rw") == AW_LL_READS,
		"what is clean in it is, as a whole");
	ok(reads_of(&l, "/ro/tool") == (AW_LL_READ_FILE | AW_LL_EXECUTE) &&
			reads_of(&l, "/ro/deep/tool"),
		"so are its programs, one by one");
	ok(!reads_of(&l, "/ro/data") && !reads_of(&l, "/ro/key") &&
			!reads_of(&l, "/ro/bad"),
		"not data, and not what is denied");
	ok(aw_landlock_holds(&l, AW_READ, in_top("/ro/key")) &&
			aw_landlock_holds(&l, AW_READ, in_top("/ro/later/x")) &&
			aw_landlock_holds(&l, AW_EXEC, in_top("/ro/bad")) &&
			aw_landlock_holds(&l, AW_READ, in_top("/ro/deep/token")),
		"every denial is held, of what is not there yet too");
	ok(!aw_landlock_holds(&l, AW_WRITE, in_top("/rw/file")) &&
			aw_landlock_holds(&l, AW_WRITE, in_top("/ro/open/file")),
		"what may be changed is as in the plan");
	ok(aw_landlock_granted(&l, "/dev/mqueue/x") & AW_LL_READ_FILE,
		"queues may be used");
	aw_landlock_release(&l);
	rules_for("filesystem: {default: read-only, deny: ['/dev/mqueue/x']}", usual,
		true, &l);
	ok(l.reads_held &&
			!(aw_landlock_granted(&l, "/dev/mqueue/x") & AW_LL_READ_FILE),
		"but where one is denied none is read");
	aw_landlock_release(&l);
}

static void some_policies_are_not_held(void)
{
	static const struct line shown[] = {{"", NULL, AW_PLAN_READ},
		{"/elsewhere", "/bound", AW_PLAN_READ}, {NULL, NULL, AW_PLAN_NOTHING}};
	static const struct {
		const char *policy, *says;
		const struct line *lines;
		bool held;
	} cases[] = {
		{"filesystem: {default: read-only, write: ['%/rw'], deny: ['%/rw/s']}",
			"%/rw, and something in it may not be read", usual, false},
		{"filesystem: {default: read-only, write: ['%/rw'], deny: ['**/.env']}",
			"%/rw, and something in it may not be read", usual, false},
		{"filesystem: {default: read-only, deny: ['/dev/shm/x']}",
			"/dev/shm, and something in it may not be read", usual, false},
		{"filesystem: {default: read-only, deny: ['%/elsewhere/file']}",
			"%/elsewhere, which shows %/bound, may not be read", shown,
			false},
		{"filesystem: {default: read-only, deny: ['%/ro/key']}", "", shown,
			true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct aw_landlock l;

		rules_for(cases[i].policy, cases[i].lines, true, &l);
		ok(l.reads_held == cases[i].held &&
				strstr(l.why_not, at(cases[i].says)),
			"%s: %s", cases[i].policy, l.why_not);
		ok(cases[i].held || reads_of(&l, "") == AW_LL_READS ||
				aw_landlock_granted(&l, in_top("")) & AW_LL_READ_FILE,
			"... then what the plan lets be read is granted");
		aw_landlock_release(&l);
	}
}

static void a_large_folder_is_not_looked_through(void)
{
	struct aw_landlock l;
	char path[200];

	if (mkdir(in_top("/large"), 0755) < 0)
		abort();
	for (int i = 0; i < 4100; i++) {
		snprintf(path, sizeof(path), "%s/large/%d", top, i);
		if (mkdir(path, 0755) < 0)
			abort();
	}
	rules_for("filesystem: {default: read-only, deny: ['%/large/key']}", usual,
		true, &l);
	ok(!l.reads_held && strstr(l.why_not, "more than 4000 files"), "%s", l.why_not);
	aw_landlock_release(&l);
	rules_for("filesystem: {default: read-only, deny: ['%/ro/key']}", usual, true,
		&l);
	ok(l.reads_held && reads_of(&l, "/large") == AW_LL_READS,
		"as long as nothing in it is denied it is one grant");
	aw_landlock_release(&l);
}

static void another_policy_may_not_fit(void)
{
	static const struct {
		const char *policy;
		bool fits;
	} cases[] = {
		{DENIES, true},
		{"filesystem: {default: allow}", true},
		{"filesystem: {default: read-only, deny: ['%/ro', '!%/ro/open']}",
			false},
		{"filesystem: {default: read-only, deny: ['%/ro/open/new']}", false},
		{"filesystem: {default: read-only, ask: ['%/rw/new']}", false},
		{"filesystem: {default: read-only, deny: ['%/ro/data']}", true},
		{"filesystem: {default: deny}", false},
	};
	struct aw_landlock l;
	const char *path;

	rules_for(DENIES, usual, true, &l);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct aw_image *image = image_of(at(cases[i].policy));

		ok(aw_landlock_still(&l, image, &path) == cases[i].fits,
			"%s %s what was granted", cases[i].policy,
			cases[i].fits ? "leaves" : "takes some of");
		free(image);
	}
	aw_landlock_release(&l);
}

/* errno of opening for reading behind these rules, by a child. */
static int behind(const struct aw_landlock *landlock, int dir, const char *path)
{
	struct aw_error err;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (aw_landlock_enter(landlock, &err) < 0)
			_exit(250);
		_exit(openat(dir, path, O_RDONLY) < 0 ? errno : 0);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status)
		       ? WEXITSTATUS(status)
		       : 251;
}

/* While a ruleset is made and entered, and behind it, others exchange what is there. */
static void the_kernel_agrees(void)
{
	struct aw_landlock l;
	struct aw_error err;
	int dir;

	if (aw_landlock_probe(&err) < 0) {
		ok(true, "the kernel agrees # SKIP %s", err.text);
		return;
	}
	dir = open(in_top("/ro"), O_PATH | O_DIRECTORY);
	rules_for(DENIES, usual, true, &l);
	ok(behind(&l, AT_FDCWD, in_top("/ro/open/file")) == 0, "what is clean is read");
	ok(behind(&l, AT_FDCWD, in_top("/ro/key")) == EACCES, "a denied file is not");
	ok(behind(&l, dir, "key") == EACCES, "nor by a folder that was open before");
	ok(behind(&l, dir, "open/../key") == EACCES, "nor round a corner");
	ok(behind(&l, AT_FDCWD, "/proc/self/status") == EACCES, "nor is /proc");
	if (rename(in_top("/ro/data"), in_top("/ro/key")) < 0)
		abort();
	ok(behind(&l, dir, "key") == EACCES, "nor what took its place");
	if (rename(in_top("/ro/tool"), in_top("/ro/tool.old")) < 0 ||
		symlink("deep", in_top("/ro/tool")) < 0)
		abort();
	ok(behind(&l, dir, "deep/token") == EACCES,
		"a link in place of a program grants nothing");
	if (unlink(in_top("/ro/tool")) < 0 ||
		rename(in_top("/ro/deep"), in_top("/ro/tool")) < 0)
		abort();
	ok(behind(&l, dir, "tool/token") == EACCES, "nor does a folder");
	aw_landlock_release(&l);
	close(dir);
}

int main(void)
{
	plant();
	all_may_be_read();
	only_what_is_clean_is_granted();
	some_policies_are_not_held();
	a_large_folder_is_not_looked_through();
	another_policy_may_not_fit();
	the_kernel_agrees();
	nftw(top, unplant_one, 8, FTW_DEPTH | FTW_PHYS);
	return done();
}
