/* SPDX-License-Identifier: Apache-2.0 */
/* test_netns.c - sockets made in a network namespace of somebody else. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/linux/netns/netns.h"
#include "tests/unit/tap.h"

/* A process with namespaces of its own; 0: there are none here. */
static pid_t member(int namespaces)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready) < 0)
		return 0;
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (unshare(namespaces) < 0 || write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		pid = 0;
	close(ready[0]);
	return pid;
}

static struct sockaddr_in at(const char *address, unsigned port)
{
	struct sockaddr_in in = {
		.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};

	inet_pton(AF_INET, address, &in.sin_addr);
	return in;
}

/*
 * A listener there, and a client of it that is there, too; on the loopback nobody here
 * reaches it.  Of other addresses that is not tried: it would be asked for in the
 * network.
 */
static bool speaks(struct aw_netns *netns, const char *address, unsigned port)
{
	struct sockaddr_in in = at(address, port);
	int server = aw_netns_socket(
		    netns, AF_INET, SOCK_STREAM, 0, (void *)&in, sizeof(in)),
	    client = aw_netns_socket(netns, AF_INET, SOCK_STREAM, 0, NULL, 0),
	    outside = socket(AF_INET, SOCK_STREAM, 0);
	bool good = server >= 0 && listen(server, 1) == 0 &&
		    connect(client, (void *)&in, sizeof(in)) == 0 &&
		    fcntl(server, F_GETFD) == FD_CLOEXEC &&
		    (strncmp(address, "127.", 4) != 0 ||
			    connect(outside, (void *)&in, sizeof(in)) < 0);

	close(server);
	close(client);
	close(outside);
	return good;
}

static bool speaks_ipv6(struct aw_netns *netns)
{
	struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(53)};
	int fd;

	inet_pton(AF_INET6, "2001:db8::53", &in6.sin6_addr);
	fd = aw_netns_socket(netns, AF_INET6, SOCK_DGRAM, 0, (void *)&in6, sizeof(in6));
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool knows_its_own(struct aw_netns *netns)
{
	int here = socket(AF_INET, SOCK_DGRAM, 0),
	    there = aw_netns_socket(netns, AF_INET, SOCK_DGRAM, 0, NULL, 0);
	bool good = aw_netns_has(netns, there) && !aw_netns_has(netns, here) &&
		    !aw_netns_has(netns, STDIN_FILENO);

	close(here);
	close(there);
	return good;
}

static void exercise(const char *who, int namespaces)
{
	struct sockaddr_in foreign = at("192.0.2.1", 0);
	struct aw_netns *netns = NULL;
	struct aw_error err = {.text = ""};
	pid_t pid = member(namespaces);
	int fd;

	if (!pid) {
		ok(true, "%s: enters # SKIP no namespaces of its own here", who);
		return;
	}
	if (!ok(aw_netns_start(pid, &netns, &err) == 0, "%s: enters (%s)", who,
		    err.text))
		return;
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ok(speaks(netns, "127.0.0.1", 8080), "%s: its loopback works", who);
	ok(speaks(netns, "192.0.2.53", 53),
		"%s: another address is added, at a low port", who);
	ok(speaks(netns, "192.0.2.53", 53), "%s: and there once more", who);
	ok(speaks_ipv6(netns), "%s: one of IPv6, too", who);
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	ok(bind(fd, (void *)&foreign, sizeof(foreign)) < 0, "%s: not here", who);
	close(fd);
	ok(knows_its_own(netns), "%s: its sockets are told from others", who);
	ok(aw_netns_socket(netns, AF_INET, 99, 0, NULL, 0) == -EINVAL,
		"%s: a kind that there is not is refused", who);
	ok(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD,
		"%s: who waits for children does not see it", who);
	aw_netns_stop(netns);
	ok(waitpid(-1, NULL, __WALL | WNOHANG) < 0 && errno == ECHILD, "%s: it ends",
		who);
}

static void cannot_be_entered(void)
{
	struct aw_netns *netns = NULL;
	struct aw_error err = {.text = ""};
	int failed = aw_netns_start(1, &netns, &err);

	ok(failed < 0 && err.code && err.text[0] && !netns,
		"somebody else's is refused (%s)", err.text);
}

/* As an ordinary user, who has to have a user namespace to have a network. */
static void as_user(void)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (setresgid(65534, 65534, 65534) < 0 ||
			setresuid(65534, 65534, 65534) < 0)
			_exit(1);
		prctl(PR_SET_DUMPABLE, 1); /* as a program of its own would be */
		exercise("user", CLONE_NEWUSER | CLONE_NEWNET);
		cannot_be_entered();
		fflush(stdout);
		_exit((int)(tap_failures ? 0 : tap_count));
	}
	waitpid(pid, &status, 0);
	tap_count = WIFEXITED(status) ? (unsigned)WEXITSTATUS(status) : 0;
	tap_failures += !tap_count;
}

int main(void)
{
	if (geteuid() == 0) {
		as_user();
		exercise("root", CLONE_NEWNET);
	}
	exercise("own users", CLONE_NEWUSER | CLONE_NEWNET);
	return done();
}
