/* SPDX-License-Identifier: Apache-2.0 */
/* same_waits.c - a call that blocks holds up nobody else, and can be interrupted,
 * stopped, killed */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/escapes/escape.h"
#include "tests/escapes/same.h"

enum { MANY = 12 };

static void on_signal(int number)
{
	(void)number;
}

/* A child that opens the FIFO for reading, and what became of it. */
static pid_t reader(const char *fifo)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		int fd = open(fifo, O_RDONLY);

		_exit(fd < 0 ? errno : 0);
	}
	return child;
}

static void work(const char *when)
{
	long start = clock_ms();
	int i, fd, bad = 0;

	for (i = 0; i < 100; i++) {
		fd = open("other", O_CREAT | O_RDWR, 0600);
		bad += fd < 0;
		close(fd);
		bad += unlink("other") < 0;
	}
	printf("%s: %d wrong\n", when, bad);
	holds("  in good time", clock_ms() - start < 5000);
}

static void many_at_once(void)
{
	pid_t children[MANY];
	int i, fd, bad = 0;

	mkfifo("fifo", 0600);
	for (i = 0; i < MANY; i++)
		children[i] = reader("fifo");
	usleep(300000);
	work("others work while twelve wait");
	fd = open("fifo", O_WRONLY);
	say("the other end", fd);
	for (i = 0; i < MANY; i++)
		bad += child_result(children[i]) != 0;
	printf("%d of them failed\n", bad);
	close(fd);
	say("for writing, non-blocking, nobody there",
		open("fifo", O_WRONLY | O_NONBLOCK));
	fd = open("fifo", O_RDONLY | O_NONBLOCK);
	say("for reading, non-blocking", fd);
	close(fd);
}

/* A signal comes while the open waits. */
static void interrupted(bool restart)
{
	struct sigaction action = {
		.sa_handler = on_signal, .sa_flags = restart ? SA_RESTART : 0};
	pid_t child;
	int fd;

	sigaction(SIGUSR1, &action, NULL);
	child = reader("fifo");
	usleep(200000);
	kill(child, SIGUSR1);
	usleep(200000);
	if (restart) {
		fd = open("fifo", O_WRONLY);
		say("the other end", fd);
		close(fd);
	}
	printf("%s: %s\n", restart ? "restarted" : "interrupted",
		errno_name(child_result(child)));
}

static void killed(int number)
{
	pid_t child = reader("fifo");
	int status = 0, fd;

	usleep(200000);
	kill(child, number);
	if (number == SIGSTOP) {
		holds("it stops", waitpid(child, &status, WUNTRACED) == child &&
					  WIFSTOPPED(status));
		work("while one is stopped");
		kill(child, SIGCONT);
		fd = open("fifo", O_WRONLY);
		say("the other end", fd);
		waitpid(child, &status, 0);
		close(fd);
	} else {
		waitpid(child, &status, 0);
		work("after one was killed");
	}
	printf("signal %d: ended with %x\n", number, (unsigned)status);
}

/* Children that are killed while they make and remove things: nothing is half done. */
static void killed_at_work(void)
{
	int i, status;
	pid_t child;

	for (i = 0; i < 20; i++) {
		child = fork();
		while (child == 0) {
			mkdir("k", 0700);
			rename("k", "k2");
			rmdir("k2");
		}
		usleep(2000 * (i % 5 + 1));
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		rmdir("k");
		rmdir("k2");
	}
	say("nothing is left", rmdir("k"));
	work("after twenty were killed");
}

/* Numbers that are no signal, at a child, a group, a thread, everybody and a stranger. */
static void no_signals(void)
{
	static const int numbers[] = {65, 200, -1};
	pid_t child = fork(), stranger = getppid();

	while (child == 0)
		pause();
	setpgid(child, child);
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		int number = numbers[i];

		say("no signal at a child", kill(child, number));
		say("at its group", kill(-child, number));
		say("at one's own group", kill(0, number));
		say("at everybody", kill(-1, number));
		say("at one's parent", kill(stranger, number));
		say("at nobody", kill(0x3fffff, number));
		say("at no group", kill(-0x3ffffe, number));
		say("at a thread", syscall(SYS_tgkill, child, child, number));
		say("at a thread alone", syscall(SYS_tkill, child, number));
	}
	say("a signal", kill(child, SIGKILL));
	waitpid(child, NULL, 0);
}

void same_waits(void)
{
	alarm(60);
	no_signals();
	many_at_once();
	interrupted(false);
	interrupted(true);
	killed(SIGKILL);
	killed(SIGTERM);
	killed(SIGSTOP);
	killed_at_work();
}
