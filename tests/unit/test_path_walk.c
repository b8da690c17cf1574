/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_path_walk.c - a path leads where the kernel says that it leads.
 *
 * Random paths through a tree of directories, files and links are walked, and looked up by
 * openat2(2) with O_PATH.  The object and the error must be the same for both.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/decide/watch.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/linux/target/path_walk.h"
#include "tests/unit/random.h"
#include "tests/unit/tap.h"

enum { PATHS = 20000 };

static struct aw_watch watch;
static struct aw_target self;
static char top[] = "/tmp/aw-path-walk.XXXXXX";
static unsigned compared, leading, missing;

static void make_tree(void)
{
	static const char *const directories[] = {"a", "a/b", "a/b/c", "d", "d/e"};
	static const char *const files[] = {"a/file", "a/b/c/file", "d/e/file", "file"};
	static const char *const links[][2] = {{"b", "a/down"}, {"../d", "a/aside"},
		{"../../file", "a/b/up"}, {"loop", "d/loop"}, {"other", "d/one"},
		{"one", "d/other"}, {"nowhere", "a/dangling"}, {"/", "a/b/root"},
		{".", "d/e/here"}, {"../d/e/..", "a/round"}, {"file/", "a/slash"},
		{"aside/e", "a/chain"}, {"..", "d/above"}};
	char text[128];

	for (size_t i = 0; i < sizeof(directories) / sizeof(directories[0]); i++)
		mkdir(directories[i], 0755);
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		close(open(files[i], O_CREAT | O_WRONLY, 0644));
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
		if (symlink(links[i][0], links[i][1]) < 0)
			return;
	snprintf(text, sizeof(text), "%s/a/b", top);
	ok(symlink(text, "d/absolute") == 0 && mkfifo("d/pipe", 0644) == 0 &&
			mkdir("shut", 0) == 0,
		"a tree with links of every kind");
}

static void random_path(char *to, size_t size)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "file", "down",
		"aside", "up", "loop", "one", "dangling", "root", "here", "round",
		"slash", "chain", "above", "absolute", "pipe", "shut", "none", ".",
		".."};
	unsigned count = 1 + roll(6);
	size_t len = 0;

	if (roll(8) == 0)
		len = (size_t)snprintf(to, size, "%s/", top);
	for (unsigned i = 0; i < count; i++)
		len += (size_t)snprintf(to + len, size - len, "%s%s",
			i ? (roll(10) ? "/" : "//") : "",
			names[roll(sizeof(names) / sizeof(names[0]))]);
	if (roll(8) == 0)
		snprintf(to + len, size - len, "%s", roll(2) ? "/" : "/.");
}

static bool is_same(int kernel, const struct aw_location *found)
{
	struct stat st;

	return found->object >= 0 && fstat(kernel, &st) == 0 &&
	       st.st_dev == found->st.st_dev && st.st_ino == found->st.st_ino;
}

/* What is not there has a parent, in which the last component is not there either. */
static bool is_missing(const struct aw_location *found)
{
	struct stat st;

	return found->object < 0 && found->parent >= 0 &&
	       fstatat(found->parent, found->last, &st, AT_SYMLINK_NOFOLLOW) < 0 &&
	       errno == ENOENT;
}

/* A slash behind something that is no directory is kept, for the call to refuse. */
static bool keeps_slash(const struct aw_location *found)
{
	size_t len = strlen(found->last);

	return found->object >= 0 && !S_ISDIR(found->st.st_mode) && len &&
	       found->last[len - 1] == '/';
}

/* "" when the walk and the kernel agree. */
static const char *compare(int dir, const char *path)
{
	static const uint64_t resolves[] = {0, 0, 0, 0, RESOLVE_BENEATH,
		RESOLVE_IN_ROOT, RESOLVE_NO_SYMLINKS, RESOLVE_NO_MAGICLINKS};
	static char text[512];
	static struct aw_location found;
	/* what a slash behind a link means each call knows that does not follow it */
	bool follow = roll(2) || path[strlen(path) - (path[0] != '\0')] == '/';
	struct aw_path_walk_params params = {.dir = dir,
		.follow = follow,
		.resolve = resolves[roll(sizeof(resolves) / sizeof(resolves[0]))]};
	struct open_how how = {
		.flags = O_PATH | (follow ? 0 : O_NOFOLLOW), .resolve = params.resolve};
	int kernel = (int)syscall(SYS_openat2, dir, path, &how, sizeof(how));
	int wanted = kernel < 0 ? errno : 0;
	int err = aw_path_walk(&watch, &self, &params, path, &found);
	bool agree;

	aw_creds_restore();
	agree = wanted ? err == wanted : !err && is_same(kernel, &found);

	if (wanted == ENOENT && !err)
		agree = is_missing(&found);
	if (wanted == ENOTDIR && !err)
		agree = keeps_slash(&found);
	compared++;
	leading += !wanted;
	missing += wanted == ENOENT && !err;
	snprintf(text, sizeof(text),
		"%.300s follow %d resolve %llx: kernel %d, walk %d%s%s", path, follow,
		(unsigned long long)params.resolve, wanted, err, err ? "" : ", last ",
		err ? "" : found.last);
	if (!err)
		aw_location_release(&found);
	if (kernel >= 0)
		close(kernel);
	return agree ? "" : text;
}

static void walks_as_the_kernel(void)
{
	int below = open("a", O_PATH | O_DIRECTORY);
	const char *differs = "";
	char path[512];

	for (unsigned i = 0; i < PATHS && !differs[0]; i++) {
		random_path(path, sizeof(path));
		differs = compare(roll(3) ? AT_FDCWD : below, path);
	}
	ok(!differs[0], "%u random paths lead where the kernel leads%s%s", compared,
		differs[0] ? ": " : "", differs);
	ok(leading > PATHS / 50 && missing > PATHS / 100,
		"%u of them lead somewhere, %u to where something could be made",
		leading, missing);
	close(below);
}

static void edges(void)
{
	static const char *const paths[] = {"", "/", "//", ".", "..", "./", "file/",
		"file/.", "a/slash", "a/dangling/", "d/loop/x", "shut/x", "none/none"};
	char longer[5000];
	const char *differs = "";

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		for (int times = 0; times < 40 && !differs[0]; times++)
			differs = compare(AT_FDCWD, paths[i]);
	ok(!differs[0], "empty ones, slashes, dots and loops too%s%s",
		differs[0] ? ": " : "", differs);
	memset(longer, 'x', 300);
	longer[300] = '\0';
	ok(!compare(AT_FDCWD, longer)[0], "a name that is too long");
	ok(!compare(9999, "a")[0], "a descriptor that is not open");
}

int main(void)
{
	aw_creds_prepare();
	aw_path_walk_prepare();
	self.tid = self.who.pid = getpid();
	self.who.umask = -1;
	self.who.plain_root = true;
	if (!mkdtemp(top) || chdir(top) < 0)
		return 1;
	start_dice();
	make_tree();
	walks_as_the_kernel();
	edges();
	if (chdir("/") == 0) {
		char command[64];

		snprintf(command, sizeof(command), "rm -rf %s", top);
		ok(system(command) == 0, "nothing is left");
	}
	return done();
}
