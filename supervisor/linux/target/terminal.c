/* SPDX-License-Identifier: Apache-2.0 */
/* terminal.c - whose terminal a device is. */
#include "supervisor/linux/target/terminal.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "policy/array.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/process/descend.h"
#include "supervisor/util/cleanup.h"

/* Documentation/admin-guide/devices.txt */
enum { CONSOLES = 4, CONSOLE_LAST = 63, PTS_FIRST = 136, PTS_LAST = 143 };
enum { STANDARD = 3 };

static dev_t begun_with[STANDARD + 1];

void aw_terminals_note(void)
{
	struct aw_proc_stat self;
	struct stat st;

	for (int fd = 0; fd < STANDARD; fd++)
		if (fstat(fd, &st) == 0 && S_ISCHR(st.st_mode))
			begun_with[fd] = st.st_rdev;
	if (aw_proc_stat(getpid(), &self))
		begun_with[STANDARD] = self.terminal;
}

static bool is_pts(dev_t device)
{
	return major(device) >= PTS_FIRST && major(device) <= PTS_LAST;
}

/* A descriptor that is the other side of a pty says which (proc(5)). */
static bool is_master_of(const char *folder, const char *fd, unsigned number)
{
	char path[300], line[128], want[40];
	AW_FCLOSE FILE *file = NULL;
	ssize_t n;

	snprintf(path, sizeof(path), "%s/fd/%s", folder, fd);
	n = readlink(path, line, sizeof(line) - 1);
	line[n > 0 ? n : 0] = '\0';
	if (!strstr(line, "ptmx"))
		return false;
	snprintf(path, sizeof(path), "%s/fdinfo/%s", folder, fd);
	file = fopen(path, "re");
	snprintf(want, sizeof(want), "tty-index:\t%u\n", number);
	while (file && fgets(line, sizeof(line), file))
		if (strcmp(line, want) == 0)
			return true;
	return false;
}

static bool holds_master(pid_t pid, unsigned number)
{
	AW_CLOSEDIR DIR *dir = NULL;
	struct dirent *entry;
	char folder[32], path[40];

	snprintf(folder, sizeof(folder), "/proc/%d", pid);
	snprintf(path, sizeof(path), "%s/fd", folder);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.' &&
			is_master_of(folder, entry->d_name, number))
			return true;
	return false;
}

static bool session_holds_master(dev_t device)
{
	unsigned number = (major(device) - PTS_FIRST) * 256 + minor(device);
	AW_FREE pid_t *all = NULL;
	size_t count = aw_descendants(getpid(), &all);

	for (size_t i = 0; all && i < count; i++)
		if (holds_master(all[i], number))
			return true;
	return false;
}

/* Each /dev/pts has numbers of its own; what is known is known by those of ours. */
static bool is_of_our_pts(const struct stat *st)
{
	struct stat ours;

	return stat("/dev/pts", &ours) == 0 && ours.st_dev == st->st_dev;
}

bool aw_terminal_is_made_inside(dev_t own_pts, const struct stat *st)
{
	if (!is_pts(st->st_rdev))
		return false;
	return is_of_our_pts(st) ? session_holds_master(st->st_rdev)
				 : st->st_dev == own_pts;
}

bool aw_terminal_is_foreign(pid_t tid, dev_t own_pts, const struct stat *st)
{
	dev_t device = st->st_rdev;
	struct aw_proc_stat own;

	if (!S_ISCHR(st->st_mode) ||
		(!is_pts(device) &&
			(major(device) != CONSOLES || minor(device) > CONSOLE_LAST)))
		return false;
	if (is_pts(device) && !is_of_our_pts(st))
		return st->st_dev != own_pts;
	for (size_t i = 0; i < ARRAY_SIZE(begun_with); i++)
		if (begun_with[i] == device)
			return false;
	if (aw_proc_stat(tid, &own) && own.terminal == device)
		return false;
	return !is_pts(device) || !session_holds_master(device);
}
