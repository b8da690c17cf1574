/* SPDX-License-Identifier: Apache-2.0 */
/* limits_group.c - control groups of either version. */
#include "supervisor/linux/limits_group.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/util/cleanup.h"

#define PREFIX "agentwatch-"

enum { PERIOD_US = 100000 };

static const char version_1[] = "a control group (version 1)";
static const char version_2[] = "a control group";

/* One of the three limits that a group can hold. */
struct knob {
	const char *controller;
	const char *file_1, *file_2; /* in version 1 and 2 */
	char text[64];		     /* to be written there; "" when not wished */
	const char **held;
};

bool aw_group_write(const char *group, const char *file, const char *text)
{
	AW_FREE char *path = NULL;
	AW_CLOSE int fd = -1;
	size_t len = strlen(text);

	if (asprintf(&path, "%s/%s", group, file) < 0)
		return false;
	/* the kernel lets no file be made there; a test's directory has none yet */
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	return fd >= 0 && write(fd, text, len) == (ssize_t)len;
}

unsigned long long aw_group_counter(
	const char *group, const char *file, const char *key)
{
	AW_FREE char *path = NULL;
	AW_FCLOSE FILE *in = NULL;
	char line[256];

	if (asprintf(&path, "%s/%s", group, file) < 0)
		return 0;
	in = fopen(path, "re");
	while (in && fgets(line, sizeof(line), in))
		if (strncmp(line, key, strlen(key)) == 0)
			return strtoull(line + strlen(key), NULL, 10);
	return 0;
}

/* True when word stands among those of text, which sep parts. */
static bool has_word(const char *text, const char *word, const char *sep)
{
	size_t len = strlen(word);

	for (text += strspn(text, sep); *text;
		text += strcspn(text, sep), text += strspn(text, sep))
		if (strcspn(text, sep) == len && strncmp(text, word, len) == 0)
			return true;
	return false;
}

/*
 * Where the controller's hierarchy is mounted; NULL controller: version 2.  *ret_root
 * is the part of the hierarchy that is seen there.  Both owned by the caller.
 */
static char *find_mount(
	const struct aw_limit_world *world, const char *controller, char **ret_root)
{
	AW_FCLOSE FILE *in = fopen(world->mountinfo, "re");
	char line[4096], root[1024], point[1024], type[64], options[1024];

	while (in && fgets(line, sizeof(line), in)) {
		const char *rest = strstr(line, " - ");

		if (!rest ||
			sscanf(line, "%*s %*s %*s %1023s %1023s", root, point) != 2 ||
			sscanf(rest, " - %63s %*s %1023s", type, options) != 2)
			continue;
		if (controller ? strcmp(type, "cgroup") == 0 &&
					 has_word(options, controller, ",")
			       : strcmp(type, "cgroup2") == 0) {
			*ret_root = strdup(root);
			return strdup(point);
		}
	}
	return NULL;
}

/* The group that this process is in, below the hierarchy's root.  Owned. */
static char *find_own(const struct aw_limit_world *world, const char *controller)
{
	AW_FCLOSE FILE *in = fopen(world->cgroup, "re");
	char line[4096];

	while (in && fgets(line, sizeof(line), in)) {
		char *names = strchr(line, ':');
		char *path = names ? strchr(names + 1, ':') : NULL;

		if (!path)
			continue;
		*names++ = *path++ = '\0';
		path[strcspn(path, "\n")] = '\0';
		if (controller ? has_word(names, controller, ",") : !*names)
			return strdup(path);
	}
	return NULL;
}

/* The directory of our own group, owned; NULL when it is not to be seen. */
static char *own_folder(const struct aw_limit_world *world, const char *controller)
{
	AW_FREE char *root = NULL;
	AW_FREE char *point = find_mount(world, controller, &root);
	AW_FREE char *own = find_own(world, controller);
	const char *below = own;
	char *folder;
	size_t len;

	if (!point || !root || !own)
		return NULL;
	len = strlen(root);
	if (len > 1 && strncmp(own, root, len) == 0 && (!own[len] || own[len] == '/'))
		below = own + len;
	if (asprintf(&folder, "%s%s", point, strcmp(below, "/") == 0 ? "" : below) < 0)
		return NULL;
	return folder;
}

/* Remove groups whose maker is gone, as far as nobody is in them. */
static void sweep(const char *folder)
{
	AW_CLOSEDIR DIR *dir = opendir(folder);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		AW_FREE char *path = NULL;
		long pid;

		if (strncmp(entry->d_name, PREFIX, sizeof(PREFIX) - 1) != 0)
			continue;
		pid = strtol(entry->d_name + sizeof(PREFIX) - 1, NULL, 10);
		if (pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH &&
			asprintf(&path, "%s/%s", folder, entry->d_name) >= 0)
			rmdir(path);
	}
}

