/* SPDX-License-Identifier: Apache-2.0 */
/* test_fair.c - threads are added for calls that are held up alone. */
#include <linux/seccomp.h>
#include <unistd.h>

#include "supervisor/linux/seccomp/fair.h"
#include "tests/unit/tap.h"

enum { THREADS = 4, LONG_US = 80000 };

/* Processes that there are not stand for themselves. */
static enum aw_fair_turn begin(struct aw_fair *fair, unsigned slot, unsigned process)
{
	const struct seccomp_notif request = {.pid = 0x3fff0000 + process};

	return aw_fair_begin(fair, slot, THREADS, &request);
}

int main(void)
{
	struct aw_fair *fair = aw_fair_create(64, sizeof(struct seccomp_notif));
	struct seccomp_notif request;
	bool added = false;

	if (!fair)
		return 1;
	ok(aw_fair_is_calm(fair), "with no call there are threads enough");
	for (int i = 0; i < 20; i++) {
		for (unsigned slot = 0; slot < THREADS; slot++)
			added |= begin(fair, slot, slot) == AW_FAIR_LAST;
		for (unsigned slot = 0; slot < THREADS; slot++)
			aw_fair_next(fair, slot, THREADS, &request);
	}
	ok(!added, "short calls on all threads at a time add none");
	ok(!aw_fair_is_calm(fair), "but none is taken away then");

	begin(fair, 0, 1);
	begin(fair, 1, 1);
	begin(fair, 2, 2);
	usleep(LONG_US);
	ok(begin(fair, 3, 1) == AW_FAIR_LATER,
		"the last one is not for a process that has half of them");
	ok(begin(fair, 3, 3) == AW_FAIR_LAST,
		"where the others are held up another one is wished for");
	ok(!aw_fair_next(fair, 3, THREADS, &request),
		"what was put aside waits for its process");
	ok(aw_fair_next(fair, 0, THREADS, &request) && request.pid == 0x3fff0001,
		"and goes on when one of its calls is through");
	usleep(1100000);
	ok(aw_fair_is_calm(fair), "a second without need is calm");
	aw_fair_free(fair);
	return done();
}
