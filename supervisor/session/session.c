/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - making, describing and ending a session. */
#include "supervisor/session/session.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "policy/array.h"
#include "supervisor/linux/start_time.h"
#include "supervisor/session/folders.h"
#include "supervisor/util/cleanup.h"

enum { NAME_LONGEST = 64, TRIES = 20 };

void aw_session_free(struct aw_session *session)
{
	if (!session)
		return;
	for (char **arg = session->argv; arg && *arg; arg++)
		free(*arg);
	free(session->argv);
	free(session->id);
	free(session->dir);
	free(session->control);
	free(session->boot);
	free(session->started);
	free(session->ended);
	free(session->mode);
	free(session->engine);
	free(session->runner);
	free(session->workspace);
	free(session->log);
	free(session->proxy);
	free(session->forward);
	free(session);
}

static int no_memory(struct aw_error *err)
{
	return aw_fail(err, ENOMEM, "out of memory");
}

static int check_name(const char *name, struct aw_error *err)
{
	size_t len = strlen(name);
	bool good = isalnum((unsigned char)name[0]) && len <= NAME_LONGEST;

	for (size_t i = 0; good && i < len; i++)
		good = isalnum((unsigned char)name[i]) || strchr("._-", name[i]);
	if (good)
		return 0;
	return aw_fail(err, EINVAL,
		"session name '%s' is not usable: up to %d letters, digits, '.', '_' "
		"and '-', starting with a letter or digit",
		name, NAME_LONGEST);
}

/* 20261121-215501-x7q2: sorts by time, and no two are alike in practice. */
static void make_name(char out[32])
{
	static const char letters[] = "abcdefghjkmnpqrstuvwxyz23456789x";
	unsigned char random[4];
	time_t now = time(NULL);
	struct tm tm;
	size_t n;

	gmtime_r(&now, &tm);
	n = strftime(out, 32, "%Y%m%d-%H%M%S-", &tm);
	if (getrandom(random, sizeof(random), 0) != (ssize_t)sizeof(random)) {
		unsigned fallback =
			(unsigned)getpid() * 2654435761u ^ (unsigned)clock();

		memcpy(random, &fallback, sizeof(random));
	}
	for (size_t i = 0; i < sizeof(random); i++)
		out[n + i] = letters[random[i] % 32];
	out[n + sizeof(random)] = 0;
}

static int refuse_used_name(const char *dir, const char *name, struct aw_error *err)
{
	struct aw_session *old = NULL;
	bool alive;

	if (aw_session_read(dir, &old, NULL) < 0)
		return aw_fail(err, EEXIST,
			"session '%s' exists already: choose another name, or remove %s",
			name, dir);
	alive = aw_session_alive(old);
	aw_session_free(old);
	if (alive)
		return aw_fail(err, EBUSY, "session '%s' is running already", name);
	return aw_fail(err, EEXIST,
		"session '%s' has ended and its log is kept: choose another name, or remove %s",
		name, dir);
}

static int make_folder(const char *name, const char *folder, struct aw_session *session,
	struct aw_error *err)
{
	char made[32];

	for (int i = 0; i < TRIES; i++) {
		AW_FREE char *dir = NULL;

		if (!name)
			make_name(made);
		if (asprintf(&dir, "%s/%s", folder, name ? name : made) < 0)
			return no_memory(err);
		if (!mkdir(dir, 0700)) {
			session->id = strdup(name ? name : made);
			session->dir = aw_take_ptr(&dir);
			return session->id ? 0 : no_memory(err);
		}
		if (errno != EEXIST)
			return aw_fail(err, errno,
				"making the session directory %s: %s; XDG_STATE_HOME "
				"names another place",
				dir, strerror(errno));
		if (name)
			return refuse_used_name(dir, name, err);
	}
	return aw_fail(err, EEXIST, "no free session name in %s", folder);
}

static int name_control(struct aw_session *session, struct aw_error *err)
{
	AW_FREE char *folder = NULL;

	if (aw_runtime_directory(&folder, err) < 0)
		return -1;
	if (asprintf(&session->control, "%s/%s.control", folder, session->id) < 0) {
		session->control = NULL;
		return no_memory(err);
	}
	if (strlen(session->control) < sizeof(((struct sockaddr_un *)0)->sun_path))
		return 0;
	return aw_fail(err, ENAMETOOLONG,
		"the path of the control socket is too long for a socket (%zu of at most %zu "
		"bytes): %s; set XDG_RUNTIME_DIR or TMPDIR to a shorter directory",
		strlen(session->control),
		sizeof(((struct sockaddr_un *)0)->sun_path) - 1, session->control);
}

