/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c - devices and settings of the kernel, which only a rule of their own gives. */
#include "supervisor/linux/emulate/machine.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "policy/array.h"
#include "policy/image/rules.h"
#include "supervisor/linux/pidfd.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/linux/target/terminal.h"
#include "supervisor/util/cleanup.h"

enum { PTS_FIRST = 136, PTS_LAST = 143 }; /* Documentation/admin-guide/devices.txt */

/* What is to be judged; all borrowed. */
struct machine_thing {
	const struct aw_image *image;
	enum aw_action action;
	const char *name; /* its path */
	size_t len;
	int fd; /* it, or the directory that it is to be in; -1: neither */
	const struct stat *st; /* NULL: it is not there */
	pid_t tid;	       /* whose terminal may be opened */
	dev_t proc, pts;       /* the file systems of its /proc and /dev/pts */
	bool content;	       /* about what is in it, not about its mode or times */
	bool futile;	       /* links and attributes, which /proc and /sys refuse */
};

/* linux/magic.h has some of them only in newer versions. */
static const unsigned long settings[] = {
	SYSFS_MAGIC, CGROUP_SUPER_MAGIC, 0x63677270, /* cgroup2 */
	DEBUGFS_MAGIC, 0x74726163,		     /* tracefs */
	0x73636673,				     /* securityfs */
	0x62656570,				     /* configfs */
	0xcafe4a11,				     /* bpf */
	0x6165676c,				     /* pstore */
	0xde5e81e4,				     /* efivarfs */
	0xf97cff8c,				     /* selinuxfs */
	0x42494e4d,				     /* binfmt_misc */
	0x65735543,				     /* fusectl */
	0x07655821,				     /* resctrl */
	0x43415d53,				     /* smackfs */
};

static bool names_it(const struct machine_thing *thing, uint32_t rule, bool device)
{
	static const char devices[] = "/dev/";
	struct aw_rule_about about;

	if (!aw_image_rule_about(thing->image, rule, &about))
		return false;
	if (about.literal && about.path_len == thing->len &&
		memcmp(about.path, thing->name, thing->len) == 0)
		return true;
	return device && about.path_len > sizeof(devices) - 1 &&
	       memcmp(about.path, devices, sizeof(devices) - 1) == 0;
}

/* The built-in rules have /dev/pts as a whole. */
static bool names_terminal(const struct machine_thing *thing, uint32_t rule)
{
	static const char folder[] = "/dev/pts/";
	struct aw_rule_about about;

	return names_it(thing, rule, false) ||
	       (aw_image_rule_about(thing->image, rule, &about) &&
		       about.path_len > sizeof(folder) - 1 &&
		       memcmp(about.path, folder, sizeof(folder) - 1) == 0);
}

static bool is_change(enum aw_action action)
{
	return action == AW_WRITE || action == AW_CREATE || action == AW_DELETE ||
	       action == AW_RENAME;
}

/* In /proc everything but what belongs to a process; a link in it is judged as such. */
static bool is_of_process(const char *name)
{
	return strncmp(name, "/proc/", 6) == 0 &&
	       ((name[6] >= '0' && name[6] <= '9') || strcmp(name, "/proc/self") == 0);
}

/* About what is in it; what nobody can write to is not changed by that. */
static bool is_content(const struct aw_syscall *row, int sys)
{
	return row->effect == AW_FX_OPEN || row->effect == AW_FX_CREAT ||
	       sys == AW_SYS_truncate;
}

/* Which the kernel refuses in /proc and /sys whatever they are about. */
static bool is_futile(const struct aw_syscall *row, int sys)
{
	return row->effect == AW_FX_LINK ||
	       strstr(aw_call_name((unsigned)sys), "xattr");
}

/* In /proc and /sys nothing is made or removed, as the kernel answers by itself. */
static bool can_change(const struct machine_thing *thing)
{
	const mode_t writable = S_IWUSR | S_IWGRP | S_IWOTH;

	if (!thing->st || thing->futile ||
		(thing->action != AW_WRITE && thing->action != AW_CREATE))
		return false;
	return !thing->content ||
	       (!S_ISDIR(thing->st->st_mode) && (thing->st->st_mode & writable));
}

