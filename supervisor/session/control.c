/* SPDX-License-Identifier: Apache-2.0 */
/* control.c - the server's half of the control socket. */
#include "supervisor/session/control.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/util/cleanup.h"
#include "supervisor/util/json.h"

enum {
	CLIENTS_MAX = 16,
	LINE_MAX_BYTES = 4096,
	TEXT_MAX_BYTES = 64 * 1024,
	PATIENCE_MS = 2000
};

struct client {
	int fd;		   /* owned; -1: free place */
	uint64_t deadline; /* CLOCK_MONOTONIC, ms */
	size_t len;
	char *line; /* of LINE_MAX_BYTES; owned */
};

struct aw_control {
	int epoll, listener, timer; /* owned */
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	struct client clients[CLIENTS_MAX];
};

/* What an epoll event is about: a client's index, or one of these. */
enum { LISTENER = CLIENTS_MAX, TIMER };

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int watch(struct aw_control *control, int fd, uint32_t what)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u32 = what};

	return epoll_ctl(control->epoll, EPOLL_CTL_ADD, fd, &event);
}

/* The timer ticks only while somebody is waited for. */
static void set_timer(struct aw_control *control)
{
	struct itimerspec when = {0};
	bool busy = false;

	for (int i = 0; i < CLIENTS_MAX; i++)
		busy = busy || control->clients[i].fd >= 0;
	if (busy)
		when.it_value.tv_nsec = when.it_interval.tv_nsec = 250 * 1000000;
	timerfd_settime(control->timer, 0, &when, NULL);
}

static void drop(struct aw_control *control, struct client *client)
{
	close(client->fd);
	client->fd = -1;
	free(client->line);
	client->line = NULL;
	set_timer(control);
}

/* True when nobody answers at path any more, so that it may be replaced. */
static bool is_stale(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	AW_CLOSE int fd =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct stat st;

	if (fd < 0 || lstat(path, &st) < 0 || !S_ISSOCK(st.st_mode))
		return false;
	strcpy(address.sun_path, path); /* the caller has measured it */
	return connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 &&
	       errno == ECONNREFUSED;
}

static int listen_at(struct aw_control *control, const char *path, struct aw_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	const struct sockaddr *where = (struct sockaddr *)&address;

	if (strlen(path) >= sizeof(address.sun_path))
		return aw_fail(err, ENAMETOOLONG, "%s is too long for a socket", path);
	strcpy(address.sun_path, path);
	control->listener =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (control->listener < 0)
		return aw_fail(err, errno, "making a socket: %s", strerror(errno));
	/* Before bind, the mode of the socket's own inode is that of the file to be. */
	fchmod(control->listener, 0600);
	if (bind(control->listener, where, sizeof(address)) < 0) {
		if (errno != EADDRINUSE)
			return aw_fail(err, errno, "%s: %s", path, strerror(errno));
		if (!is_stale(path))
			return aw_fail(err, EADDRINUSE, "%s is in use", path);
		unlink(path);
		if (bind(control->listener, where, sizeof(address)) < 0)
			return aw_fail(err, errno, "%s: %s", path, strerror(errno));
	}
	strcpy(control->path, path);
	if (listen(control->listener, CLIENTS_MAX) < 0)
		return aw_fail(err, errno, "%s: %s", path, strerror(errno));
	return 0;
}

int aw_control_open(const char *path, struct aw_control **ret, struct aw_error *err)
{
	struct aw_control *control = calloc(1, sizeof(*control));

	if (!control)
		return aw_fail(err, ENOMEM, "the control socket: out of memory");
	for (int i = 0; i < CLIENTS_MAX; i++)
		control->clients[i].fd = -1;
	control->listener = -1;
	control->epoll = epoll_create1(EPOLL_CLOEXEC);
	control->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (control->epoll < 0 || control->timer < 0)
		aw_fail(err, errno, "%s", strerror(errno));
	else if (!listen_at(control, path, err)) {
		if (!watch(control, control->listener, LISTENER) &&
			!watch(control, control->timer, TIMER)) {
			*ret = control;
			return 0;
		}
		aw_fail(err, errno, "%s", strerror(errno));
	}
	aw_control_close(control);
	return aw_while(err, "the control socket");
}

int aw_control_fd(const struct aw_control *control)
{
	return control->epoll;
}

