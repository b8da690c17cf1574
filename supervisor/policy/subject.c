/* SPDX-License-Identifier: Apache-2.0 */
/* subject.c - what someone asks the policy about, and the answer. */
#include "supervisor/policy/subject.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/path.h"
#include "supervisor/cleanup.h"
#include "supervisor/find.h"

/* The real path of the deepest folder above path that is there, then the rest. */
static bool resolve(const char *path, char out[PATH_MAX])
{
	char above[PATH_MAX], real[PATH_MAX];
	const char *slash = strrchr(path, '/');

	while (slash && slash > path) {
		snprintf(above, sizeof(above), "%.*s", (int)(slash - path), path);
		if (realpath(above, real))
			return snprintf(out, PATH_MAX, "%s%s", real[1] ? real : "",
				       slash) < PATH_MAX;
		slash = memrchr(path, '/', (size_t)(slash - path));
	}
	return snprintf(out, PATH_MAX, "%s", path) < PATH_MAX;
}

/* An absolute path without "." and "..": as the policy would judge it. */
static int read_path(const char *asked, char out[PATH_MAX], struct aw_error *err)
{
	AW_FREE char *cwd = getcwd(NULL, 0);
	char clean[PATH_MAX];

	if (!asked[0])
		return aw_fail(err, EINVAL, "an empty path names nothing");
	if (realpath(asked, out))
		return 0;
	if (!cwd ||
		!aw_path_join(
			cwd, strlen(cwd), asked, strlen(asked), clean, sizeof(clean)) ||
		!resolve(clean, out))
		return aw_fail(err, ENAMETOOLONG, "'%s' is too long for a path", asked);
	return 0;
}

static int read_program(const char *asked, struct aw_subject *s, struct aw_error *err)
{
	AW_FREE char *found = NULL;
	char *at, *rest;

	snprintf(s->words, sizeof(s->words), "%s", asked);
	for (at = strtok_r(s->words, " \t", &rest); at && s->argc < AW_SUBJECT_WORDS;
		at = strtok_r(NULL, " \t", &rest))
		s->argv[s->argc++] = at;
	if (!s->argc)
		return aw_fail(err, EINVAL, "--exec wants a program");
	if (strchr(s->argv[0], '/'))
		return read_path(s->argv[0], s->path, err);
	if (aw_find_program(s->argv[0], &found, err) != 0)
		return -1;
	return read_path(found, s->path, err);
}

static int read_port(
	const char *text, const char *asked, uint16_t *ret, struct aw_error *err)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	if (!*text || *end || port > UINT16_MAX)
		return aw_fail(err, EINVAL,
			"'%s' does not end with a port; say it as in "
			"api.example.com:443",
			asked);
	*ret = (uint16_t)port;
	return 0;
}

static int read_unix(const char *asked, struct aw_subject *s, struct aw_error *err)
{
	s->address.family = AF_UNIX;
	if (asked[0] == '@')
		snprintf(s->path, sizeof(s->path), "%s", asked);
	else if (read_path(asked, s->path, err) < 0)
		return -1;
	s->address.path = s->path;
	s->address.path_len = strlen(s->path);
	return 0;
}

/* The part before the port: an address, or a name. */
static int read_host(const char *text, struct aw_subject *s)
{
	s->address.family = AF_INET;
	if (inet_pton(AF_INET, text, s->address.bytes) == 1)
		return 0;
	if (inet_pton(AF_INET6, text, s->address.bytes) == 1) {
		s->address.family = AF_INET6;
		return 0;
	}
	snprintf(s->host, sizeof(s->host), "%s", text);
	s->address.host = s->host;
	if (strcmp(text, "localhost") == 0)
		inet_pton(AF_INET, "127.0.0.1", s->address.bytes);
	return 0;
}

static int read_address(const char *asked, struct aw_subject *s, struct aw_error *err)
{
	const char *colon = strrchr(asked, ':');
	size_t len = colon ? (size_t)(colon - asked) : 0;
	char text[256];

	if (strncmp(asked, "unix:", 5) == 0)
		return read_unix(asked + 5, s, err);
	if (read_port(colon ? colon + 1 : asked, asked, &s->address.port, err) < 0)
		return -1;
	if (!colon && s->action == AW_BIND) {
		s->address.family = AF_INET;
		return 0;
	}
	if (len > 1 && asked[0] == '[' && asked[len - 1] == ']') {
		asked++;
		len -= 2;
	}
	if (!len || len >= sizeof(text))
		return aw_fail(err, EINVAL,
			"'%s' names no host; say it as in api.example.com:443", asked);
	memcpy(text, asked, len);
	text[len] = '\0';
	return read_host(text, s);
}

int aw_subject_read(enum aw_action action, const char *asked, struct aw_subject *ret,
	struct aw_error *err)
{
	memset(ret, 0, sizeof(*ret));
	ret->action = action;
	ret->asked = asked;
	switch (action) {
	case AW_EXEC:
		return read_program(asked, ret, err);
	case AW_CONNECT:
	case AW_BIND:
		return read_address(asked, ret, err);
	default:
		return read_path(asked, ret->path, err);
	}
}

void aw_subject_judge(const struct aw_subject *subject,
	const struct aw_strength_facts *facts, struct aw_decision *ret_decision,
	struct aw_held *ret_held)
{
	size_t len = strlen(subject->path);
	struct aw_refused refused = {.action = subject->action,
		.path = subject->path,
		.path_len = len,
		.family = subject->address.family};

	if (subject->address.family)
		aw_image_decide_address_in(facts->image, facts->profiles,
			subject->action, &subject->address, ret_decision);
	else if (subject->action == AW_EXEC)
		aw_image_decide_exec_in(facts->image, facts->profiles, subject->path,
			len, subject->argv, subject->argc, ret_decision);
	else
		aw_image_decide_path_in(facts->image, facts->profiles, subject->action,
			subject->path, len, ret_decision);
	refused.rule = ret_decision->rule;
	if (ret_decision->verdict == AW_ALLOW)
		aw_strength_of_allowed(facts, subject->action, NULL, ret_held);
	else
		aw_strength_of(facts, &refused, ret_held);
}
