/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_image.c - whatever aw_image_check() accepts answers every question without a
 * fault, twice the same, with a verdict and a rule that exist.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/image/profile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must_agree(const struct aw_image *image, const struct aw_decision *a,
	const struct aw_decision *b)
{
	struct aw_rule rule;

	if (a->verdict != b->verdict || a->rule != b->rule || a->verdict > AW_HIDE)
		abort();
	if (a->rule == AW_NO_RULE)
		return;
	if (!aw_image_rule(image, a->rule, &rule))
		abort();
	if (strlen(rule.file) + strlen(rule.text) + strlen(rule.layer) == SIZE_MAX)
		abort();
}

static void ask_paths(const struct aw_image *image)
{
	static const char *const paths[] = {"/", "/a", "/a/b/c",
		"/home/ann/.ssh/id_rsa", "/repo/.env", "/a/a/a/a/a/a/a/a/a/a/a/a",
		"/usr/bin/git", "/x/y", ""};
	static const char *const argv[] = {"git", "push", "--force", "x"};
	struct aw_decision a, b;
	size_t i;
	int action;

	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		for (action = 0; action < AW_ACTIONS; action++) {
			aw_image_decide_path(image, (enum aw_action)action, paths[i],
				strlen(paths[i]), &a);
			aw_image_decide_path(image, (enum aw_action)action, paths[i],
				strlen(paths[i]), &b);
			must_agree(image, &a, &b);
		}
		aw_image_decide_exec(image, paths[i], strlen(paths[i]), argv, 4, &a);
		aw_image_decide_exec(image, paths[i], strlen(paths[i]), argv, 4, &b);
		must_agree(image, &a, &b);
	}
}

static void ask_addresses(const struct aw_image *image)
{
	static const char *const hosts[] = {
		NULL, "example.com", "a.b.example.com", "localhost", "", "."};
	static const char *const sockets[] = {"/run/x", "@a", "@", "", "x"};
	static const int families[] = {AF_INET, AF_INET6, AF_UNIX, AF_UNSPEC, 99};
	struct aw_address address = {.bytes = {10, 1, 2, 3}, .port = 443};
	struct aw_decision a, b;
	const char *name;
	uint32_t at = 0;
	size_t i, j, len;

	for (i = 0; i < sizeof(families) / sizeof(*families); i++)
		for (j = 0; j < 5; j++) {
			address.family = families[i];
			address.host = hosts[j];
			address.path = sockets[j];
			address.path_len = strlen(sockets[j]);
			aw_image_decide_address(
				image, j % 2 ? AW_BIND : AW_CONNECT, &address, &a);
			aw_image_decide_address(
				image, j % 2 ? AW_BIND : AW_CONNECT, &address, &b);
			must_agree(image, &a, &b);
		}
	while (aw_image_next_name(image, &at, &name, &len))
		if (name < (const char *)image ||
			len > aw_image_size(image) -
					(size_t)(name - (const char *)image))
			abort();
	for (j = 1; j < 6; j++) {
		aw_image_decide_host(image, hosts[j], &a);
		aw_image_decide_host(image, hosts[j], &b);
		must_agree(image, &a, &b);
	}
}

/* A profile never makes a verdict milder, and one that there is not, none at all. */
static void ask_profiles(const struct aw_image *image)
{
	static const char *const paths[] = {
		"/", "/a/b/c", "/usr/bin/git", "/repo/.env"};
	static const char *const argv[] = {"git", "push", "x"};
	struct aw_decision base, in, none;
	uint32_t all = 0;
	size_t i;

	for (i = 0; aw_image_profile_name(image, (unsigned)i); i++)
		all |= aw_image_profile_set(
			image, aw_image_profile_name(image, (unsigned)i));
	if (aw_image_entered_by_mcp(image, "abc") & ~all)
		abort();
	for (i = 0; i < sizeof(paths) / sizeof(*paths); i++) {
		size_t len = strlen(paths[i]);

		if (aw_image_entered(image, paths[i], len, argv, 3) & ~all)
			abort();
		aw_image_decide_exec(image, paths[i], len, argv, 3, &base);
		aw_image_decide_exec_in(image, all, paths[i], len, argv, 3, &in);
		aw_image_decide_exec_in(image, ~all & ~AW_PROFILES_ALONE, paths[i], len,
			argv, 3, &none);
		if (in.verdict < base.verdict)
			abort();
		must_agree(image, &base, &none);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct aw_error err = {0};
	void *image = malloc(size ? size : 1);

	if (!image)
		return 0;
	memcpy(image, data, size);
	if (aw_image_check(image, size, &err) == 0) {
		if (aw_image_size(image) != size)
			abort();
		ask_paths(image);
		ask_addresses(image);
		ask_profiles(image);
		if (aw_image_profiles_refuse_reads(image) && !aw_image_profiles(image))
			abort();
	} else if (!err.text[0] || !err.code) {
		abort();
	}
	free(image);
	return 0;
}