static bool is_setting(const struct machine_thing *thing)
{
	struct statfs fs;
	unsigned long type;

	if (thing->fd < 0 || fstatfs(thing->fd, &fs) < 0)
		return false;
	type = (unsigned long)fs.f_type;
	if (type == PROC_SUPER_MAGIC)
		return !is_of_process(thing->name) && can_change(thing);
	if (type == SYSFS_MAGIC)
		return can_change(thing);
	if (strncmp(thing->name, "/sys/", 5) == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		if (type == settings[i])
			return true;
	return false;
}

/*
 * What is known of processes is known by names in the target's /proc.  Under another
 * name, or of another one, it would be given out as any file is, by us, who may look at
 * all processes of the user.
 */
static bool is_proc_elsewhere(const struct machine_thing *thing)
{
	struct statfs fs;
	struct stat st;

	/* a file system without a device has major number 0 */
	if (thing->fd < 0 || fstat(thing->fd, &st) < 0 || major(st.st_dev) != 0 ||
		fstatfs(thing->fd, &fs) < 0 ||
		(unsigned long)fs.f_type != PROC_SUPER_MAGIC)
		return false;
	if (strncmp(thing->name, "/proc", 5) != 0 ||
		(thing->name[5] && thing->name[5] != '/'))
		return true;
	/* a sandbox may show settings of this machine's in a /proc of its own */
	return is_of_process(thing->name) && st.st_dev != thing->proc;
}

static bool is_terminal_of(pid_t tid, dev_t device)
{
	struct aw_proc_stat stat;

	return (major(device) >= PTS_FIRST && major(device) <= PTS_LAST) ||
	       (aw_proc_stat(tid, &stat) && stat.terminal == device);
}

/* What the kernel calls a character device, whatever the name of its file is. */
static bool is_called(dev_t device, const char *folder, const char *name)
{
	char link[48], text[256], end[64];
	ssize_t n;
	int len;

	snprintf(link, sizeof(link), "/sys/dev/char/%u:%u", major(device),
		minor(device));
	n = readlink(link, text, sizeof(text) - 1);
	len = snprintf(end, sizeof(end), "/%s/%s", folder, name);
	if (n < len)
		return false;
	text[n] = '\0';
	return strcmp(text + n - len, end) == 0;
}

/*
 * Root opens every device, and most of them are not for everybody: disks by another
 * way, keyboards, the machine's power.  So root has those that all users have, and its
 * terminal.
 */
static bool is_device_of_few(pid_t tid, const struct stat *st)
{
	if (is_called(st->st_rdev, "misc", "userfaultfd"))
		return true;
	return geteuid() == 0 && !(st->st_mode & (S_IROTH | S_IWOTH)) &&
	       !is_terminal_of(tid, st->st_rdev);
}

/* As aw_machine_keeps(). */
static const char *reason_against(const struct machine_thing *thing, uint32_t rule)
{
	bool entry = thing->action == AW_DELETE || thing->action == AW_RENAME;

	if (thing->st && !entry && S_ISBLK(thing->st->st_mode))
		return names_it(thing, rule, false)
			       ? NULL
			       : "a disk is every file on it; only a rule that names it allows it";
	if (thing->st && !entry && S_ISCHR(thing->st->st_mode) &&
		is_device_of_few(thing->tid, thing->st))
		return names_it(thing, rule, true)
			       ? NULL
			       : "a device that is not for all users; only a "
				 "rule below /dev allows it";
	if (thing->st && !entry &&
		aw_terminal_is_foreign(thing->tid, thing->pts, thing->st) &&
		!names_terminal(thing, rule))
		return "a terminal that is not the session's; only a rule that names "
		       "it, or for what is below /dev/pts, allows it";
	if (thing->st && is_proc_elsewhere(thing) && !names_it(thing, rule, false))
		return "another /proc, or one under another name; only a rule that "
		       "names it allows it";
	if (is_change(thing->action) && is_setting(thing) &&
		!names_it(thing, rule, false))
		return "a setting of the kernel; only a rule that names it allows it";
	return NULL;
}

const char *aw_machine_keeps(const struct aw_notified *call, enum aw_action action,
	const struct aw_location *place, uint32_t rule)
{
	const struct machine_thing thing = {.image = atomic_load(&call->watch->image),
		.action = action,
		.name = place->name,
		.len = place->len,
		.fd = place->object >= 0 ? place->object : place->parent,
		.st = place->object >= 0 ? &place->st : NULL,
		.tid = call->target.tid,
		.proc = atomic_load(&call->watch->proc),
		.pts = atomic_load(&call->watch->pts),
		.content = is_content(call->row, call->sys),
		.futile = is_futile(call->row, call->sys)};

	return reason_against(&thing, rule);
}

bool aw_machine_may_be(enum aw_action action, const struct aw_text *path)
{
	static const char *const all[] = {"/dev/", "/proc/", "/sys/"};
	size_t count = action == AW_READ ? 1 : ARRAY_SIZE(all);

	for (size_t i = 0; i < count; i++)
		if (path->len > strlen(all[i]) &&
			memcmp(path->bytes, all[i], strlen(all[i])) == 0)
			return true;
	return false;
}

const char *aw_machine_would_keep(const struct aw_image *image, enum aw_action action,
	int sys, const struct aw_text *path, pid_t tid, uint32_t rule)
{
	static const char own[] = "/proc/self/", thread[] = "/proc/thread-self/";
	const struct aw_syscall *row = sys < 0 ? NULL : &aw_syscalls[sys];
	AW_CLOSE int fd = -1;
	char name[4096];
	struct stat st;
	struct machine_thing thing = {.image = image,
		.action = action,
		.name = name,
		.len = path->len,
		.st = &st,
		.tid = tid,
		.content = !row || is_content(row, sys),
		.futile = row && is_futile(row, sys)};

	if (path->len >= sizeof(name) || action == AW_METADATA)
		return NULL;
	memcpy(name, path->bytes, path->len);
	name[path->len] = '\0';
	if (strncmp(name, own, strlen(own)) == 0 ||
		strncmp(name, thread, strlen(thread)) == 0)
		return NULL;
	fd = open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) < 0)
		return NULL;
	thing.fd = fd;
	thing.proc = st.st_dev; /* by its name: the one that everybody has */
	return reason_against(&thing, rule);
}

bool aw_machine_is_misc(struct aw_notified *call, int number, const char *name)
{
	AW_CLOSE int pidfd = aw_pidfd_of_thread(call->target.tid, call->target.who.pid);
	AW_CLOSE int fd =
		pidfd < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, pidfd, number, 0);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) &&
	       is_called(st.st_rdev, "misc", name);
}
