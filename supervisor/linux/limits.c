/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c - what holds each limit, best first. */
#include "supervisor/linux/limits.h"

#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/array.h"
#include "supervisor/linux/limits_group.h"
#include "supervisor/util/cleanup.h"

const struct aw_limit_world aw_limit_world = {
	"/proc/self/mountinfo", "/proc/self/cgroup"};

__attribute__((format(printf, 3, 4))) static void append(
	char *text, size_t size, const char *fmt, ...)
{
	size_t used = strlen(text);
	va_list args;

	if (used)
		used += (size_t)snprintf(text + used, size - used, "; ");
	if (used >= size)
		return;
	va_start(args, fmt);
	vsnprintf(text + used, size - used, fmt, args);
	va_end(args);
}

#define SAY(text, ...) append(text, sizeof(text), __VA_ARGS__)

static void add_limit(struct aw_limiter *l, int resource, uint64_t most)
{
	l->limits[l->limit_count++] = (struct aw_limit){resource, most};
}

/* Processes and threads that this user has now, which RLIMIT_NPROC counts too. */
static uint64_t tasks_of_user(void)
{
	AW_CLOSEDIR DIR *proc = opendir("/proc");
	const struct dirent *entry;
	uint64_t count = 0;

	while (proc && (entry = readdir(proc))) {
		char path[300];
		struct stat st;

		snprintf(path, sizeof(path), "/proc/%s/task", entry->d_name);
		if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
			stat(path, &st) == 0 && st.st_uid == getuid())
			count += st.st_nlink > 2 ? st.st_nlink - 2 : 1;
	}
	return count;
}

static void limit_memory(struct aw_limiter *l, uint64_t bytes, const char *group)
{
	unsigned long long mib = bytes >> 20;

	if (group) {
		SAY(l->text, "memory %llu MiB by %s", mib, group);
		return;
	}
	add_limit(l, RLIMIT_AS, bytes);
	SAY(l->text, "memory %llu MiB by RLIMIT_AS", mib);
	SAY(l->nearly,
		"memory: %llu MiB of address space for each process, not for all together",
		mib);
}

static void limit_cpus(struct aw_limiter *l, double cpus, const char *group)
{
	if (group) {
		SAY(l->text, "cpus %g by %s", cpus, group);
		return;
	}
	l->processors = cpus > 1 ? (unsigned)(cpus + 0.999999) : 1;
	SAY(l->text, "cpus %g by affinity to %u", cpus, l->processors);
	SAY(l->nearly, "cpus: held to %u whole processors, which a program can change",
		l->processors);
}

static void limit_processes(struct aw_limiter *l, uint64_t count, const char *group)
{
	unsigned long long most = count;

	if (group) {
		SAY(l->text, "processes %llu by %s", most, group);
		return;
	}
	add_limit(l, RLIMIT_NPROC, count + tasks_of_user());
	SAY(l->text, "processes %llu by RLIMIT_NPROC", most);
	SAY(l->nearly, "processes: counted with all others of this user%s",
		geteuid() ? "" : ", and root is not held to it");
}

static void limit_each(struct aw_limiter *l, const struct aw_limits *params)
{
	if (params->open_files) {
		add_limit(l, RLIMIT_NOFILE, params->open_files);
		SAY(l->text, "open_files %llu", (unsigned long long)params->open_files);
	}
	if (params->file_size) {
		add_limit(l, RLIMIT_FSIZE, params->file_size);
		SAY(l->text, "file_size %llu bytes",
			(unsigned long long)params->file_size);
	}
	if (params->time)
		SAY(l->text, "time %llu s", (unsigned long long)params->time);
	l->time = params->time;
}

void aw_limits_prepare(const struct aw_limits *params,
	const struct aw_limit_world *world, struct aw_limiter *ret)
{
	struct aw_limiter made = {.group_count = 0};
	struct aw_group_holds holds = {.memory = NULL};

	if (params->memory || params->processes || params->cpus > 0)
		aw_groups_make(params, world, &made, &holds);
	if (params->memory)
		limit_memory(&made, params->memory, holds.memory);
	if (params->cpus > 0)
		limit_cpus(&made, params->cpus, holds.cpus);
	if (params->processes)
		limit_processes(&made, params->processes, holds.processes);
	limit_each(&made, params);
	*ret = made;
}

/* The first so many of the processors that it may use now. */
static void keep_processors(unsigned count)
{
	cpu_set_t now, kept;

	CPU_ZERO(&kept);
	if (sched_getaffinity(0, sizeof(now), &now) < 0)
		return;
	for (int i = 0; i < CPU_SETSIZE && count; i++) {
		if (!CPU_ISSET(i, &now))
			continue;
		CPU_SET(i, &kept);
		count--;
	}
	sched_setaffinity(0, sizeof(kept), &kept);
}

void aw_limits_join(const struct aw_limiter *limiter)
{
	for (size_t i = 0; i < limiter->group_count; i++)
		aw_group_write(limiter->groups[i], "cgroup.procs", "0");
	if (limiter->processors)
		keep_processors(limiter->processors);
}

void aw_limits_report(const struct aw_limiter *limiter, char *text, size_t size)
{
	static const struct {
		const char *file, *key, *what;
	} counters[] = {
		{"memory.events", "oom_kill ", "killed for want of memory"},
		{"memory.oom_control", "oom_kill ", "killed for want of memory"},
		{"pids.events", "max ", "not started, since there were too many"},
	};

	text[0] = '\0';
	for (size_t g = 0; g < limiter->group_count; g++)
		for (size_t i = 0; i < ARRAY_SIZE(counters); i++) {
			unsigned long long count = aw_group_counter(
				limiter->groups[g], counters[i].file, counters[i].key);

			if (count)
				append(text, size, "limits: %llu %s %s", count,
					count == 1 ? "process was" : "processes were",
					counters[i].what);
		}
}

void aw_limits_end(struct aw_limiter *limiter)
{
	for (size_t i = 0; i < limiter->group_count; i++) {
		if (limiter->groups[i])
			rmdir(limiter->groups[i]);
		free(limiter->groups[i]);
		limiter->groups[i] = NULL;
	}
	limiter->group_count = 0;
}
