/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter.h - the seccomp filter that hands watched calls to the supervisor.
 *
 * Classic BPF (kernel: Documentation/userspace-api/seccomp_filter.rst).  Calls that are
 * not watched are allowed without looking at anything but their number, so that the
 * kernel's per-number cache (5.11) skips the filter for them.
 */
#ifndef AW_SUPERVISOR_LINUX_SECCOMP_FILTER_H
#define AW_SUPERVISOR_LINUX_SECCOMP_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>

#define AW_FILTER_MAX 512

struct aw_filter {
	struct sock_filter code[AW_FILTER_MAX];
	unsigned short count;
};

/* What a session needs to be told of. */
/* With holds a call with a higher number is answered ENOSYS: file_setattr(2). */
enum { AW_NEWEST_CALL = 469 };

struct aw_filter_params {
	/* file calls made from the gate page are allowed: audit with local verdicts */
	bool gate;
	/* reading opens made from the gate page are allowed: enforce, when everything
	 * that may not be read is out of reach behind the sandbox */
	bool gate_reads;
	bool metadata; /* stat, access and readlink are watched too */
	bool holds;    /* mode enforce: calls that only matter there are watched */
	bool kin; /* with holds: calls at other processes are; else the sandbox holds
		   * them
		   */
};

void aw_filter_build(const struct aw_filter_params *params, struct aw_filter *ret);

#endif
