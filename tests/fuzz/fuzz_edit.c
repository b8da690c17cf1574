/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_edit.c - an entry is added to any text without taking anything out of it; where
 * the text was a policy and still is one, the entry holds.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "policy/load/load.h"
#include "policy/load/text/load_edit.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct aw_policy_variables variables = {
	.workspace = "/work", .home = "/home/ann", .user = "ann", .tmpdir = "/tmp"};

/* The image, or NULL when the text is no policy. */
static void *load(const char *bytes, size_t size)
{
	struct aw_policy_source source = {NULL, "policy", AW_TRUSTED};
	struct aw_diagnostics diagnostics;
	struct aw_policy policy;
	int fd = memfd_create("policy", MFD_CLOEXEC), result;
	char name[64];
	void *image;

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		_exit(1);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	source.file = name;
	result = aw_policy_load(
		&source, 1, &variables, AW_ENFORCE, false, &policy, &diagnostics);
	close(fd);
	aw_diagnostics_free(&diagnostics);
	if (result < 0)
		return NULL;
	image = policy.image;
	policy.image = NULL;
	aw_policy_release(&policy);
	return image;
}

static void must_contain(const char *made, const char *text, size_t len)
{
	for (; len; text++, len--, made++) {
		while (*made && *made != *text)
			made++;
		if (!*made)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct aw_edit edit = {"filesystem", "ask", "!/new \"x\"", "why"};
	char *text = malloc(size + 1), *made = NULL;
	struct aw_decision decision;
	struct aw_error err;
	void *before, *after;

	if (!text || memchr(data, 0, size)) {
		free(text);
		return 0;
	}
	memcpy(text, data, size);
	text[size] = '\0';
	if (aw_edit_add(text, size, &edit, &made, &err) == 0) {
		must_contain(made, text, size);
		before = load(text, size);
		after = before ? load(made, strlen(made)) : NULL;
		if (after) {
			aw_image_decide_path(
				after, AW_READ, "/new \"x\"", 8, &decision);
			if (decision.verdict == AW_ASK)
				abort();
		}
		free(before);
		free(after);
		free(made);
	}
	free(text);
	return 0;
}
