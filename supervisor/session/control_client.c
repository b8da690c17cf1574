/* SPDX-License-Identifier: Apache-2.0 */
/* control_client.c - one request to a running session, and its answer. */
#include "supervisor/session/control.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/util/cleanup.h"
#include "supervisor/util/json.h"

enum { REPLY_MAX = 512 * 1024, PATIENCE_MS = 2000, RETRY_MS = 20 };

static long now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static int late(struct aw_error *err)
{
	return aw_fail(err, ETIMEDOUT, "the session does not answer");
}

static int reach(int fd, const char *path, long deadline, struct aw_error *err)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (strlen(path) >= sizeof(address.sun_path))
		return aw_fail(err, ENAMETOOLONG, "%s is too long for a socket", path);
	strcpy(address.sun_path, path);
	while (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
		/* EAGAIN: the queue of the listener is full, and poll cannot tell when
		 * not. */
		if (errno != EAGAIN && errno != EINTR)
			return aw_fail(err, errno, "%s: %s", path, strerror(errno));
		if (now_ms() >= deadline)
			return late(err);
		poll(NULL, 0, RETRY_MS);
	}
	return 0;
}

/* Read one line into reply, terminated. */
static int hear(int fd, char *reply, long deadline, struct aw_error *err)
{
	size_t len = 0;

	while (len < REPLY_MAX - 1) {
		struct pollfd ready = {.fd = fd, .events = POLLIN};
		long left = deadline - now_ms();
		ssize_t n;

		if (left <= 0 || poll(&ready, 1, (int)left) == 0)
			return late(err);
		n = recv(fd, reply + len, REPLY_MAX - 1 - len, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			continue;
		if (n < 0)
			return aw_fail(err, errno, "%s", strerror(errno));
		if (n == 0)
			break;
		len += (size_t)n;
		if (memchr(reply, '\n', len))
			break;
	}
	reply[len] = 0;
	return 0;
}

static int understand(const char *reply, char **ret_text, struct aw_error *err)
{
	cJSON *root = cJSON_Parse(reply);
	const cJSON *ok = cJSON_GetObjectItemCaseSensitive(root, "ok");
	const cJSON *text = cJSON_GetObjectItemCaseSensitive(root, "text");
	char *copy = NULL;
	int r = -1;

	if (cJSON_IsString(text) && (copy = strdup(text->valuestring)))
		aw_text_decode(copy, strlen(copy));
	if (!copy || !cJSON_IsBool(ok))
		aw_fail(err, EPROTO, "the session gave no answer that makes sense");
	else if (!cJSON_IsTrue(ok))
		aw_fail(err, EPERM, "%s", copy);
	else
		r = 0;
	cJSON_Delete(root);
	if (r < 0)
		free(copy);
	else
		*ret_text = copy;
	return r;
}

int aw_control_request_line(const char *path, const char *line, size_t len,
	char **ret_text, struct aw_error *err)
{
	AW_CLOSE int fd =
		socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	AW_FREE char *reply = malloc(REPLY_MAX);
	long deadline = now_ms() + PATIENCE_MS;
	int r = -1;

	if (fd < 0 || !reply)
		return aw_fail(err, errno, "%s", strerror(errno));
	if (!reach(fd, path, deadline, err)) {
		if (send(fd, line, len, MSG_NOSIGNAL) == (ssize_t)len)
			r = hear(fd, reply, deadline, err);
		else if (errno == EPIPE || errno == ECONNRESET)
			r = hear(fd, reply, deadline,
				err); /* refused before it was read */
		else
			aw_fail(err, errno, "%s", strerror(errno));
	}
	return r < 0 ? r : understand(reply, ret_text, err);
}

int aw_control_request(
	const char *path, const char *request, char **ret_text, struct aw_error *err)
{
	struct aw_json json = {0};
	int r;

	AW_JSON_LITERAL(&json, "{\"request\":");
	aw_json_string(&json, request, strlen(request));
	AW_JSON_LITERAL(&json, "}\n");
	r = json.failed ? aw_fail(err, ENOMEM, "out of memory")
			: aw_control_request_line(
				  path, json.bytes, json.len, ret_text, err);
	aw_json_free(&json);
	return r;
}
