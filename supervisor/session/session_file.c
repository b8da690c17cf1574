/* SPDX-License-Identifier: Apache-2.0 */
/* session_file.c - session.json: written whole, read with suspicion. */
#include "policy/array.h"
#include "supervisor/session/session.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "supervisor/util/cleanup.h"
#include "supervisor/util/json.h"

enum { FILE_MAX = 4 * 1024 * 1024 };

/* The texts of session.json; one row serves writing and reading. */
static const struct {
	const char *key;
	size_t offset;
} texts[] = {
	{"control", offsetof(struct aw_session, control)},
	{"boot", offsetof(struct aw_session, boot)},
	{"started", offsetof(struct aw_session, started)},
	{"ended", offsetof(struct aw_session, ended)},
	{"mode", offsetof(struct aw_session, mode)},
	{"engine", offsetof(struct aw_session, engine)},
	{"runner", offsetof(struct aw_session, runner)},
	{"workspace", offsetof(struct aw_session, workspace)},
	{"log", offsetof(struct aw_session, log)},
	{"proxy", offsetof(struct aw_session, proxy)},
	{"forward", offsetof(struct aw_session, forward)},
};

static char **text_field(const struct aw_session *session, size_t row)
{
	return (char **)((char *)session + texts[row].offset);
}

static void put_text(struct aw_json *json, const char *text)
{
	aw_json_string(json, text, strlen(text));
}

static void put_argv(struct aw_json *json, char **argv)
{
	AW_JSON_LITERAL(json, ",\"argv\":[");
	for (char **arg = argv; *arg; arg++) {
		if (arg != argv)
			AW_JSON_LITERAL(json, ",");
		put_text(json, *arg);
	}
	AW_JSON_LITERAL(json, "]");
}

char *aw_session_json(const struct aw_session *session)
{
	struct aw_json json = {0};

	AW_JSON_LITERAL(&json, "{\"v\":1,\"id\":");
	put_text(&json, session->id);
	AW_JSON_LITERAL(&json, ",\"pid\":");
	aw_json_signed(&json, session->pid);
	AW_JSON_LITERAL(&json, ",\"start_ticks\":");
	aw_json_unsigned(&json, session->start_ticks);
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const char *text = *text_field(session, i);

		if (!text)
			continue;
		AW_JSON_LITERAL(&json, ",");
		put_text(&json, texts[i].key);
		AW_JSON_LITERAL(&json, ":");
		put_text(&json, text);
	}
	if (session->argv)
		put_argv(&json, session->argv);
	if (session->status >= 0) {
		AW_JSON_LITERAL(&json, ",\"status\":");
		aw_json_signed(&json, session->status);
	}
	AW_JSON_LITERAL(&json, "}");
	aw_json_raw(&json, "", 1);
	if (json.failed) {
		aw_json_free(&json);
		return NULL;
	}
	return json.bytes;
}

static int write_all(int fd, const char *bytes, size_t len)
{
	while (len > 0) {
		ssize_t n = write(fd, bytes, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		bytes += n;
		len -= (size_t)n;
	}
	return 0;
}

int aw_session_save(const struct aw_session *session, struct aw_error *err)
{
	AW_FREE char *path = aw_session_path(session, "session.json");
	AW_FREE char *temporary = aw_session_path(session, ".session.json.new");
	AW_FREE char *text = aw_session_json(session);
	AW_CLOSE int fd = -1;

	if (!path || !temporary || !text)
		return aw_fail(
			err, ENOMEM, "saving session '%s': out of memory", session->id);
	unlink(temporary);
	fd = open(
		temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return aw_fail(err, errno, "making %s: %s", temporary, strerror(errno));
	if (write_all(fd, text, strlen(text)) < 0 || write_all(fd, "\n", 1) < 0 ||
		rename(temporary, path) < 0) {
		aw_fail(err, errno, "writing %s: %s", path, strerror(errno));
		unlink(temporary);
		return -1;
	}
	return 0;
}

static char *copy_text(const cJSON *item)
{
	char *copy = cJSON_IsString(item) ? strdup(item->valuestring) : NULL;

	if (copy)
		aw_text_decode(copy, strlen(copy));
	return copy;
}

static char **copy_argv(const cJSON *array)
{
	int count = cJSON_GetArraySize(array);
	char **argv = calloc((size_t)count + 1, sizeof(*argv));
	const cJSON *item;
	size_t i = 0;

	cJSON_ArrayForEach(item, array)
	{
		if (argv && (argv[i] = copy_text(item)))
			i++;
	}
	return argv;
}

static int take_fields(struct aw_session *session, const cJSON *root)
{
	const cJSON *pid = cJSON_GetObjectItemCaseSensitive(root, "pid");
	const cJSON *ticks = cJSON_GetObjectItemCaseSensitive(root, "start_ticks");
	const cJSON *status = cJSON_GetObjectItemCaseSensitive(root, "status");
	const cJSON *argv = cJSON_GetObjectItemCaseSensitive(root, "argv");

	if (!cJSON_IsNumber(pid) || !cJSON_IsNumber(ticks) || ticks->valuedouble < 0)
		return -1;
	session->pid = pid->valueint;
	session->start_ticks = (uint64_t)ticks->valuedouble;
	session->status = cJSON_IsNumber(status) ? status->valueint : -1;
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		*text_field(session, i) =
			copy_text(cJSON_GetObjectItemCaseSensitive(root, texts[i].key));
	if (cJSON_IsArray(argv))
		session->argv = copy_argv(argv);
	return session->started && session->log ? 0 : -1;
}

/* The file's text, terminated, owned by the caller. */
static char *read_file(const char *path, struct aw_error *err)
{
	AW_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	AW_FREE char *text = NULL;
	struct stat st;
	size_t len = 0;
	ssize_t n = 1;

	if (fd < 0 || fstat(fd, &st) < 0) {
		aw_fail(err, errno, "%s: %s", path, strerror(errno));
		return NULL;
	}
	if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX ||
		!(text = malloc((size_t)st.st_size + 1))) {
		aw_fail(err, EFBIG, "%s is not a session file", path);
		return NULL;
	}
	while (n > 0 && len < (size_t)st.st_size) {
		n = read(fd, text + len, (size_t)st.st_size - len);
		if (n > 0)
			len += (size_t)n;
	}
	if (n < 0) {
		aw_fail(err, errno, "%s: %s", path, strerror(errno));
		return NULL;
	}
	text[len] = 0;
	return aw_take_ptr(&text);
}

int aw_session_read(const char *dir, struct aw_session **ret, struct aw_error *err)
{
	AW_FREE char *path = NULL;
	AW_FREE char *text = NULL;
	struct aw_session *session;
	const char *name = strrchr(dir, '/');
	cJSON *root;
	int r;

	if (asprintf(&path, "%s/session.json", dir) < 0)
		return aw_fail(err, ENOMEM, "out of memory");
	text = read_file(path, err);
	if (!text)
		return -1;
	session = calloc(1, sizeof(*session));
	if (!session)
		return aw_fail(err, ENOMEM, "out of memory");
	session->id = strdup(name ? name + 1 : dir);
	session->dir = strdup(dir);
	root = cJSON_Parse(text);
	r = root ? take_fields(session, root) : -1;
	cJSON_Delete(root);
	if (r < 0 || !session->id || !session->dir) {
		aw_session_free(session);
		return aw_fail(err, EBADMSG,
			"%s is damaged; the session can be removed with its directory",
			path);
	}
	*ret = session;
	return 0;
}
