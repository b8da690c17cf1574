/* SPDX-License-Identifier: Apache-2.0 */
/* test_session.c - the life of a session, and its control socket. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/linux/start_time.h"
#include "supervisor/session/control.h"
#include "supervisor/session/folders.h"
#include "supervisor/session/session.h"
#include "supervisor/util/cleanup.h"
#include "tests/unit/tap.h"

static char root[] = "/tmp/aw-test-session.XXXXXX";
static struct aw_error err;

static void set(const char *name, const char *folder)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", root, folder);
	mkdir(path, 0700);
	setenv(name, path, 1);
}

static void write_file(const char *path, const char *text)
{
	AW_FCLOSE FILE *out = fopen(path, "we");

	if (out)
		fputs(text, out);
}

static void a_session_is_made_and_found(void)
{
	const char *argv[] = {"sh", "-c", "exit \xff\n", NULL};
	const struct aw_session_about about = {
		.argv = argv, .mode = "audit", .engine = "hybrid", .runner = "exec"};
	struct aw_session *s = NULL, *found = NULL;
	struct stat st;

	ok(aw_session_find(NULL, &found, &err) < 0, "at first there is none: %s",
		err.text);
	if (!ok(!aw_session_create(NULL, &s, &err), "a session is made"))
		exit(done());
	ok(strlen(s->id) == 20, "with a name of its own: %s", s->id);
	ok(!stat(s->dir, &st) && (st.st_mode & 0777) == 0700, "its folder is private");
	ok(aw_session_find(NULL, &found, &err) < 0, "nobody sees it yet");
	ok(!aw_session_describe(s, &about, &err) && !aw_session_save(s, &err),
		"it is described");
	ok(!aw_session_find(NULL, &found, &err) && !strcmp(found->id, s->id),
		"the latest is found");
	ok(found->pid == getpid() && aw_session_alive(found), "it is alive");
	ok(!strcmp(found->argv[2], argv[2]) && !found->argv[3] &&
			!strcmp(found->engine, "hybrid") && !strcmp(found->log, s->log),
		"what was written is read again, bytes that are not UTF-8 too");
	aw_session_free(found);
	ok(!aw_session_find("20", &found, &err), "the start of a name is enough");
	aw_session_free(found);
	ok(!aw_session_finish(s, 3, &err) && !aw_session_alive(s), "it ends");
	ok(!aw_session_find(s->id, &found, &err) && found->status == 3 && found->ended,
		"and is remembered with its status");
	aw_session_free(found);
	aw_session_free(s);
}

static void names(void)
{
	static const char *const bad[] = {"", "..", ".x", "a/b", "a b", "-x", "a\nb"};
	struct aw_session *first = NULL, *second = NULL, *found;
	char name[80];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		ok(aw_session_create(bad[i], &second, &err) < 0 && err.code == EINVAL,
			"name %zu of the bad ones is refused", i + 1);
	memset(name, 'n', sizeof(name));
	name[65] = 0;
	ok(aw_session_create(name, &second, &err) < 0, "so is one of 65 letters");
	ok(!aw_session_create("ci.build-1", &first, &err) &&
			!aw_session_save(first, &err),
		"a good one is taken");
	ok(aw_session_create("ci.build-1", &second, &err) < 0 && err.code == EBUSY,
		"not while it runs: %s", err.text);
	aw_session_finish(first, 0, &err);
	ok(aw_session_create("ci.build-1", &second, &err) < 0 && err.code == EEXIST,
		"nor afterwards: %s", err.text);
	ok(!aw_session_create("ci.build-2", &second, &err) &&
			!aw_session_save(second, &err),
		"another name is fine");
	ok(aw_session_find("ci.build", &found, &err) < 0 &&
			strstr(err.text, "ci.build-1, ci.build-2"),
		"half a name that fits two is refused: %s", err.text);
	ok(aw_session_find("ci.build-9", &found, &err) < 0 &&
			strstr(err.text, "did you mean 'ci.build-"),
		"a slip is named with what was meant: %s", err.text);
	ok(aw_session_find("../x", &found, &err) < 0, "a path is no name");
	aw_session_discard(second);
	ok(aw_session_find("ci.build-2", &found, &err) < 0 &&
			!aw_session_create("ci.build-2", &found, &err),
		"what is discarded leaves nothing, not even its name");
	aw_session_free(first);
	aw_session_free(second);
	aw_session_free(found);
}

static void a_reused_pid_is_not_alive(void)
{
	struct aw_session *s = NULL;
	pid_t child = fork();

	if (!child) {
		if (aw_session_create("orphan", &s, &err) < 0 ||
			aw_session_save(s, &err) < 0)
			_exit(1);
		_exit(0);
	}
	waitid(P_PID, (id_t)child, NULL, WEXITED | WNOWAIT);
	ok(!aw_session_find("orphan", &s, &err) && !aw_session_alive(s),
		"a supervisor that is a zombie is not alive");
	waitpid(child, NULL, 0);
	ok(!aw_session_alive(s), "nor one that is gone");
	s->pid = getpid();
	ok(!aw_process_start(s->pid, &s->start_ticks) && aw_session_alive(s),
		"one that runs is");
	s->start_ticks--;
	ok(!aw_session_alive(s), "but not another process with its number");
	aw_session_free(s);
}

static void damage(void)
{
	struct aw_session_list list = {0};
	struct aw_session *s = NULL;
	char path[1024];
	size_t before;

	aw_session_list(&list, &err);
	before = list.count;
	aw_session_list_free(&list);
	snprintf(path, sizeof(path), "%s/state/agentwatch/sessions/broken", root);
	mkdir(path, 0700);
	ok(aw_session_create("broken", &s, &err) < 0 && err.code == EEXIST,
		"a folder without a file is not taken over: %s", err.text);
	strcat(path, "/session.json");
	write_file(path, "{\"pid\":1,");
	ok(!aw_session_list(&list, &err) && list.count == before,
		"a damaged session is passed over");
	aw_session_list_free(&list);
}

static void folders(void)
{
	struct aw_session *s = NULL;
	char path[1024], *folder = NULL;

	snprintf(path, sizeof(path), "%s/file", root);
	write_file(path, "");
	setenv("XDG_STATE_HOME", path, 1);
	ok(aw_session_create(NULL, &s, &err) < 0, "a state folder that is a file: %s",
		err.text);
	setenv("XDG_STATE_HOME", "/proc/no-such", 1);
	ok(aw_session_create(NULL, &s, &err) < 0, "one that cannot be made: %s",
		err.text);
	set("XDG_STATE_HOME", "state");

	unsetenv("XDG_RUNTIME_DIR");
	set("TMPDIR", "tmp");
	ok(!aw_runtime_directory(&folder, &err) && strstr(folder, "/tmp/agentwatch-"),
		"without a runtime folder there is a private one");
	chmod(folder, 0755);
	free(folder);
	ok(aw_runtime_directory(&folder, &err) < 0, "open to others it is refused: %s",
		err.text);
	snprintf(path, sizeof(path), "%s/tmp/agentwatch-%u", root, (unsigned)geteuid());
	rmdir(path);
	if (symlink("/tmp", path) < 0)
		note("symlink: %s", strerror(errno));
	ok(aw_runtime_directory(&folder, &err) < 0, "a symbolic link is refused: %s",
		err.text);
	unlink(path);

	memset(path, 'd', 120);
	path[120] = 0;
	set("TMPDIR", path);
	ok(aw_session_create("long", &s, &err) < 0 && err.code == ENAMETOOLONG,
		"a socket's path that is too long: %s", err.text);
	ok(aw_session_find("long", &s, &err) < 0,
		"and nothing is left of that session");
	set("XDG_RUNTIME_DIR", "run");
}

static int answer(
	void *ctx, const struct aw_control_request *request, char *text, size_t size)
{
	++*(int *)ctx;
	if (request->uid != geteuid() || strcmp(request->name, "status") != 0) {
		snprintf(text, size, "cannot %s", request->name);
		return -1;
	}
	snprintf(text, size, "all is \"well\"\n");
	return 0;
}

/* Serve until a request was answered, at most ms. */
static void serve(struct aw_control *control, int *count, int ms)
{
	struct pollfd ready = {.fd = aw_control_fd(control), .events = POLLIN};

	for (int i = 0; i < ms / 50 && !*count; i++)
		if (poll(&ready, 1, 50) > 0)
			aw_control_accept_one(control, answer, count);
}