static void reply(int fd, bool ok, const char *text)
{
	struct aw_json json = {0};

	if (ok)
		AW_JSON_LITERAL(&json, "{\"ok\":true,\"text\":");
	else
		AW_JSON_LITERAL(&json, "{\"ok\":false,\"text\":");
	aw_json_string(&json, text, strlen(text));
	AW_JSON_LITERAL(&json, "}\n");
	/* A fresh socket's buffer holds a reply; a client that is gone misses it. */
	if (!json.failed &&
		send(fd, json.bytes, json.len, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		json.failed = true;
	aw_json_free(&json);
}

static void take_client(struct aw_control *control)
{
	AW_CLOSE int fd =
		accept4(control->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (fd < 0 || getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		return;
	if (peer.uid != geteuid() && peer.uid != 0) {
		reply(fd, false, "this session belongs to another user");
		return;
	}
	for (uint32_t i = 0; i < CLIENTS_MAX; i++) {
		struct client *client = &control->clients[i];

		if (client->fd >= 0)
			continue;
		client->line = malloc(LINE_MAX_BYTES);
		if (!client->line || watch(control, fd, i) < 0) {
			free(client->line);
			client->line = NULL;
			return;
		}
		client->fd = aw_take_fd(&fd);
		client->len = 0;
		client->deadline = now_ms() + PATIENCE_MS;
		set_timer(control);
		return;
	}
	reply(fd, false, "too many requests at once; try again");
}

static void answer(int fd, const char *line, aw_control_handler handler, void *ctx)
{
	static char text[TEXT_MAX_BYTES]; /* the loop's thread alone */
	cJSON *root = cJSON_Parse(line);
	const cJSON *name = cJSON_GetObjectItemCaseSensitive(root, "request");
	struct aw_control_request request = {.body = root, .socket = fd};
	struct ucred peer = {.pid = 0};
	socklen_t size = sizeof(peer);
	int r = -1;

	text[0] = '\0';
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0)
		snprintf(text, sizeof(text), "nobody is known to have asked");
	else if (cJSON_IsString(name)) {
		request.name = name->valuestring;
		request.pid = peer.pid;
		request.uid = peer.uid;
		r = handler(ctx, &request, text, sizeof(text));
	} else
		snprintf(text, sizeof(text),
			"a request is a line like {\"request\":\"status\"}");
	reply(fd, !r, text);
	cJSON_Delete(root);
}

/* Read on; true when the request was whole and is answered. */
static bool serve(struct aw_control *control, struct client *client,
	aw_control_handler handler, void *ctx)
{
	ssize_t n = recv(client->fd, client->line + client->len,
		LINE_MAX_BYTES - 1 - client->len, MSG_DONTWAIT);
	char *end;

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	if (n <= 0) {
		drop(control, client);
		return false;
	}
	client->len += (size_t)n;
	client->line[client->len] = 0;
	end = memchr(client->line, '\n', client->len);
	if (end) {
		*end = 0;
		answer(client->fd, client->line, handler, ctx);
		drop(control, client);
		return true;
	}
	if (client->len == LINE_MAX_BYTES - 1) {
		reply(client->fd, false, "the request is too long");
		drop(control, client);
	}
	return false;
}

static void drop_late(struct aw_control *control)
{
	uint64_t ticks, now = now_ms();

	if (read(control->timer, &ticks, sizeof(ticks)) < 0)
		return;
	for (int i = 0; i < CLIENTS_MAX; i++) {
		struct client *client = &control->clients[i];

		if (client->fd >= 0 && client->deadline <= now)
			drop(control, client);
	}
}

int aw_control_accept_one(
	struct aw_control *control, aw_control_handler handler, void *ctx)
{
	struct epoll_event events[CLIENTS_MAX + 2];
	int count = epoll_wait(control->epoll, events, CLIENTS_MAX + 2, 0),
	    answered = 0;

	for (int i = 0; i < count; i++) {
		uint32_t what = events[i].data.u32;

		if (what == LISTENER)
			take_client(control);
		else if (what == TIMER)
			drop_late(control);
		else if (control->clients[what].fd >= 0)
			answered +=
				serve(control, &control->clients[what], handler, ctx);
	}
	return answered;
}

void aw_control_close(struct aw_control *control)
{
	if (!control)
		return;
	for (int i = 0; i < CLIENTS_MAX; i++)
		if (control->clients[i].fd >= 0)
			drop(control, &control->clients[i]);
	if (control->path[0])
		unlink(control->path);
	if (control->listener >= 0)
		close(control->listener);
	if (control->timer >= 0)
		close(control->timer);
	if (control->epoll >= 0)
		close(control->epoll);
	free(control);
}
