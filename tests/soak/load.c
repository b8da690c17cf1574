/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load.c - forks, programs, opens, connections and kills, as fast as they go.
 *
 *   soak-load run SECONDS WORKERS DIR PORT   the load; DIR has the kinds' files
 *   soak-load leaf DIR                       one of the programs that it runs
 *
 * DIR/ready appears before the first call that counts and DIR/quiet behind the last
 * one; around both the load rests, so that the supervisor can be looked at.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/soak/tally.h"

/* what its calls are counted as, when it is one of the programs */
#ifndef SOAK_LEAF_KIND
#define SOAK_LEAF_KIND SOAK_LEAF
#endif

enum { REST_MS = 1500, BURST = 48, THREADS = 3 };

extern char **environ;
static struct soak_tally *tally;
static const char *dir;
static int port;

static void die(const char *what)
{
	fprintf(stderr, "soak-load: %s: %s\n", what, strerror(errno));
	exit(1);
}

static const char *path_of(enum soak_kind kind, char out[256])
{
	snprintf(out, 256, "%s/%s", dir, soak_names[kind]);
	return out;
}

static void begin(enum soak_kind kind)
{
	atomic_fetch_add(&tally->begun[kind], 1);
}

static void end(enum soak_kind kind)
{
	atomic_fetch_add(&tally->done[kind], 1);
}

static void open_tally(void)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/tally", dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*tally)) < 0)
		die(path);
	tally = mmap(NULL, sizeof(*tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (tally == MAP_FAILED)
		die("mapping the tally");
	close(fd);
}

/* One open of a kind's file, which may be refused. */
static void open_once(enum soak_kind kind)
{
	char path[256];
	int fd;

	path_of(kind, path);
	begin(kind);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	end(kind);
	if (fd >= 0)
		close(fd);
}

static void open_raw(void)
{
	char path[256];
	long fd;

	path_of(SOAK_RAW, path);
	begin(SOAK_RAW);
#if defined(__x86_64__)
	__asm__ volatile("syscall"
			 : "=a"(fd)
			 : "a"(SYS_open), "D"(path), "S"(O_RDONLY | O_CLOEXEC), "d"(0)
			 : "rcx", "r11", "memory");
#else
	fd = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0);
#endif
	end(SOAK_RAW);
	if (fd >= 0)
		close((int)fd);
}

/* Create k-made.PID, rename it to k-moved.PID and delete that. */
static void change(void)
{
	char made[300], moved[300], path[256];
	int fd;

	snprintf(made, sizeof(made), "%s.%d", path_of(SOAK_MADE, path), getpid());
	snprintf(moved, sizeof(moved), "%s.%d", path_of(SOAK_MOVED, path), getpid());
	begin(SOAK_MADE);
	fd = open(made, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	end(SOAK_MADE);
	if (fd < 0)
		die(made);
	close(fd);
	begin(SOAK_MADE);
	if (rename(made, moved) < 0)
		die(moved);
	end(SOAK_MADE);
	begin(SOAK_MOVED);
	if (unlink(moved) < 0)
		die(moved);
	end(SOAK_MOVED);
}

static void *in_thread(void *arg)
{
	for (int i = 0; i < BURST; i++)
		open_once(SOAK_THREAD);
	return arg;
}

static void threads(void)
{
	pthread_t thread[THREADS];

	for (int i = 0; i < THREADS; i++)
		if ((errno = pthread_create(&thread[i], NULL, in_thread, NULL)))
			die("pthread_create");
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static pid_t fork_counted(void)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork");
	if (pid > 0)
		begin(SOAK_PROCESSES);
	return pid;
}

static void reap(pid_t pid, int signal)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	end(SOAK_PROCESSES);
	if (signal ? !WIFSIGNALED(status) || WTERMSIG(status) != signal
		   : !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
		fprintf(stderr, "soak-load: a child ended with %#x\n",
			(unsigned)status);
		exit(1);
	}
}

static void forked(void)
{
	pid_t pid = fork_counted();

	if (pid == 0) {
		for (int i = 0; i < 4; i++)
			open_once(SOAK_FORKED);
		threads();
		_exit(0);
	}
	reap(pid, 0);
}

static void run_program(bool is_static)
{
	enum soak_kind kind = is_static ? SOAK_RUN_STATIC : SOAK_RUN;
	char path[256];
	char *argv[] = {path, "leaf", (char *)dir, NULL};
	pid_t pid;

	path_of(kind, path);
	begin(kind);
	errno = posix_spawn(&pid, path, NULL, NULL, argv, environ);
	if (errno)
		die(path);
	begin(SOAK_PROCESSES);
	reap(pid, 0);
	end(kind);
}

