/* SPDX-License-Identifier: Apache-2.0 */
/* test_epoch.c - what a reload replaces is released behind its last reader. */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#include "policy/load/load.h"
#include "supervisor/session/epoch.h"
#include "supervisor/session/shared.h"
#include "tests/unit/tap.h"

static struct aw_epoch readers;
static struct aw_epoch_garbage retired;

/* Something that tells by its descriptor whether it has been released. */
static int retire_one(void)
{
	struct aw_shared *shared = calloc(1, sizeof(*shared));
	const struct aw_policy nothing = {.mode = AW_AUDIT};

	shared->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	aw_epoch_retire(&retired, shared, &nothing);
	return shared->fd;
}

static bool is_there(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void look(int times)
{
	while (times--)
		aw_epoch_collect(&retired, &readers);
}

static void released_without_readers(void)
{
	int fd = retire_one();

	look(1);
	ok(is_there(fd), "one look only closes the door behind it");
	look(1);
	ok(!is_there(fd), "the next one releases it, when nobody is inside");
}

static void kept_for_its_reader(void)
{
	unsigned before = aw_epoch_enter(&readers), after;
	int fd = retire_one();

	look(5);
	ok(is_there(fd), "it is kept while a reader from before is inside");
	after = aw_epoch_enter(&readers);
	aw_epoch_leave(&readers, before);
	look(5);
	ok(!is_there(fd), "and released although a later one has come");
	aw_epoch_leave(&readers, after);
}

static void later_ones_wait_for_theirs(void)
{
	unsigned first = aw_epoch_enter(&readers), second;
	int a = retire_one(), b;

	look(2);
	second = aw_epoch_enter(&readers);
	b = retire_one();
	look(2);
	ok(is_there(a) && is_there(b),
		"a reader that stays keeps all that comes behind");
	aw_epoch_leave(&readers, first);
	look(3);
	ok(!is_there(a), "the first is released behind the first reader");
	ok(is_there(b), "and not the second, which another one may read");
	aw_epoch_leave(&readers, second);
	look(3);
	ok(!is_there(b), "until that has left, too");
}

static _Atomic(int *) current;
static _Atomic bool over;

static void *read_on(void *arg)
{
	long *wrong = arg;

	while (!atomic_load(&over)) {
		unsigned door = aw_epoch_enter(&readers);

		*wrong += !is_there(*atomic_load(&current));
		aw_epoch_leave(&readers, door);
	}
	return NULL;
}

/* Each value is another descriptor, whose number must be good as long as it is read. */
static void never_under_a_reader(void)
{
	static int fds[300];
	pthread_t thread[3];
	long wrong[3] = {0};

	fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	atomic_store(&current, &fds[0]);
	for (int i = 0; i < 3; i++)
		pthread_create(&thread[i], NULL, read_on, &wrong[i]);
	for (int i = 1; i < 300; i++) {
		struct aw_shared *old = calloc(1, sizeof(*old));
		const struct aw_policy nothing = {.mode = AW_AUDIT};

		old->fd = *atomic_load(&current);
		fds[i] = fcntl(old->fd, F_DUPFD_CLOEXEC, 100 + i % 50);
		atomic_store(&current, &fds[i]);
		aw_epoch_retire(&retired, old, &nothing);
		look(1);
		usleep(100);
	}
	atomic_store(&over, true);
	for (int i = 0; i < 3; i++)
		pthread_join(thread[i], NULL);
	look(4);
	ok(!wrong[0] && !wrong[1] && !wrong[2],
		"three threads never read what is gone");
}

int main(void)
{
	released_without_readers();
	kept_for_its_reader();
	later_ones_wait_for_theirs();
	never_under_a_reader();
	return done();
}