/* Run a client in a child; its exit status says whether it heard what it should. */
static bool client_hears(struct aw_control *control, const char *path,
	const char *request, int expected, const char *sentence)
{
	struct aw_error got = {0};
	int count = 0, status;
	char *text = NULL;
	pid_t child = fork();

	if (!child) {
		int r = aw_control_request(path, request, &text, &got);
		const char *heard = r < 0 ? got.text : text;

		_exit(r == expected && !strcmp(heard, sentence) ? 0 : 1);
	}
	serve(control, &count, 3000);
	waitpid(child, &status, 0);
	return count == 1 && status == 0;
}

static int raw_client(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	strcpy(address.sun_path, path);
	if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		note("connect: %s", strerror(errno));
	return fd;
}

static void the_control_socket(void)
{
	struct aw_control *control = NULL, *other = NULL;
	char path[256], big[5000], reply[256] = "";
	int fds[40], silent, count = 0, crowd = 0;
	struct stat st;

	snprintf(path, sizeof(path), "%s/run/x.control", root);
	ok(aw_control_request(path, "status", &(char *){NULL}, &err) < 0,
		"nobody there: %s", err.text);
	ok(!aw_control_open(path, &control, &err), "the socket is made");
	ok(!stat(path, &st) && (st.st_mode & 077) == 0, "for the user alone");
	ok(aw_control_open(path, &other, &err) < 0 && err.code == EADDRINUSE,
		"two cannot have it: %s", err.text);
	ok(client_hears(control, path, "status", 0, "all is \"well\"\n"),
		"a reply comes back");
	ok(client_hears(control, path, "dance", -1, "cannot dance"),
		"so does a refusal");

	silent = raw_client(path);
	count = 0;
	ok(client_hears(control, path, "status", 0, "all is \"well\"\n"),
		"a silent client is in nobody's way");
	serve(control, &count, 2700);
	ok(recv(silent, reply, 1, MSG_DONTWAIT) == 0,
		"and is dropped after two seconds");
	close(silent);

	silent = raw_client(path);
	memset(big, 'x', sizeof(big));
	if (send(silent, big, sizeof(big), MSG_NOSIGNAL) < 0)
		note("send: %s", strerror(errno));
	serve(control, &count, 200);
	ok(recv(silent, reply, sizeof(reply) - 1, MSG_DONTWAIT) > 0 &&
			strstr(reply, "too long"),
		"an endless request is refused");
	close(silent);

	for (; crowd < 15; crowd++) {
		fds[crowd] = raw_client(path);
		serve(control, &count, 50);
	}
	ok(client_hears(control, path, "status", 0, "all is \"well\"\n"),
		"a crowd is served");
	while (crowd > 0)
		close(fds[--crowd]);

	aw_control_close(control);
	ok(stat(path, &st) < 0, "the socket is removed");
	aw_control_close(NULL);
}

static void a_dead_session_leaves_its_socket(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct aw_control *control = NULL;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/run/dead.control",
		root);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0)
		note("bind: %s", strerror(errno));
	close(fd);
	ok(!aw_control_open(address.sun_path, &control, &err),
		"a socket that a dead session left is replaced");
	aw_control_close(control);
}

int main(void)
{
	char command[64];

	if (!mkdtemp(root))
		return 1;
	set("XDG_STATE_HOME", "state");
	set("XDG_RUNTIME_DIR", "run");
	a_session_is_made_and_found();
	names();
	a_reused_pid_is_not_alive();
	damage();
	folders();
	the_control_socket();
	a_dead_session_leaves_its_socket();
	snprintf(command, sizeof(command), "rm -rf %s", root);
	if (system(command))
		note("%s is left", root);
	return done();
}
