/* SPDX-License-Identifier: Apache-2.0 */
/* emulate_reply.c - the answer to a call that was made for the target. */
#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>

#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/util/cleanup.h"

void aw_emulate_answer(struct aw_notified *call, long result)
{
	call->reply = AW_REPLY_VALUE;
	call->value = result < 0 ? 0 : result;
	call->err = result < 0 ? (int)-result : 0;
	call->event.result_known = true;
	call->event.result = call->err;
}

bool aw_emulate_give(struct aw_notified *call, int *fd, uint64_t flags)
{
	struct seccomp_notif_addfd add = {.id = call->id,
		.srcfd = (uint32_t)*fd,
		.newfd_flags = flags & O_CLOEXEC ? O_CLOEXEC : 0};
	bool plain = (flags & O_ACCMODE) == O_RDONLY && !(flags & O_NONBLOCK);
	int number;

	if (plain)
		add.flags = SECCOMP_ADDFD_FLAG_SEND;
	number = ioctl(call->watch->listener, SECCOMP_IOCTL_NOTIF_ADDFD, &add);
	if (number < 0) {
		call->gone = errno == ENOENT;
		aw_emulate_answer(call, -errno);
		return false;
	}
	/* the target must not go on while ours is still open: the last close of a pipe,
	 * or of a program that was written, would come late */
	aw_close(aw_take_fd(fd));
	aw_emulate_answer(call, number);
	if (plain)
		call->reply = AW_REPLY_DONE;
	return true;
}

bool aw_emulate_waits(struct aw_notified *call)
{
	if (ioctl(call->watch->listener, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id) == 0)
		return true;
	call->gone = call->silent = true;
	call->reply = AW_REPLY_DONE;
	return false;
}
