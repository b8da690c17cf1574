/* SPDX-License-Identifier: Apache-2.0 */
/* test_limits.c - what holds a limit, on systems of every kind. */
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/linux/limits.h"
#include "tests/unit/tap.h"

static char top[64], mountinfo[80], cgroup[80];
static const struct aw_limit_world world = {mountinfo, cgroup};
static const struct aw_limits three = {
	.memory = 64 << 20, .cpus = 1.5, .processes = 20};

static const char *at(const char *path)
{
	static char buffers[4][256];
	static unsigned next;
	char *out = buffers[next++ % 4];

	snprintf(out, sizeof(buffers[0]), "%s/%s", top, path);
	return out;
}

static void put(const char *path, const char *text)
{
	FILE *out = fopen(path, "we");

	if (!out || fputs(text, out) < 0 || fclose(out) != 0)
		abort();
}

static bool says(const char *group, const char *file, const char *text)
{
	char path[512], line[128] = "";
	FILE *in;

	snprintf(path, sizeof(path), "%s/%s", group ? group : "", file);
	in = fopen(path, "re");
	if (in) {
		if (!fgets(line, sizeof(line), in))
			line[0] = '\0';
		fclose(in);
	}
	return strcmp(line, text) == 0;
}

static int remove_one(
	const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st, (void)kind, (void)walk;
	return remove(path);
}

/* A system with these mounts, in a folder of its own. */
static void system_with(const char *mounts, const char *own)
{
	strcpy(top, "/tmp/aw-limits-XXXXXX");
	if (!mkdtemp(top))
		abort();
	snprintf(mountinfo, sizeof(mountinfo), "%s/mountinfo", top);
	snprintf(cgroup, sizeof(cgroup), "%s/cgroup", top);
	put(mountinfo, mounts);
	put(cgroup, own);
}

