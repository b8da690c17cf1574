/* SPDX-License-Identifier: Apache-2.0 */
/* call_arguments.c - what the flags of a notified call say. */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>

#include "supervisor/linux/calls/call.h"

bool aw_call_follows(const struct aw_notified *call, uint64_t flags)
{
	switch ((enum aw_last)call->row->last) {
	case AW_LAST_K:
		return false;
	case AW_LAST_O:
	case AW_LAST_H:
		return !(flags & O_NOFOLLOW) &&
		       (flags & (O_CREAT | O_EXCL)) != (O_CREAT | O_EXCL);
	case AW_LAST_A:
		return !(flags & AT_SYMLINK_NOFOLLOW);
	case AW_LAST_L:
		return flags & AT_SYMLINK_FOLLOW;
	default:
		return true;
	}
}

uint64_t aw_call_open_flags(const struct aw_notified *call)
{
	uint64_t flags = 0;

	if (call->row->flags < 0)
		return 0;
	if (call->row->last != AW_LAST_H)
		return call->args[call->row->flags];
	aw_target_read(
		&call->target, call->args[call->row->flags], &flags, sizeof(flags));
	return flags;
}