static char *time_now(void)
{
	struct timespec now;
	struct tm tm;
	char text[32], *out = NULL;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
	return asprintf(&out, "%s.%03ldZ", text, now.tv_nsec / 1000000) < 0 ? NULL
									    : out;
}

static int fill(struct aw_session *session, struct aw_error *err)
{
	session->status = -1;
	session->pid = getpid();
	if (aw_process_start(session->pid, &session->start_ticks) < 0)
		return aw_fail(err, errno,
			"reading /proc/self/stat: %s (is /proc mounted?)",
			strerror(errno));
	session->boot = aw_boot_id();
	session->started = time_now();
	session->log = aw_session_path(session, "events.jsonl");
	return session->started && session->log ? 0 : no_memory(err);
}

int aw_session_create(const char *name, struct aw_session **ret, struct aw_error *err)
{
	AW_FREE char *folder = NULL;
	struct aw_session *session;

	if (name && check_name(name, err) < 0)
		return -1;
	if (aw_sessions_directory(true, &folder, err) < 0)
		return -1;
	session = calloc(1, sizeof(*session));
	if (!session)
		return no_memory(err);
	if (make_folder(name, folder, session, err) < 0) {
		aw_session_free(session);
		return -1;
	}
	if (name_control(session, err) < 0 || fill(session, err) < 0) {
		rmdir(session->dir);
		aw_session_free(session);
		return -1;
	}
	*ret = session;
	return 0;
}

static int set_text(char **field, const char *value)
{
	char *copy;

	if (!value)
		return 0;
	copy = strdup(value);
	if (!copy)
		return -1;
	free(*field);
	*field = copy;
	return 0;
}

static int set_argv(struct aw_session *session, const char *const *argv)
{
	size_t count = 0;
	char **copy;

	while (argv[count])
		count++;
	copy = calloc(count + 1, sizeof(*copy));
	for (char **arg = session->argv; arg && *arg; arg++)
		free(*arg);
	free(session->argv);
	session->argv = copy;
	for (size_t i = 0; copy && i < count; i++) {
		AW_FREE char *one = strdup(argv[i]);

		if (!one)
			return -1;
		copy[i] = aw_take_ptr(&one);
	}
	return copy ? 0 : -1;
}

int aw_session_describe(struct aw_session *session,
	const struct aw_session_about *about, struct aw_error *err)
{
	if ((about->argv && set_argv(session, about->argv) < 0) ||
		set_text(&session->mode, about->mode) < 0 ||
		set_text(&session->engine, about->engine) < 0 ||
		set_text(&session->runner, about->runner) < 0 ||
		set_text(&session->workspace, about->workspace) < 0 ||
		set_text(&session->log, about->log) < 0 ||
		set_text(&session->proxy, about->proxy) < 0 ||
		set_text(&session->forward, about->forward) < 0)
		return no_memory(err);
	return 0;
}

int aw_session_finish(struct aw_session *session, int status, struct aw_error *err)
{
	char *now = time_now();

	if (!now)
		return no_memory(err);
	free(session->ended);
	session->ended = now;
	session->status = status;
	return aw_session_save(session, err);
}

int aw_session_adopt(struct aw_session *session, struct aw_error *err)
{
	session->pid = getpid();
	if (aw_process_start(session->pid, &session->start_ticks) < 0)
		return aw_fail(
			err, errno, "looking at this process: %s", strerror(errno));
	return aw_session_save(session, err);
}

void aw_session_discard(const struct aw_session *session)
{
	static const char *const files[] = {
		"session.json", "plan.txt", "events.jsonl", "policy.txt"};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		AW_FREE char *path = aw_session_path(session, files[i]);

		if (path)
			unlink(path);
	}
	rmdir(session->dir);
}

bool aw_session_alive(const struct aw_session *session)
{
	AW_FREE char *boot = NULL;
	uint64_t ticks;

	if (session->ended || session->pid <= 0)
		return false;
	boot = aw_boot_id();
	if (boot && session->boot && strcmp(boot, session->boot))
		return false;
	return !aw_process_start(session->pid, &ticks) && ticks == session->start_ticks;
}

char *aw_session_path(const struct aw_session *session, const char *file)
{
	char *path;

	return asprintf(&path, "%s/%s", session->dir, file) < 0 ? NULL : path;
}
