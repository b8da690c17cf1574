/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_load.c - any bytes are either a policy, whose image passes its check and whose
 * print loads again and is printed the same, or get at least one message that points
 * into the file.  As a file that is not trusted they never allow what would be
 * denied without them.
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct aw_policy_variables variables = {.workspace = "/ws",
	.home = "/home/ann",
	.user = "ann",
	.tmpdir = "/tmp",
	.presets = "data/presets"};

static int load(const void *bytes, size_t size, enum aw_trust trust,
	struct aw_policy *policy, struct aw_diagnostics *diagnostics)
{
	struct aw_policy_source source = {NULL, "policy", trust};
	int fd = memfd_create("policy", MFD_CLOEXEC), result;
	char name[64];

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size)
		_exit(1);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	source.file = name;
	result = aw_policy_load(
		&source, 1, &variables, AW_ENFORCE, false, policy, diagnostics);
	close(fd);
	return result;
}

/* YAML ends a line at LF, CR, NEL, LS and PS; bytes bound lines and columns well
 * enough. */
static void must_point_into(const struct aw_diagnostics *d, size_t size)
{
	size_t i;

	for (i = 0; i < d->count; i++)
		if (d->items[i].line < 1 || d->items[i].line > size + 1 ||
			d->items[i].column < 1 || d->items[i].column > size + 1 ||
			!d->items[i].text[0])
			abort();
}

/* In place: without comments, which say where an entry came from. */
static void strip(char *text)
{
	char *to = text, *at = text;
	bool quoted = false;

	for (; *at; at++) {
		if (*at == '#' && !quoted) {
			while (to > text && to[-1] == ' ')
				to--;
			at += strcspn(at, "\n");
			if (!*at)
				break;
		}
		if (*at == '"')
			quoted = !quoted;
		*to++ = *at;
		if (*at == '\\' && at[1])
			*to++ = *++at;
	}
	*to = '\0';
}

static char *print(const struct aw_policy *policy, size_t *ret_size)
{
	char *text = NULL;
	FILE *out = open_memstream(&text, ret_size);

	if (!out)
		return NULL;
	aw_policy_print(policy, out);
	fclose(out);
	return text;
}

/* Comments may be lines of their own. */
static void drop_empty_lines(char *text)
{
	char *to = text, *at;

	for (at = text; *at; at++)
		if (*at != '\n' || (to > text && to[-1] != '\n'))
			*to++ = *at;
	*to = '\0';
}

static void must_load_again(const struct aw_policy *policy)
{
	struct aw_diagnostics diagnostics;
	struct aw_policy again;
	size_t size = 0;
	char *text = print(policy, &size), *second;

	if (text && size < 512 * 1024) {
		if (load(text, size, AW_TRUSTED, &again, &diagnostics) < 0) {
			aw_diagnostics_print(&diagnostics, stderr);
			abort();
		}
		second = print(&again, &size);
		strip(text);
		strip(second);
		drop_empty_lines(text);
		drop_empty_lines(second);
		if (strcmp(text, second) != 0) {
			fprintf(stderr, "printed:\n%s\nand then:\n%s\n", text, second);
			abort();
		}
		free(second);
		aw_policy_release(&again);
		aw_diagnostics_free(&diagnostics);
	}
	free(text);
}

static void must_not_be_looser(const struct aw_policy *policy)
{
	static const char *const paths[] = {"/ws/x", "/ws/.agentwatch.yaml", "/etc/x",
		"/home/ann/.ssh/id", "/home/ann/x", "/tmp/a", "/dev/null",
		"/usr/bin/a"};
	static const char *const names[] = {"PATH", "A", "API_KEY", "SSH_AUTH_SOCK"};
	static struct aw_policy without;
	struct aw_diagnostics none;
	struct aw_decision before, after;
	size_t i;
	int a;

	if (!without.image && aw_policy_load(NULL, 0, &variables, AW_ENFORCE, false,
				      &without, &none) < 0)
		abort();
	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		for (a = AW_READ; a <= AW_EXEC; a++) {
			aw_image_decide_path(without.image, (enum aw_action)a, paths[i],
				strlen(paths[i]), &before);
			aw_image_decide_path(policy->image, (enum aw_action)a, paths[i],
				strlen(paths[i]), &after);
			if (after.verdict < before.verdict)
				abort();
		}
	for (i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (aw_policy_keeps_variable(policy, names[i]) &&
			!aw_policy_keeps_variable(&without, names[i]))
			abort();
	if (policy->mode != AW_ENFORCE || policy->runner || policy->unprotected ||
		policy->exposed_count)
		abort();
}

static void try(const uint8_t *data, size_t size, enum aw_trust trust)
{
	struct aw_diagnostics diagnostics;
	struct aw_policy policy;

	if (load(data, size, trust, &policy, &diagnostics) == 0) {
		if (diagnostics.errors ||
			aw_image_check(policy.image, policy.image_size, NULL) < 0)
			abort();
		if (trust == AW_TRUSTED)
			must_load_again(&policy);
		else
			must_not_be_looser(&policy);
		aw_policy_release(&policy);
	} else if (diagnostics.errors == 0) {
		abort();
	}
	must_point_into(&diagnostics, size);
	aw_diagnostics_free(&diagnostics);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	try(data, size, AW_TRUSTED);
	try(data, size, AW_UNTRUSTED);
	return 0;
}