/*
 * Our group in directory, new or (when controllers share a hierarchy) made before;
 * owned by to.  NULL when that cannot be had.
 */
static const char *make_group(const char *folder, struct aw_limiter *to)
{
	AW_FREE char *path = NULL;

	sweep(folder);
	if (asprintf(&path, "%s/" PREFIX "%d", folder, getpid()) < 0)
		return NULL;
	for (size_t i = 0; i < to->group_count; i++)
		if (strcmp(to->groups[i], path) == 0)
			return to->groups[i];
	if (to->group_count == AW_LIMIT_GROUPS || mkdir(path, 0755) < 0)
		return NULL;
	return to->groups[to->group_count++] = aw_take_ptr(&path);
}

/* True when the controller is switched on for the children of directory. */
static bool passes_on(const char *folder, const char *controller)
{
	AW_FREE char *path = NULL;
	AW_FCLOSE FILE *in = NULL;
	char line[512];

	if (asprintf(&path, "%s/cgroup.subtree_control", folder) < 0)
		return false;
	in = fopen(path, "re");
	return in && fgets(line, sizeof(line), in) && has_word(line, controller, " \n");
}

/* Version 2: all that is wanted is switched on for the children of directory, now. */
static bool is_ready(const char *folder, const struct knob *knobs)
{
	char switch_on[64];

	for (; knobs->controller; knobs++) {
		if (!knobs->text[0] || passes_on(folder, knobs->controller))
			continue;
		snprintf(switch_on, sizeof(switch_on), "+%s", knobs->controller);
		if (!aw_group_write(folder, "cgroup.subtree_control", switch_on) ||
			!passes_on(folder, knobs->controller))
			return false;
	}
	return true;
}

static bool use_version_2(
	const char *folder, const struct knob *knobs, struct aw_limiter *to)
{
	const char *group = is_ready(folder, knobs) ? make_group(folder, to) : NULL;

	if (!group)
		return false;
	for (const struct knob *k = knobs; k->controller; k++) {
		if (!k->text[0])
			continue;
		if (!aw_group_write(group, k->file_2, k->text)) {
			aw_limits_end(to);
			return false;
		}
	}
	for (const struct knob *k = knobs; k->controller; k++)
		*k->held = k->text[0] ? version_2 : NULL;
	if (knobs[0].text[0])
		aw_group_write(group, "memory.swap.max", "0");
	return true;
}

/*
 * In our own group, or beside it: one with processes in it cannot pass controllers on,
 * but a manager that hands a part of the tree to its user has switched them on above.
 */
static bool try_version_2(const struct aw_limit_world *world, const struct knob *knobs,
	struct aw_limiter *to)
{
	AW_FREE char *folder = own_folder(world, NULL);
	char *slash;

	if (!folder)
		return false;
	if (use_version_2(folder, knobs, to))
		return true;
	slash = strrchr(folder, '/');
	if (!slash || slash == folder)
		return false;
	*slash = '\0';
	return use_version_2(folder, knobs, to);
}

/* Version 1: a hierarchy for each. */
static void try_version_1(const struct aw_limit_world *world, const struct knob *knob,
	struct aw_limiter *to)
{
	AW_FREE char *folder = own_folder(world, knob->controller);
	const char *group = folder ? make_group(folder, to) : NULL;

	if (!group || !aw_group_write(group, knob->file_1, knob->text))
		return;
	if (strcmp(knob->controller, "memory") == 0) /* with swap, where it counts */
		aw_group_write(group, "memory.memsw.limit_in_bytes", knob->text);
	*knob->held = version_1;
}

void aw_groups_make(const struct aw_limits *params, const struct aw_limit_world *world,
	struct aw_limiter *to, struct aw_group_holds *ret)
{
	struct knob knobs[] = {
		{"memory", "memory.limit_in_bytes", "memory.max", "", &ret->memory},
		{"pids", "pids.max", "pids.max", "", &ret->processes},
		{"cpu", "cpu.cfs_quota_us", "cpu.max", "", &ret->cpus},
		{.controller = NULL},
	};
	long long quota = (long long)(params->cpus * PERIOD_US);

	if (quota && quota < 1000) /* the kernel takes no less */
		quota = 1000;
	if (params->memory)
		snprintf(knobs[0].text, sizeof(knobs[0].text), "%llu",
			(unsigned long long)params->memory);
	if (params->processes)
		snprintf(knobs[1].text, sizeof(knobs[1].text), "%llu",
			(unsigned long long)params->processes);
	if (quota)
		snprintf(knobs[2].text, sizeof(knobs[2].text), "%lld %d", quota,
			PERIOD_US);
	if (try_version_2(world, knobs, to))
		return;
	knobs[2].text[strcspn(knobs[2].text, " ")] = '\0';
	for (struct knob *k = knobs; k->controller; k++)
		if (k->text[0])
			try_version_1(world, k, to);
}
