/* SPDX-License-Identifier: Apache-2.0 */
/*
 * control.h - the socket by which other commands talk to a running session.
 *
 * One connection, one request line {"request":"status"}, one reply line
 * {"ok":true,"text":"..."}; a request may have more members.  Only the same user and
 * root are heard.  The server never
 * waits for a client: slow ones are kept aside and dropped after two seconds.
 */
#ifndef AW_SUPERVISOR_SESSION_CONTROL_H
#define AW_SUPERVISOR_SESSION_CONTROL_H

#include <stddef.h>
#include <sys/types.h>

#include "policy/error.h"

struct aw_control;
struct cJSON;

struct aw_control_request {
	const char *name;	  /* "reload", "stop", "status", or something unknown */
	const struct cJSON *body; /* the whole line */
	pid_t pid;		  /* who asks, as the kernel says; 0: not to be seen */
	uid_t uid;
	int socket; /* to who asks */
};

/*
 * Carry the request out and put one sentence, or what was asked for, into text.  0:
 * done; -1: refused or failed, the text says why.
 */
typedef int (*aw_control_handler)(
	void *ctx, const struct aw_control_request *request, char *text, size_t size);

/* Listen at path; a socket that a dead session left there is replaced. */
int aw_control_open(const char *path, struct aw_control **ret, struct aw_error *err);

/* Becomes readable when aw_control_accept_one() has something to do. */
int aw_control_fd(const struct aw_control *control);

/* Do what can be done without waiting; returns the number of requests answered. */
int aw_control_accept_one(
	struct aw_control *control, aw_control_handler handler, void *ctx);

/* Drop clients, close and remove the socket; NULL is fine. */
void aw_control_close(struct aw_control *control);

/*
 * Client: send request to the session whose socket is at path.  0 with its sentence in
 * *ret_text (owned by the caller), or -1: not reached, no answer in two seconds,
 * refused.
 */
int aw_control_request(
	const char *path, const char *request, char **ret_text, struct aw_error *err);

/* The same with a whole line of JSON, its end of line included. */
int aw_control_request_line(const char *path, const char *line, size_t len,
	char **ret_text, struct aw_error *err);

#endif
