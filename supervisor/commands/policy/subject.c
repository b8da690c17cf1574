/* SPDX-License-Identifier: Apache-2.0 */
/* subject.c - what someone asks the policy about, and the answer. */
#include "supervisor/commands/policy/subject.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "policy/image/rules.h"
#include "supervisor/session/find.h"
#include "supervisor/util/cleanup.h"

#define LINKS_MAX 40

/* A walk along a path, links followed, over what is there and what is not. */
struct walk {
	char done[PATH_MAX]; /* without links; "" is the root */
	char left[2 * PATH_MAX];
	int links;
};

static void drop_last(char *path)
{
	char *slash = strrchr(path, '/');

	if (slash)
		*slash = '\0';
}

/* What these lead to depends on who asks; they are judged as they are. */
static bool is_own(const char *path)
{
	return strcmp(path, "/proc/self") == 0 ||
	       strcmp(path, "/proc/thread-self") == 0;
}

/* The link at done is what it says, in front of what is left. */
static bool follow(struct walk *w)
{
	char target[PATH_MAX], left[2 * PATH_MAX];
	ssize_t len = readlink(w->done, target, sizeof(target) - 1);

	if (len <= 0 || is_own(w->done))
		return true;
	target[len] = '\0';
	if (++w->links > LINKS_MAX || (size_t)snprintf(left, sizeof(left), "%s/%s",
					      target, w->left) >= sizeof(left))
		return false;
	memcpy(w->left, left, sizeof(left));
	if (target[0] == '/')
		w->done[0] = '\0';
	else
		drop_last(w->done);
	return true;
}

/* One component from what is left to what is done; false when it is too long. */
static bool step(struct walk *w, bool follow_last)
{
	size_t skip = strspn(w->left, "/"), len = strcspn(w->left + skip, "/");
	size_t have = strlen(w->done);
	char name[PATH_MAX];
	bool last;

	if (len >= sizeof(name))
		return false;
	memcpy(name, w->left + skip, len);
	name[len] = '\0';
	skip += len;
	last = w->left[skip + strspn(w->left + skip, "/")] == '\0';
	memmove(w->left, w->left + skip, strlen(w->left + skip) + 1);
	if (!len || strcmp(name, ".") == 0)
		return true;
	if (strcmp(name, "..") == 0) {
		drop_last(w->done);
		return true;
	}
	if (have + len + 2 > sizeof(w->done))
		return false;
	snprintf(w->done + have, sizeof(w->done) - have, "/%s", name);
	return (last && !follow_last) || follow(w);
}

/* The text to walk along: what was asked, made absolute. */
static int begin_walk(struct walk *w, const char *asked, const struct aw_asking *how,
	struct aw_error *err)
{
	bool home = how->home && asked[0] == '~' && (!asked[1] || asked[1] == '/');
	AW_FREE char *cwd = home || asked[0] == '/' ? NULL : getcwd(NULL, 0);

	if (!asked[0])
		return aw_fail(err, EINVAL, "an empty path names nothing");
	if (asked[0] != '/' && !home && !cwd)
		return aw_fail(err, errno,
			"'%.200s' begins at the working directory, which has no name here: %s",
			asked, strerror(errno));
	if ((size_t)snprintf(w->left, sizeof(w->left), "%s/%s",
		    home  ? how->home
		    : cwd ? cwd
			  : "",
		    asked + home) < sizeof(w->left))
		return 0;
	return aw_fail(err, ENAMETOOLONG, "'%.200s' is too long for a path", asked);
}

/* The file that a path reaches: absolute, without "." and "..", links followed. */
static int read_path(const char *asked, const struct aw_asking *how, bool follow_last,
	char out[PATH_MAX], struct aw_error *err)
{
	struct walk w = {.links = 0};

	if (begin_walk(&w, asked, how, err) < 0)
		return -1;
	while (w.left[0])
		if (!step(&w, follow_last))
			return aw_fail(err, ENAMETOOLONG,
				"'%.200s' is too long for a path, or leads through a "
				"link to itself",
				asked);
	snprintf(out, PATH_MAX, "%s", w.done[0] ? w.done : "/");
	return 0;
}

