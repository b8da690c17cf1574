/* SPDX-License-Identifier: Apache-2.0 */
/* creds.c - another's ids, groups, capabilities and umask for one call. */
#include "supervisor/linux/target/creds.h"

#include <errno.h>
#include <grp.h>
#include <linux/capability.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/linux/procfs.h"

enum { GROUPS_MAX = 1024, SEEN = 16 };

struct rights {
	uid_t uid;
	gid_t gid;
	uint64_t capabilities;
	int group_count;
	gid_t groups[GROUPS_MAX];
};

/* What a target was last seen to have; it holds as long as rights_at is the same. */
struct seen {
	uint64_t rights_at;
	struct rights rights;
	pid_t tid;
	mode_t umask;
};

/*
 * Of a thread: little, since each one that starts has all of it cleared, used or not.
 */
static _Thread_local struct rights present; /* while changed */
static _Thread_local bool changed;
static _Thread_local pid_t worn_tid; /* whose rights these are while changed */
static _Thread_local uint64_t worn_rights_at;
static _Thread_local mode_t own_umask, present_umask;

/* Ours, which no thread keeps changed: read by the first one, before it changes any. */
static struct rights own;
static struct __user_cap_data_struct own_sets[2];
static pthread_once_t own_once = PTHREAD_ONCE_INIT;

/* What the command started with; read from its first process. */
static struct rights first;
static bool first_known;

static struct seen seen[SEEN];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of first and seen */

static bool read_rights(pid_t tid, struct rights *ret, mode_t *ret_umask)
{
	const char *uid, *gid, *groups, *caps, *mask;
	char text[AW_PROC_STATUS], *end;

	if (!aw_proc_status(tid, text, sizeof(text)))
		return false;
	uid = aw_proc_status_value(text, "Uid");
	gid = aw_proc_status_value(text, "Gid");
	groups = aw_proc_status_value(text, "Groups");
	caps = aw_proc_status_value(text, "CapEff");
	mask = aw_proc_status_value(text, "Umask");
	if (!uid || !gid || !groups || !caps || !mask ||
		sscanf(uid, "%*u %*u %*u %u", &ret->uid) != 1 ||
		sscanf(gid, "%*u %*u %*u %u", &ret->gid) != 1)
		return false;
	ret->capabilities = strtoull(caps, NULL, 16);
	*ret_umask = (mode_t)strtoul(mask, NULL, 8);
	ret->group_count = 0;
	while (*groups >= '0' && *groups <= '9' && ret->group_count < GROUPS_MAX) {
		ret->groups[ret->group_count++] = (gid_t)strtoul(groups, &end, 10);
		groups = end + strspn(end, " ");
	}
	return *groups < '0' || *groups > '9'; /* else there are more than we can be */
}

static bool same_groups(const struct rights *a, const struct rights *b)
{
	return a->group_count == b->group_count &&
	       memcmp(a->groups, b->groups, (size_t)a->group_count * sizeof(gid_t)) ==
		       0;
}

static int set_effective(uint64_t capabilities)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[2] = {own_sets[0], own_sets[1]};

	data[0].effective = (uint32_t)capabilities & data[0].permitted;
	data[1].effective = (uint32_t)(capabilities >> 32) & data[1].permitted;
	return (int)syscall(SYS_capset, &head, data);
}

/* By raw calls: libc's would change every thread. */
static int become(const struct rights *from, const struct rights *to)
{
	if (!same_groups(from, to) &&
		syscall(SYS_setgroups, to->group_count, to->groups) < 0)
		return errno;
	if (from->gid != to->gid && syscall(SYS_setresgid, -1, to->gid, -1) < 0)
		return errno;
	if (from->uid != to->uid && syscall(SYS_setresuid, -1, to->uid, -1) < 0)
		return errno;
	/* capabilities last: changing the user id changes them, too */
	return (from->uid != to->uid || from->capabilities != to->capabilities) &&
			       set_effective(to->capabilities) < 0
		       ? errno
		       : 0;
}

