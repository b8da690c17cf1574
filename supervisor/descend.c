/* SPDX-License-Identifier: Apache-2.0 */
/* descend.c - all processes below one, from /proc. */
#include "supervisor/descend.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "supervisor/cleanup.h"
#include "supervisor/proc.h"

struct relation {
	pid_t pid, ppid;
	bool below;
};

static bool read_relation(pid_t pid, struct relation *ret)
{
	struct aw_proc_stat stat;

	if (!aw_proc_stat(pid, &stat) || stat.state == 'Z')
		return false;
	*ret = (struct relation){.pid = pid, .ppid = stat.ppid};
	return true;
}

static size_t read_all(struct relation **ret)
{
	AW_CLOSEDIR DIR *dir = opendir("/proc");
	struct relation *all = NULL;
	size_t count = 0, room = 0;
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		if (!isdigit((unsigned char)entry->d_name[0]))
			continue;
		if (count == room) {
			size_t more = room ? room * 2 : 256;
			struct relation *bigger = realloc(all, more * sizeof(*all));

			if (!bigger)
				break;
			all = bigger;
			room = more;
		}
		if (read_relation(atoi(entry->d_name), &all[count]))
			count++;
	}
	*ret = all;
	return count;
}

static bool is_below(const struct relation *all, size_t count, pid_t parent, pid_t root)
{
	if (parent == root)
		return true;
	for (size_t i = 0; i < count; i++)
		if (all[i].pid == parent)
			return all[i].below;
	return false;
}

/* Mark all that are below root; how many there are. */
static size_t mark(struct relation *all, size_t count, pid_t root)
{
	size_t found = 0;
	bool more = true;

	while (more) { /* parents need not come before their children */
		more = false;
		for (size_t i = 0; i < count; i++) {
			if (all[i].below || !is_below(all, count, all[i].ppid, root))
				continue;
			all[i].below = more = true;
			found++;
		}
	}
	return found;
}

size_t aw_signal_descendants(pid_t root, int signal)
{
	AW_FREE struct relation *all = NULL;
	size_t count = read_all(&all), found;

	found = mark(all, count, root);
	for (size_t i = 0; i < count; i++)
		if (all[i].below)
			kill(all[i].pid, signal);
	return found;
}

size_t aw_signal_group(pid_t root, pid_t group, pid_t except, int signal)
{
	AW_FREE struct relation *all = NULL;
	size_t count = read_all(&all), hit = 0;

	mark(all, count, root);
	for (size_t i = 0; i < count; i++)
		if (all[i].below && all[i].pid != except &&
			(!group || getpgid(all[i].pid) == group))
			hit += kill(all[i].pid, signal) == 0;
	return hit;
}

size_t aw_descendants(pid_t root, pid_t **ret)
{
	AW_FREE struct relation *all = NULL;
	size_t count = read_all(&all), found = 0;
	pid_t *pids = malloc((count + 1) * sizeof(*pids));

	mark(all, count, root);
	for (size_t i = 0; pids && i < count; i++)
		if (all[i].below)
			pids[found++] = all[i].pid;
	*ret = pids;
	return found;
}

bool aw_descends(pid_t pid, pid_t root)
{
	for (int depth = 0; pid > 1 && depth < 1024; depth++) {
		struct relation relation;

		if (!read_relation(pid, &relation))
			return false;
		if (relation.ppid == root)
			return true;
		pid = relation.ppid;
	}
	return false;
}