static int read_program(const char *asked, const struct aw_asking *how,
	struct aw_asked_subject *s, struct aw_error *err)
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
		return read_path(s->argv[0], how, true, s->path, err);
	if (aw_find_program(s->argv[0], &found, err) == 0)
		return read_path(found, how, true, s->path, err);
	if (!how->missing_programs)
		return -1;
	snprintf(s->path, sizeof(s->path), "/usr/bin/%.255s", s->argv[0]);
	return 0;
}

static int read_port(
	const char *text, const char *asked, uint16_t *ret, struct aw_error *err)
{
	char *end;
	unsigned long port = strtoul(text, &end, 10);

	if (!*text || *end || port > UINT16_MAX)
		return aw_fail(err, EINVAL,
			"'%s' does not end with a port; say it as in api.example.com:443",
			asked);
	*ret = (uint16_t)port;
	return 0;
}

static int read_unix(const char *asked, const struct aw_asking *how,
	struct aw_asked_subject *s, struct aw_error *err)
{
	s->address.family = AF_UNIX;
	if (asked[0] == '@')
		snprintf(s->path, sizeof(s->path), "%s", asked);
	else if (read_path(asked, how, true, s->path, err) < 0)
		return -1;
	s->address.path = s->path;
	s->address.path_len = strlen(s->path);
	return 0;
}

/* The part before the port: an address, or a name. */
static int read_host(const char *text, struct aw_asked_subject *s)
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

static int read_address(const char *asked, const struct aw_asking *how,
	struct aw_asked_subject *s, struct aw_error *err)
{
	const char *colon = strrchr(asked, ':');
	size_t len = colon ? (size_t)(colon - asked) : 0;
	char text[256];

	if (strncmp(asked, "unix:", 5) == 0)
		return read_unix(asked + 5, how, s, err);
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

int aw_subject_read(enum aw_action action, const char *asked,
	const struct aw_asking *how, struct aw_asked_subject *ret, struct aw_error *err)
{
	memset(ret, 0, sizeof(*ret));
	ret->action = action;
	ret->asked = asked;
	ret->literal = how->literal;
	switch (action) {
	case AW_EXEC:
		return read_program(asked, how, ret, err);
	case AW_CONNECT:
	case AW_BIND:
		return read_address(asked, how, ret, err);
	default:
		/* a link is deleted itself, not what it leads to */
		return read_path(asked, how, action != AW_DELETE, ret->path, err);
	}
}

bool aw_subject_is_unknown(const struct aw_asked_subject *subject,
	const struct aw_image *image, struct aw_rule *ret)
{
	struct aw_rule_about about;
	struct aw_decision decision;

	if (!subject->literal || !subject->host[0] || subject->action != AW_CONNECT)
		return false;
	aw_image_decide_address(image, subject->action, &subject->address, &decision);
	return aw_image_rule_about(image, decision.rule, &about) &&
	       about.strictest <= AW_ASK && !about.negated &&
	       aw_image_rule_below(image, decision.rule) &&
	       aw_image_rule(image, decision.rule, ret);
}

void aw_subject_decide(const struct aw_asked_subject *subject,
	const struct aw_image *image, uint32_t profiles, struct aw_decision *ret)
{
	struct aw_address address = subject->address;
	size_t len = strlen(subject->path);
	struct aw_rule ignored;

	if (aw_subject_is_unknown(subject, image, &ignored))
		address.host = ""; /* a name still, and of no rule */
	if (address.family)
		aw_image_decide_address_in(
			image, profiles, subject->action, &address, ret);
	else if (subject->action == AW_EXEC)
		aw_image_decide_exec_in(image, profiles, subject->path, len,
			subject->argv, subject->argc, ret);
	else
		aw_image_decide_in_place_in(
			image, profiles, subject->action, subject->path, len, ret);
}

void aw_subject_enforced(const struct aw_asked_subject *subject,
	const struct aw_strength_facts *facts, const struct aw_decision *decision,
	struct aw_enforced *ret)
{
	struct aw_refused refused = {.action = subject->action,
		.path = subject->path,
		.path_len = strlen(subject->path),
		.family = subject->address.family,
		.rule = decision->rule};

	if (decision->verdict == AW_ALLOW)
		aw_strength_of_allowed(facts, subject->action, NULL, ret);
	else
		aw_strength_of(facts, &refused, ret);
}