/* A child that opens until it is killed, wherever it is by then. */
static void kill_one(unsigned *seed)
{
	struct timespec moment = {0, (long)(rand_r(seed) % 3000000)};
	pid_t pid = fork_counted();

	if (pid == 0) {
		begin(SOAK_SEEN);
		open_once(SOAK_VICTIM);
		end(SOAK_SEEN);
		for (int i = 0; i < 200000; i++)
			open_once(SOAK_VICTIM);
		pause();
	}
	nanosleep(&moment, NULL);
	begin(SOAK_KILLS);
	kill(pid, SIGKILL);
	end(SOAK_KILLS);
	reap(pid, SIGKILL);
}

static void connect_to(enum soak_kind kind, const void *address, socklen_t size)
{
	const struct linger at_once = {1, 0}; /* leaves no TIME_WAIT behind */
	const struct sockaddr *sa = address;
	int fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0), failed, code;

	if (fd < 0)
		die("socket");
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	begin(kind);
	failed = connect(fd, sa, size);
	code = errno;
	end(kind);
	errno = code;
	if (kind == SOAK_TCP_DENIED ? !failed : failed)
		die(soak_names[kind]);
	close(fd);
}

static void unix_name(struct sockaddr_un *out)
{
	char path[256];

	*out = (struct sockaddr_un){.sun_family = AF_UNIX};
	snprintf(out->sun_path, sizeof(out->sun_path), "%.100s",
		path_of(SOAK_UNIX, path));
}

static void inet_name(struct sockaddr_in *out, int number)
{
	*out = (struct sockaddr_in){.sin_family = AF_INET,
		.sin_port = htons((uint16_t)number),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
}

static void connections(void)
{
	struct sockaddr_un un;
	struct sockaddr_in in;

	unix_name(&un);
	connect_to(SOAK_UNIX, &un, sizeof(un));
	inet_name(&in, port);
	connect_to(SOAK_TCP, &in, sizeof(in));
	inet_name(&in, port + 1);
	connect_to(SOAK_TCP_DENIED, &in, sizeof(in));
}

static void *accept_all(void *arg)
{
	int fd = *(int *)arg, one;

	for (;;)
		if ((one = accept4(fd, NULL, NULL, SOCK_CLOEXEC)) >= 0)
			close(one);
	return NULL;
}

static void listen_at(int *fd, const void *address, socklen_t size)
{
	const struct sockaddr *sa = address;
	pthread_t thread;
	int yes = 1;

	*fd = socket(sa->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	setsockopt(*fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
	if (*fd < 0 || bind(*fd, sa, size) < 0 || listen(*fd, 128) < 0)
		die("listening");
	if ((errno = pthread_create(&thread, NULL, accept_all, fd)))
		die("pthread_create");
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void work(double until, unsigned seed)
{
	while (now() < until) {
		for (int i = 0; i < BURST; i++) {
			open_once(SOAK_OPEN);
			if (i % 4 == 0) {
				open_raw();
				open_once(SOAK_DENIED);
				open_once(SOAK_FLIP);
			}
		}
		change();
		connections();
		forked();
		run_program(rand_r(&seed) % 4 == 0);
		kill_one(&seed);
	}
}

static void rest(const char *sign)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, sign);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0)
		die(path);
	close(fd);
	usleep(REST_MS * 1000);
}

/* Whoever looks at the supervisor has seen enough. */
static bool is_let_go(void)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/go", dir);
	return access(path, F_OK) == 0;
}

static int run(double seconds, int workers)
{
	static int fds[2];
	struct sockaddr_un un;
	struct sockaddr_in in;
	double until;

	unix_name(&un);
	listen_at(&fds[0], &un, sizeof(un));
	inet_name(&in, port);
	listen_at(&fds[1], &in, sizeof(in));
	rest("ready");
	until = now() + seconds;
	for (int i = 0; i < workers; i++)
		if (fork_counted() == 0) {
			work(until, (unsigned)i + 1);
			_exit(0);
		}
	for (int i = 0; i < workers; i++)
		reap(-1, 0);
	rest("quiet");
	for (int i = 0; i < 300 && !is_let_go(); i++)
		usleep(100000);
	return 0;
}

int main(int argc, char **argv)
{
	bool leaf = argc == 3 && strcmp(argv[1], "leaf") == 0;

	if (!leaf && (argc != 6 || strcmp(argv[1], "run") != 0))
		return 2;
	dir = leaf ? argv[2] : argv[4];
	open_tally();
	if (!leaf) { /* ourselves */
		begin(SOAK_RUN);
		end(SOAK_RUN);
		begin(SOAK_PROCESSES);
		end(SOAK_PROCESSES);
	}
	if (leaf) {
		open_once(SOAK_LEAF_KIND);
		return 0;
	}
	port = atoi(argv[5]);
	return run(atof(argv[2]), atoi(argv[3]));
}