static void forget_system(struct aw_limiter *l)
{
	aw_limits_end(l);
	nftw(top, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void nothing_is_limited_without_a_wish(void)
{
	const struct aw_limits none = {.memory = 0};
	struct aw_limiter l;

	aw_limits_prepare(&none, &aw_limit_world, &l);
	ok(!l.group_count && !l.limit_count && !l.processors && !l.time && !l.text[0] &&
			!l.nearly[0],
		"without a wish nothing is done");
}

static void each_process_has_its_own(void)
{
	const struct aw_limits params = {
		.time = 60, .open_files = 100, .file_size = 1 << 20};
	struct aw_limiter l;

	aw_limits_prepare(&params, &aw_limit_world, &l);
	ok(l.limit_count == 2 && l.limits[0].resource == RLIMIT_NOFILE &&
			l.limits[0].most == 100 &&
			l.limits[1].resource == RLIMIT_FSIZE &&
			l.limits[1].most == 1 << 20 && l.time == 60,
		"files are a limit of each process");
	ok(!l.nearly[0], "and that is what is meant");
	aw_limits_end(&l);
}

static void without_groups_the_nearest_is_taken_and_said(void)
{
	struct aw_limiter l;

	system_with("", "");
	aw_limits_prepare(&three, &world, &l);
	ok(l.limit_count == 2 && l.limits[0].resource == RLIMIT_AS &&
			l.limits[0].most == 64 << 20,
		"memory becomes address space");
	ok(l.limits[1].resource == RLIMIT_NPROC && l.limits[1].most > 20,
		"processes are counted on top of those that are there");
	ok(l.processors == 2, "one and a half processors are two");
	ok(strstr(l.nearly, "for each process") && strstr(l.nearly, "of this user") &&
			strstr(l.nearly, "2 whole processors"),
		"all of which is said");
	ok(!strstr(l.nearly, "root") == (geteuid() != 0), "and that root is not held");
	forget_system(&l);
}

static void version_2_is_used_where_it_is_handed_over(void)
{
	char mounts[256];
	struct aw_limiter l;

	system_with("", "0::/user/app/here\n");
	snprintf(
		mounts, sizeof(mounts), "30 1 0:9 / %s/fs rw - cgroup2 none rw\n", top);
	put(mountinfo, mounts);
	mkdir(at("fs"), 0755);
	mkdir(at("fs/user"), 0755);
	mkdir(at("fs/user/app"), 0755);
	mkdir(at("fs/user/app/here"), 0755);
	put(at("fs/user/app/here/cgroup.subtree_control"), "\n");
	put(at("fs/user/app/cgroup.subtree_control"), "cpu memory pids\n");
	aw_limits_prepare(&three, &world, &l);
	ok(l.group_count == 1 && strstr(l.groups[0], "/fs/user/app/agentwatch-") &&
			!strstr(l.groups[0], "here"),
		"a group beside our own, where controllers are passed on");
	ok(l.group_count == 1 && says(l.groups[0], "memory.max", "67108864") &&
			says(l.groups[0], "memory.swap.max", "0") &&
			says(l.groups[0], "pids.max", "20") &&
			says(l.groups[0], "cpu.max", "150000 100000"),
		"has the limits");
	ok(!l.nearly[0] && !l.limit_count && !l.processors,
		"and nothing else is needed");
	put(at("memory"), "");
	if (l.group_count) {
		char text[256], path[512];

		snprintf(path, sizeof(path), "%s/memory.events", l.groups[0]);
		put(path, "low 0\noom 3\noom_kill 2\n");
		aw_limits_report(&l, text, sizeof(text));
		ok(strstr(text, "2 processes were killed for want of memory"),
			"what was killed is reported");
		put(path, "low 0\noom 1\noom_kill 1\n");
		aw_limits_report(&l, text, sizeof(text));
		ok(strstr(text, "1 process was killed for want of memory"),
			"and one is one");
	}
	forget_system(&l);
}

static void a_part_of_version_2_is_not_enough(void)
{
	char mounts[256];
	struct aw_limiter l;

	system_with("", "0::/\n");
	snprintf(
		mounts, sizeof(mounts), "30 1 0:9 / %s/fs rw - cgroup2 none rw\n", top);
	put(mountinfo, mounts);
	mkdir(at("fs"), 0755);
	put(at("fs/cgroup.subtree_control"), "memory pids\n");
	aw_limits_prepare(&three, &world, &l);
	ok(!l.group_count && l.limit_count == 2 && l.processors == 2,
		"without the controller for processors it is not used");
	forget_system(&l);
}

static void version_1_has_a_group_for_each(void)
{
	char mounts[512];
	struct aw_limiter l;

	system_with("", "5:memory:/box/me\n4:pids:/\n3:cpu,cpuacct:/\n");
	snprintf(mounts, sizeof(mounts),
		"30 1 0:9 /box %s/memory rw - cgroup cgroup rw,memory\n"
		"31 1 0:9 / %s/pids rw - cgroup cgroup rw,pids\n"
		"32 1 0:9 / %s/cpu rw - cgroup cgroup rw,cpu,cpuacct\n",
		top, top, top);
	put(mountinfo, mounts);
	mkdir(at("memory"), 0755);
	mkdir(at("memory/me"), 0755);
	mkdir(at("pids"), 0755);
	mkdir(at("cpu"), 0755);
	mkdir(at("pids/agentwatch-999999999"), 0755);
	aw_limits_prepare(&three, &world, &l);
	ok(l.group_count == 3 && strstr(l.groups[0], "/memory/me/agentwatch-"),
		"below our own, as it is seen in a container");
	ok(l.group_count == 3 &&
			says(l.groups[0], "memory.limit_in_bytes", "67108864") &&
			says(l.groups[1], "pids.max", "20") &&
			says(l.groups[2], "cpu.cfs_quota_us", "150000"),
		"each with its limit");
	ok(strstr(l.text, "version 1") && !l.nearly[0], "which holds");
	ok(access(at("pids/agentwatch-999999999"), F_OK) != 0,
		"one that a killed supervisor left behind is removed");
	forget_system(&l);
}

/* What this system really has: by root, with version 1 or 2. */
static void the_kernel_holds_it(void)
{
	const struct aw_limits params = {.memory = 64 << 20, .processes = 5};
	struct aw_limiter l;
	char first[512];
	int status = 0;
	pid_t pid;

	aw_limits_prepare(&params, &aw_limit_world, &l);
	if (!l.group_count) {
		ok(true,
			"the kernel holds it # SKIP no control group can be made here");
		return;
	}
	snprintf(first, sizeof(first), "%s", l.groups[0]);
	pid = fork();
	if (pid == 0) {
		int made = 0;

		setpgid(0, 0);
		aw_limits_join(&l);
		for (int i = 0; i < 10; i++) {
			pid_t child = fork();

			if (child == 0) {
				pause();
				_exit(0);
			}
			made += child > 0;
		}
		signal(SIGTERM, SIG_IGN);
		kill(0, SIGTERM);
		_exit(made);
	}
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && WEXITSTATUS(status) == 4,
		"five processes are one and four children");
	for (int i = 0; i < 100 && access(first, F_OK) == 0; i++) {
		rmdir(first);
		usleep(10000);
	}
	aw_limits_end(&l);
	ok(access(first, F_OK) != 0, "the group is removed when nobody is in it");
}

int main(void)
{
	nothing_is_limited_without_a_wish();
	each_process_has_its_own();
	without_groups_the_nearest_is_taken_and_said();
	version_2_is_used_where_it_is_handed_over();
	a_part_of_version_2_is_not_enough();
	version_1_has_a_group_for_each();
	the_kernel_holds_it();
	return done();
}
