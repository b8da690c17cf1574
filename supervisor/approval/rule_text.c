/* SPDX-License-Identifier: Apache-2.0 */
/* rule_text.c - patterns that match one thing alone. */
#include "supervisor/approval/rule_text.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/bytes.h"
#include "supervisor/util/cleanup.h"
#include "supervisor/util/json.h"

static bool is_utf8(const struct aw_text *text)
{
	const unsigned char *bytes = (const unsigned char *)text->bytes;
	size_t n;
	uint32_t point;

	for (size_t at = 0; at < text->len; at += n) {
		n = aw_utf8_read(bytes + at, text->len - at, &point);
		if (!n)
			return false;
	}
	return true;
}

/* Every sign that means something in a pattern stands for itself. */
static int put(struct aw_bytes *out, const struct aw_text *text, bool blanks,
	struct aw_error *err)
{
	if (!is_utf8(text))
		return aw_fail(err, EILSEQ,
			"a policy is UTF-8, and '%.*s' is not; no rule can be written for it",
			(int)text->len, text->bytes);
	for (size_t i = 0; i < text->len; i++) {
		char c = text->bytes[i];

		if (strchr("*?[]\\$", c) || (blanks && (c == ' ' || c == '\t')) ||
			(c == '~' && i == 0))
			aw_bytes_add(out, "\\", 1);
		aw_bytes_add(out, &c, 1);
	}
	return 0;
}

/* The whole text, handed over, or nothing: half a rule would be another one. */
static int hand_over(struct aw_bytes *out, int failed, char **ret, struct aw_error *err)
{
	aw_bytes_add(out, "", 1);
	if (!failed && out->failed)
		failed = aw_fail(err, ENOMEM, "out of memory");
	if (failed)
		aw_bytes_free(out);
	else
		*ret = out->data;
	return failed;
}

int aw_rule_of_path(const struct aw_text *path, char **ret, struct aw_error *err)
{
	struct aw_bytes out = {NULL, 0, 0, false};
	int failed = put(&out, path, false, err);

	return hand_over(&out, failed, ret, err);
}

static int put_words(
	struct aw_bytes *out, const struct aw_event *event, struct aw_error *err)
{
	if (put(out, &event->path, true, err) < 0)
		return -1;
	for (size_t i = 1; i < event->argc; i++) {
		if (!event->argv[i].len)
			return aw_fail(
				err, EINVAL, "a rule cannot have an empty argument");
		aw_bytes_add(out, " ", 1);
		if (put(out, &event->argv[i], true, err) < 0)
			return -1;
	}
	return 0;
}

int aw_rule_of_exec(const struct aw_event *event, char **ret, struct aw_error *err)
{
	struct aw_bytes out = {NULL, 0, 0, false};
	int failed;

	if (event->argv_truncated)
		return aw_fail(err, E2BIG, "the arguments are too long for a rule");
	if (event->argc < 2)
		return aw_fail(err, EINVAL,
			"a rule for a program without arguments would be about all "
			"that it can be given; write it by hand if you mean that");
	failed = put_words(&out, event, err);
	return hand_over(&out, failed, ret, err);
}

int aw_rule_of_address(const struct aw_event *event, char **ret, struct aw_error *err)
{
	AW_FREE char *pattern = NULL;
	int n;

	if (!event->address.len)
		return aw_fail(err, EINVAL, "no rule can be about this address");
	if (aw_rule_of_path(&event->address, &pattern, err) < 0)
		return -1;
	if (event->family == AF_UNIX)
		n = asprintf(ret, "unix:%s", pattern);
	else if (event->family == AF_INET6)
		n = asprintf(ret, "[%s]:%d", pattern, event->port);
	else
		n = asprintf(ret, "%s:%d", pattern, event->port);
	return n < 0 ? aw_fail(err, ENOMEM, "out of memory") : 0;
}

int aw_rule_add(struct aw_rule_entries *entries, const char *section, const char *list,
	const char *prefix, char *text, struct aw_error *err)
{
	char *whole;

	if (entries->count == AW_RULE_ENTRIES ||
		asprintf(&whole, "%s%s", prefix, text) < 0)
		return aw_fail(err, ENOMEM, "out of memory");
	entries->items[entries->count].section = section;
	entries->items[entries->count].list = list;
	entries->items[entries->count++].text = whole;
	return 0;
}

void aw_rule_release(struct aw_rule_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++)
		free(entries->items[i].text);
	entries->count = 0;
}

enum aw_action aw_rule_action(const struct aw_event *event, bool second)
{
	/* link: the file that gets another name is judged as written to */
	if (!second && event->path2.len && event->action == AW_CREATE)
		return AW_WRITE;
	return event->action;
}

static enum aw_verdict of_exec(
	const struct aw_image *image, const struct aw_event *event)
{
	AW_FREE const char **argv = calloc(event->argc + 1, sizeof(*argv));
	struct aw_decision decision;

	if (!argv)
		return AW_DENY;
	for (size_t i = 0; i < event->argc; i++)
		argv[i] = event->argv[i].len ? event->argv[i].bytes : "";
	aw_image_decide_exec_in(image, event->profiles, event->path.bytes,
		event->path.len, event->argc ? argv : NULL, event->argc, &decision);
	return decision.verdict;
}

static enum aw_verdict of_address(
	const struct aw_image *image, const struct aw_event *event)
{
	struct aw_address to = {.family = event->family,
		.port = (uint16_t)(event->port > 0 ? event->port : 0),
		.path = event->address.bytes,
		.path_len = event->address.len};
	struct aw_decision decision, file;

	if ((to.family == AF_INET || to.family == AF_INET6) &&
		(!event->address.len ||
			inet_pton(to.family, event->address.bytes, to.bytes) != 1))
		return AW_DENY;
	aw_image_decide_address_in(
		image, event->profiles, event->action, &to, &decision);
	if (to.family == AF_UNIX && to.path_len && to.path[0] == '/' &&
		event->action != AW_BIND) {
		aw_image_decide_path_in(image, event->profiles, event->action, to.path,
			to.path_len, &file);
		if (file.verdict > decision.verdict)
			return file.verdict;
	}
	return decision.verdict;
}

enum aw_verdict aw_rule_verdict(
	const struct aw_image *image, const struct aw_event *event)
{
	struct aw_decision first, second;

	if (event->action == AW_EXEC)
		return of_exec(image, event);
	if (event->family)
		return of_address(image, event);
	aw_image_decide_path_in(image, event->profiles, aw_rule_action(event, false),
		event->path.bytes, event->path.len, &first);
	if (!event->path2.len)
		return first.verdict;
	aw_image_decide_path_in(image, event->profiles, aw_rule_action(event, true),
		event->path2.bytes, event->path2.len, &second);
	return first.verdict > second.verdict ? first.verdict : second.verdict;
}