static void restore(const struct rights *from)
{
	/* back to all that is permitted first: the rest needs it */
	if (from->uid != own.uid)
		syscall(SYS_setresuid, -1, own.uid, -1);
	if (from->uid != own.uid || from->capabilities != own.capabilities)
		set_effective(own.capabilities);
	if (from->gid != own.gid)
		syscall(SYS_setresgid, -1, own.gid, -1);
	if (!same_groups(from, &own))
		syscall(SYS_setgroups, own.group_count, own.groups);
}

static void read_own(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	mode_t ignored;

	syscall(SYS_capget, &head, own_sets);
	read_rights((pid_t)syscall(SYS_gettid), &own, &ignored);
}

void aw_creds_prepare(void)
{
	unshare(CLONE_FS);
	own_umask = present_umask = umask(022);
	umask(own_umask);
	pthread_once(&own_once, read_own);
}

static bool first_rights(pid_t tid, struct rights *ret)
{
	mode_t ignored;

	pthread_mutex_lock(&lock);
	if (!first_known)
		first_known = read_rights(tid, &first, &ignored);
	*ret = first;
	pthread_mutex_unlock(&lock);
	return first_known;
}

static bool was_seen(
	const struct aw_target *target, struct rights *ret, mode_t *ret_umask)
{
	const struct seen *at = &seen[(unsigned)target->tid % SEEN];
	bool is;

	pthread_mutex_lock(&lock);
	is = at->tid == target->tid && at->rights_at == target->who.rights_at;
	if (is) {
		*ret = at->rights;
		*ret_umask = at->umask;
	}
	pthread_mutex_unlock(&lock);
	return is;
}

/* /proc is slow: asked once until a call was seen that may change rights or umask. */
static bool rights_of(
	const struct aw_target *target, struct rights *ret, mode_t *ret_umask)
{
	struct seen *at = &seen[(unsigned)target->tid % SEEN];

	if (was_seen(target, ret, ret_umask))
		return true;
	if (!read_rights(target->tid, ret, ret_umask))
		return false;
	pthread_mutex_lock(&lock);
	*at = (struct seen){target->who.rights_at, *ret, target->tid, *ret_umask};
	pthread_mutex_unlock(&lock);
	return true;
}

int aw_creds_assume(struct aw_watch *watch, const struct aw_target *target)
{
	const struct aw_process_info *who = &target->who;
	mode_t mask = own_umask;
	bool known;
	int err;

	if (changed && worn_tid == target->tid && worn_rights_at == who->rights_at)
		return 0;
	aw_creds_restore();
	if (who->own_rights)
		known = rights_of(target, &present, &mask);
	else
		known = first_rights(target->tid, &present);
	if (!known)
		return EPERM;
	if (who->umask >= 0 && !who->own_folders) {
		mask = (mode_t)who->umask;
	} else if (!who->own_rights && who->own_umask) {
		struct rights ignored;

		if (!read_rights(target->tid, &ignored, &mask))
			return EPERM;
		if (!who->own_folders)
			aw_processes_set_umask(watch->tree, who->pid, (int)mask);
	}
	if (mask != present_umask)
		umask(present_umask = mask);
	if (own.uid != 0 && present.uid == own.uid) /* nothing that could be changed */
		return 0;
	changed = true;
	worn_tid = target->tid;
	worn_rights_at = who->rights_at;
	err = become(&own, &present);
	if (err)
		aw_creds_restore();
	return err;
}

void aw_creds_restore(void)
{
	if (changed)
		restore(&present);
	changed = false;
}

void aw_creds_keep_for(pid_t tid)
{
	if (worn_tid != tid)
		aw_creds_restore();
}

bool aw_creds_hinder(void)
{
	if (!changed || (errno != EACCES && errno != EPERM))
		return false;
	aw_creds_restore();
	return true;
}
