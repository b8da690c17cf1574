/* SPDX-License-Identifier: Apache-2.0 */
/* load_source.c - the bytes of one policy file, as a tree; whether it is a preset. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "policy/load/load_internal.h"
#include "policy/port_file.h"

#define FILE_MAX (1024 * 1024)

static void cannot_read(struct aw_loader *l)
{
	aw_report_at(l, 1, 1, false, "cannot be read: %s", strerror(errno));
}

/* One that we were handed: it may be a pipe or a terminal, and is waited for. */
static bool is_handed(const char *file)
{
	static const char *const folders[] = {"/dev/fd/", "/proc/self/fd/"};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		if (strncmp(file, folders[i], strlen(folders[i])) == 0)
			return true;
	return strcmp(file, "/dev/stdin") == 0;
}

/* A named pipe must not make us wait for ever, and nothing be read from a device. */
static int open_source(struct aw_loader *l)
{
	bool untrusted = l->source->trust == AW_UNTRUSTED;
	bool handed = !untrusted && is_handed(l->source->file);
	int fd = open(l->source->file,
		O_RDONLY | O_CLOEXEC | O_NOCTTY | (handed ? 0 : O_NONBLOCK));
	struct stat st;

	if (fd < 0) {
		cannot_read(l);
		return -1;
	}
	if (!handed && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		aw_report_at(l, 1, 1, false,
			untrusted
				? "is not a regular file"
				: "is not a regular file; a policy comes from one, or "
				  "as /dev/stdin or /proc/self/fd/N");
		close(fd);
		return -1;
	}
	return fd;
}

bool aw_is_judged(const struct aw_loader *l, const char *file)
{
	const struct aw_policy_judged *judged = l->variables->judged;

	return judged && judged->file && strcmp(judged->file, file) == 0;
}

/* The bytes that were read when the file's trust was judged. */
static char *copy_judged(struct aw_loader *l, size_t *ret_len)
{
	const struct aw_policy_judged *judged = l->variables->judged;
	char *bytes = malloc(judged->len + 1);

	if (!bytes) {
		l->failed = true;
		return NULL;
	}
	memcpy(bytes, judged->bytes, judged->len);
	*ret_len = judged->len;
	return bytes;
}

static char *read_file(struct aw_loader *l, size_t *ret_len)
{
	char *bytes = malloc(FILE_MAX + 1);
	int fd = open_source(l);
	size_t len = 0;
	ssize_t n = 1;

	if (!bytes)
		l->failed = true;
	while (bytes && fd >= 0 && len <= FILE_MAX && n > 0) {
		n = read(fd, bytes + len, FILE_MAX + 1 - len);
		if (n > 0)
			len += (size_t)n;
		else if (n < 0 && errno == EINTR)
			n = 1;
	}
	if (n < 0)
		cannot_read(l);
	if (len > FILE_MAX)
		aw_report_at(l, 1, 1, false, "is larger than 1 MiB");
	if (fd >= 0)
		close(fd);
	if (fd < 0 || n < 0 || len > FILE_MAX) {
		free(bytes);
		return NULL;
	}
	*ret_len = len;
	return bytes;
}

bool aw_source_read(struct aw_loader *l, struct aw_tree *ret)
{
	struct aw_tree_error err;
	size_t len;
	char *bytes = aw_is_judged(l, l->source->file) && l->variables->judged->bytes
			      ? copy_judged(l, &len)
			      : read_file(l, &len);
	int failed;

	if (!bytes)
		return false;
	failed = aw_tree_read(ret, bytes, len, &err);
	if (failed < 0)
		aw_report_at(l, err.line, err.column, false, "%s", err.text);
	free(bytes);
	return failed == 0;
}

bool aw_is_preset(const struct aw_policy_source *source)
{
	return source->layer && strcmp(source->layer, "preset") == 0;
}

/* Is a variable at "$env:" or "${env:" without a value? */
static bool is_unset(const char *text)
{
	size_t len;

	text += text[1] == '{' ? 6 : 5;
	len = strspn(text,
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
	return !aw_environment(text, len);
}

bool aw_preset_borrows(const struct aw_loader *l, const char *text)
{
	return aw_is_preset(l->source) &&
	       (strstr(text, "$env:") || strstr(text, "${env:"));
}

bool aw_preset_skips(const struct aw_loader *l, const char *text)
{
	const char *at;

	if (!aw_is_preset(l->source))
		return false;
	for (at = strchr(text, '$'); at; at = strchr(at + 1, '$'))
		if ((strncmp(at, "$env:", 5) == 0 || strncmp(at, "${env:", 6) == 0) &&
			is_unset(at))
			return true;
	return false;
}
