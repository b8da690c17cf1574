/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.h - one run of a command under watch, as it is remembered on disk.
 *
 * A session is a directory $XDG_STATE_HOME/agentwatch/sessions/ID (0700) with
 * session.json, events.jsonl and policy.txt in it.  Its sockets are in the runtime
 * directory.  Other processes read session.json at any time: it is replaced as a whole,
 * never rewritten.
 */
#ifndef AW_SUPERVISOR_SESSION_SESSION_H
#define AW_SUPERVISOR_SESSION_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/error.h"

/* All strings owned; NULL where not known. */
struct aw_session {
	char *id;
	char *dir;	      /* absolute */
	char *control;	      /* path of the control socket */
	pid_t pid;	      /* of the supervisor */
	uint64_t start_ticks; /* of that pid, so that a later one is not taken for it */
	char *boot;	      /* boot that the ticks belong to */
	char *started, *ended; /* RFC 3339, UTC; ended is NULL while it runs */
	char **argv;	       /* NULL at the end; NULL when not known */
	char *mode, *engine, *runner, *workspace;
	char *log;     /* path, "-" or "none" */
	char *proxy;   /* where ours listens inside */
	char *forward; /* "127.0.0.1:8080 to 3000, ...": ports outside to ports inside
			*/
	int status;    /* exit status as `run` gives it; -1 while it runs */
};

/* What a session is about; strings borrowed, NULL leaves a field as it is. */
struct aw_session_about {
	const char *const *argv;
	const char *mode, *engine, *runner, *workspace, *log, *proxy, *forward;
};

struct aw_session_list {
	struct aw_session **items; /* owned, oldest first */
	size_t count;
};

/*
 * Make the directory of a session of this process, which nobody sees before the first
 * save. name is NULL for a name of its own like 20261121-215501-x7q2; a name that is in
 * use or was used is refused.
 */
int aw_session_create(const char *name, struct aw_session **ret, struct aw_error *err);

/* Fill fields in (copies); takes effect on disk with the next save. */
int aw_session_describe(struct aw_session *session,
	const struct aw_session_about *about, struct aw_error *err);

/* Replace session.json. */
int aw_session_save(const struct aw_session *session, struct aw_error *err);

/* The process that stood for the session is gone, and this one does from now on. */
int aw_session_adopt(struct aw_session *session, struct aw_error *err);

/* Note the end and the exit status, and save. */
int aw_session_finish(struct aw_session *session, int status, struct aw_error *err);

/* Remove what a start has made that failed and cannot even be noted. */
void aw_session_discard(const struct aw_session *session);

/* By id, by the unique start of one, or the latest started (NULL). */
int aw_session_find(const char *id, struct aw_session **ret, struct aw_error *err);

/* All sessions that can be read.  No state directory at all is an empty list. */
int aw_session_list(struct aw_session_list *ret, struct aw_error *err);
void aw_session_list_free(struct aw_session_list *list);

/* Read session.json in dir. */
int aw_session_read(const char *dir, struct aw_session **ret, struct aw_error *err);

/* True while its supervisor runs. */
bool aw_session_alive(const struct aw_session *session);

/* DIR/file, owned by the caller; NULL when out of memory. */
char *aw_session_path(const struct aw_session *session, const char *file);

/* session.json as it is on disk, one line, owned by the caller; extra members at its
 * end. */
char *aw_session_json(const struct aw_session *session);

/* NULL is fine. */
void aw_session_free(struct aw_session *session);

#endif
