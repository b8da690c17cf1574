/* SPDX-License-Identifier: Apache-2.0 */
/* same_signals.c - a storm of signals while calls are done: none is done twice, none is
 * lost */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/escapes/escape.h"
#include "tests/escapes/same.h"

enum { ROUNDS = 400 };

static volatile sig_atomic_t alarms;

static void on_alarm(int number)
{
	(void)number;
	alarms++;
}

static void storm(bool restart, long every_us)
{
	struct sigaction action = {
		.sa_handler = on_alarm, .sa_flags = restart ? SA_RESTART : 0};
	struct itimerval timer = {{0, every_us}, {0, every_us}};

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

/* Again while it was interrupted before anything was done. */
#define AGAIN(call)                                                                    \
	({                                                                             \
		long rc_;                                                              \
		do                                                                     \
			rc_ = (call);                                                  \
		while (rc_ < 0 && errno == EINTR);                                     \
		rc_;                                                                   \
	})

static int wrong;

static long must(const char *what, long rc)
{
	if (rc < 0 && wrong++ < 5)
		printf("%s: %s\n", what, errno_name(errno));
	return rc;
}

static void round_of_calls(void)
{
	int fd;

	must("mkdir", AGAIN(mkdir("d", 0700)));
	fd = must("open exclusive",
		AGAIN(open("d/a", O_CREAT | O_EXCL | O_WRONLY, 0600)));
	close(fd);
	must("link", AGAIN(link("d/a", "d/b")));
	must("symlink", AGAIN(symlink("a", "d/s")));
	must("rename", AGAIN(rename("d/b", "d/c")));
	must("chmod", AGAIN(chmod("d/c", 0640)));
	must("truncate", AGAIN(truncate("d/c", 10)));
	fd = must("open", AGAIN(open("d/s", O_RDONLY)));
	close(fd);
	must("unlink c", AGAIN(unlink("d/c")));
	must("unlink s", AGAIN(unlink("d/s")));
	must("rename", AGAIN(rename("d/a", "d/z")));
	must("unlink z", AGAIN(unlink("d/z")));
	must("rmdir", AGAIN(rmdir("d")));
}

static void connections(void)
{
	struct sockaddr_un address;
	socklen_t size = unix_address("sock", false, &address);
	int server = socket(AF_UNIX, SOCK_STREAM, 0), fd, peer, i;

	must("bind", AGAIN(bind(server, (struct sockaddr *)&address, size)));
	must("listen", AGAIN(listen(server, 8)));
	for (i = 0; i < ROUNDS / 4; i++) {
		fd = socket(AF_UNIX, SOCK_STREAM, 0);
		must("connect", AGAIN(connect(fd, (struct sockaddr *)&address, size)));
		peer = must("accept", AGAIN(accept(server, NULL, NULL)));
		close(fd);
		close(peer);
	}
	fcntl(server, F_SETFL, O_NONBLOCK);
	must("nobody connected twice",
		accept(server, NULL, NULL) < 0 ? 0 : (errno = EEXIST, -1));
	close(server);
	must("unlink sock", AGAIN(unlink("sock")));
}

static void under(bool restart, long every_us)
{
	int before, i;

	alarms = wrong = 0;
	before = descriptors();
	storm(restart, every_us);
	for (i = 0; i < ROUNDS; i++)
		round_of_calls();
	connections();
	storm(restart, 0);
	printf("%s: %d wrong answers\n", restart ? "restarted" : "interrupted", wrong);
	holds("there were signals", alarms > 20);
	holds("no descriptor is left over", descriptors() == before);
}

void same_signals(void)
{
	alarm(0);
	under(true, 500);
	under(false, 500);
	under(true, 150);
	under(false, 150);
}
