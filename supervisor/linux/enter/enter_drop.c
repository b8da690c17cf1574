/* SPDX-License-Identifier: Apache-2.0 */
/* enter_drop.c - agentwatch-enter: giving up capabilities for good. */
#include <errno.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/linux/enter/enter.h"

#ifndef PR_CAP_AMBIENT
#define PR_CAP_AMBIENT 47
#define PR_CAP_AMBIENT_CLEAR_ALL 4
#endif

static struct __user_cap_header_struct self = {_LINUX_CAPABILITY_VERSION_3, 0};

/* The set from which a program of root's takes its capabilities. */
static int narrow_bounding_set(uint64_t keep)
{
	for (unsigned long cap = 0; cap < 64; cap++) {
		int there = prctl(PR_CAPBSET_READ, cap, 0, 0, 0);

		if (there < 0)
			return 0; /* past the last one */
		if (there && !(keep >> cap & 1) &&
			prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
			return -1;
	}
	return 0;
}

/*
 * Who may not narrow the bounding set gets no_new_privs instead, so that a set-id
 * program gives nothing back either way.
 */
static int narrow_future(uint64_t keep)
{
	int bits = prctl(PR_GET_SECUREBITS, 0, 0, 0, 0) | SECBIT_NO_CAP_AMBIENT_RAISE |
		   SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

	if (narrow_bounding_set(keep) == 0 &&
		prctl(PR_SET_SECUREBITS, bits, 0, 0, 0) == 0)
		return 0;
	return errno == EPERM ? prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) : -1;
}

int aw_enter_drop(uint64_t keep)
{
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &self, data) < 0)
		return -1;
	if (narrow_future(keep) < 0)
		return -1;
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); /* EINVAL: none */
	for (int i = 0; i < 2; i++) {
		data[i].permitted &= (uint32_t)(keep >> (32 * i));
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	return (int)syscall(SYS_capset, &self, data);
}
