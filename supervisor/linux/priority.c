/* SPDX-License-Identifier: Apache-2.0 */
/* priority.c - threads that a watched program waits for. */
#include "supervisor/linux/priority.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>

enum { AHEAD = 5 };

void aw_priority_raise(void)
{
	const struct sched_param none = {.sched_priority = 0};
	int nice;

	if (sched_getscheduler(0) != SCHED_OTHER)
		return; /* somebody has decided that already */
	errno = 0;
	nice = getpriority(PRIO_PROCESS, 0); /* of this thread alone */
	if (errno ||
		sched_setscheduler(0, SCHED_OTHER | SCHED_RESET_ON_FORK, &none) < 0)
		return;
	setpriority(PRIO_PROCESS, 0, nice - AHEAD);
}
