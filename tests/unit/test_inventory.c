/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_inventory.c - every system call of the kernel's headers, and every command of
 * calls that are watched for some of them, has a decision, and the filter keeps to it.
 *
 * With --page it writes docs/INVENTORY.md instead.
 */
#include <ctype.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "policy/calls.h"
#include "policy/numbers.h"
#include "supervisor/linux/calls/request.h"
#include "supervisor/linux/seccomp/filter.h"
#include "tests/unit/bpf.h"
#include "tests/unit/tap.h"

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#else
#define NATIVE AUDIT_ARCH_AARCH64
#endif

static const struct {
	const char *id, *sentence;
} reasons[] = {
#define AW_REASON(id, sentence) {#id, sentence},
#include "policy/inventory.def"
};

static const struct {
	const char *id, *names;
} passes[] = {
#define AW_PASSES(id, names) {#id, names},
#include "policy/inventory.def"
};

static const struct values {
	const char *call, *header, *prefix, *names;
	long nr;
	int level;
} values[] = {
#define AW_VALUES(call, header, prefix, level, names)                                  \
	{#call, header, prefix, names, __NR_##call, level},
#include "policy/inventory.def"
};

static const struct {
	const char *header, *names;
} no_values[] = {
#define AW_NO_VALUES(header, names) {header, names},
#include "policy/inventory.def"
};

static const struct {
	const char *name, *sentence;
} requests[] = {
#define AW_REQUEST(name, sentence) {#name, sentence},
#include "policy/inventory.def"
};

static const struct {
	const char *pattern, *state, *sentence;
} trees[] = {
#define AW_TREE(pattern, state, sentence) {pattern, state, sentence},
#include "policy/inventory.def"
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static struct aw_filter filter;

static bool lists(const char *list, const char *word)
{
	size_t len = strlen(word), n;

	for (; *list; list += n + (list[n] == ' ')) {
		n = strcspn(list, " ");
		if (n == len && memcmp(list, word, n) == 0)
			return true;
	}
	return false;
}

/* The reason for which a call passes; NULL: it has none. */
static const char *reason_of(const char *name)
{
	for (size_t i = 0; i < COUNT(passes); i++)
		if (lists(passes[i].names, name))
			return passes[i].id;
	return NULL;
}

static int row_of(const char *name)
{
	for (int i = 0; i < AW_SYS_COUNT; i++)
		if (strcmp(aw_call_name((unsigned)i), name) == 0)
			return i;
	return -1;
}

/* Does the filter let it go on whatever its arguments are? */
static bool goes_on(uint32_t arch, long nr)
{
	struct seccomp_data data = {.nr = (int)nr, .arch = arch};

	if (bpf_run(filter.code, filter.count, &data) != SECCOMP_RET_ALLOW)
		return false;
	memset(data.args, 0xff, sizeof(data.args));
	return bpf_run(filter.code, filter.count, &data) == SECCOMP_RET_ALLOW;
}

/* With one argument, and a level before it for options. */
static bool value_goes_on(const struct values *v, unsigned value)
{
	struct seccomp_data data = {.nr = (int)v->nr, .arch = NATIVE};

	if (v->nr == __NR_prctl)
		data.args[0] = value;
	else if (v->nr == __NR_setsockopt)
		data.args[1] = (unsigned)v->level, data.args[2] = value;
	else
		data.args[1] = value;
	return bpf_run(filter.code, filter.count, &data) == SECCOMP_RET_ALLOW;
}

/* Is it seen with at least one set of arguments that matters? */
static bool is_seen(int row)
{
	static const uint64_t all[6] = {~0ull, ~0ull, ~0ull, ~0ull, ~0ull, ~0ull};
	static const uint64_t some[][3] = {{PR_SET_SECCOMP, 0, 0}, {0, TIOCSTI, 0},
		{0, F_SETOWN, 0}, {0, IPPROTO_IP, IP_OPTIONS}, {0, 0, 0}};
	struct seccomp_data data = {.nr = (int)aw_syscalls[row].nr, .arch = NATIVE};

	memcpy(data.args, all, sizeof(all));
	if (bpf_run(filter.code, filter.count, &data) != SECCOMP_RET_ALLOW)
		return true;
	for (size_t i = 0; i < COUNT(some); i++) {
		memset(data.args, 0, sizeof(data.args));
		memcpy(data.args, some[i], sizeof(some[i]));
		if (bpf_run(filter.code, filter.count, &data) != SECCOMP_RET_ALLOW)
			return true;
	}
	return false;
}

/* One "#define PREFIX_name number" of a header. */
struct line {
	char name[80];
	long number;
};

static bool next_define(FILE *file, const char *prefix, struct line *ret)
{
	char text[512], value[80];

	while (fgets(text, sizeof(text), file)) {
		char name[80], *end;

		if (sscanf(text, "#define %79s %79s", name, value) != 2 ||
			strncmp(name, prefix, strlen(prefix)) != 0)
			continue;
		ret->number = strtol(value, &end, 0);
		if (strncmp(value, "(F_LINUX_SPECIFIC_BASE", 22) == 0) {
			const char *plus = strchr(text, '+');

			ret->number = 1024 + (plus ? strtol(plus + 1, NULL, 0) : 0);
		} else if (end == value || isalpha((unsigned char)*end)) {
			continue;
		}
		snprintf(ret->name, sizeof(ret->name), "%s", name);
		return true;
	}
	return false;
}

static FILE *open_header(const char *path, const char *sentence)
{
	FILE *file = fopen(path, "re");

	if (!file)
		ok(true, "%s # SKIP no %s", sentence, path);
	return file;
}

/* The names of a header with numbers of calls; arch 0: names alone. */
static void each_call(const char *path, uint32_t arch, const char *what)
{
	unsigned unknown = 0, wrong = 0, count = 0;
	FILE *file = open_header(path, what);
	struct line line;

	while (file && next_define(file, "__NR", &line)) {
		const char *name = strchr(line.name + 4, '_') + 1, *reason;
		int row;

		if (strcmp(name, "fstatat") == 0) /* __NR3264_fstatat */
			name = "newfstatat";
		row = row_of(name);
		if (strcmp(name, "syscalls") == 0 ||
			strcmp(name, "arch_specific_syscall") == 0)
			continue;
		count++;
		reason = reason_of(name);
		if (arch == AUDIT_ARCH_I386 && row < 0)
			row = aw_syscall_by_i386_number(line.number);
		if (!reason && row < 0) {
			unknown++;
			note("%s (%ld) is neither watched nor in policy/inventory.def",
				name, line.number);
			continue;
		}
		if (!arch || (row >= 0 && arch == NATIVE))
			continue;
		/* an old name of a watched number, and socketcall, are seen */
		if (goes_on(arch, line.number) !=
			(row < 0 && strcmp(name, "socketcall") != 0)) {
			wrong++;
			note("%s (%ld) %s", name, line.number,
				row < 0 ? "passes, and the filter sees it"
					: "is watched, and the filter lets it go on");
		}
	}
	if (!file)
		return;
	fclose(file);
	ok(count > 200 && !unknown, "each of %u %s has a decision", count, what);
	if (arch)
		ok(!wrong, "and the filter keeps to it");
}

static void each_row(void)
{
	unsigned wrong = 0;

	for (int i = 0; i < AW_SYS_COUNT; i++) {
		const char *name = aw_call_name((unsigned)i), *reason = reason_of(name);

		if (reason || (aw_syscalls[i].nr >= 0 && !is_seen(i))) {
			wrong++;
			note("%s %s", name,
				reason ? "is watched and said to pass" : "is not seen");
		}
	}
	ok(!wrong, "every watched call is seen by the filter, and is in no other row");
	for (size_t i = 0; i < COUNT(passes); i++) {
		bool found = false;

		for (size_t j = 0; j < COUNT(reasons); j++)
			found |= strcmp(passes[i].id, reasons[j].id) == 0;
		ok(found, "%s is a reason", passes[i].id);
	}
}

static bool is_none(const char *header, const char *name)
{
	for (size_t i = 0; i < COUNT(no_values); i++)
		if (strcmp(no_values[i].header, header) == 0 &&
			lists(no_values[i].names, name))
			return true;
	return false;
}

static void each_value(const struct values *v, bool page)
{
	static const char *const roots[] = {
		"/usr/include/", "/usr/include/x86_64-linux-gnu/"};
	unsigned wrong = 0, count = 0;
	char path[200];
	struct line line;
	FILE *file = NULL;

	for (size_t i = 0; i < COUNT(roots) && !file; i++) {
		snprintf(path, sizeof(path), "%s%s", roots[i], v->header);
		file = fopen(path, "re");
	}
	while (file && next_define(file, v->prefix, &line)) {
		bool pass = lists(v->names, line.name),
		     on = value_goes_on(v, (unsigned)line.number);

		if (is_none(v->header, line.name))
			continue;
		count++;
		if (page && !on)
			printf("- `%s(%s)`: the supervisor is asked\n", v->call,
				line.name);
		if (pass == on)
			continue;
		wrong++;
		if (!page)
			note("%s(%s) %s", v->call, line.name,
				pass ? "passes, and the filter sees it"
				     : "has no row, and the filter lets it go on");
	}
	if (file)
		fclose(file);
	if (!page)
		ok(!wrong && (!file || count), "each of %u %s of %s has a decision%s",
			count, v->call, v->header, file ? "" : " # SKIP no header");
}

static void write_page(void)
{
	printf("# Inventory\n\nWhat a program may do without the supervisor being asked, in mode "
	       "`enforce`, and why that is safe. Written by\n`make docs/INVENTORY.md` from "
	       "`policy/inventory.def`; `tests/unit/test_inventory.c` compares it with the "
	       "kernel's headers and with\nthe filter as it is built. What is watched is in "
	       "[CALLS.md](CALLS.md).\n\n## System calls that pass\n\n");
	for (size_t i = 0; i < COUNT(passes); i++) {
		const char *sentence = "";

		for (size_t j = 0; j < COUNT(reasons); j++)
			if (strcmp(passes[i].id, reasons[j].id) == 0)
				sentence = reasons[j].sentence;
		printf("**%c%s**\n\n%s\n\n", toupper((unsigned char)sentence[0]),
			sentence + 1, passes[i].names);
	}
	printf("## Commands of calls that are watched for some of them\n\n");
	for (size_t i = 0; i < COUNT(values); i++)
		each_value(&values[i], true);
	for (size_t i = 0; i < COUNT(values); i++)
		printf("\n`%s` of `%s` that pass:\n%s\n", values[i].call,
			values[i].header, values[i].names);
	printf("\n## Requests of ioctl that pass\n\nThose that take a path, "
	       "descriptor, process or signal. `supervisor/linux/calls/request.h` has "
	       "those that do not pass.\n\n| request | because |\n|---|---|\n");
	for (size_t i = 0; i < COUNT(requests); i++)
		printf("| `%s` | %s |\n", requests[i].name, requests[i].sentence);
	printf("\n## Files of the kernel\n\n| files | | |\n|---|---|---|\n");
	for (size_t i = 0; i < COUNT(trees); i++)
		printf("| %s | %s | %s |\n", trees[i].pattern, trees[i].state,
			trees[i].sentence);
}

int main(int argc, char **argv)
{
	const struct aw_filter_params params = {
		.holds = true, .kin = true, .metadata = true};

	aw_filter_build(&params, &filter);
	if (argc > 1 && strcmp(argv[1], "--page") == 0) {
		write_page();
		return 0;
	}
#if defined(__x86_64__)
	each_call("/usr/include/x86_64-linux-gnu/asm/unistd_64.h", NATIVE,
		"calls of x86_64");
	each_call("/usr/include/x86_64-linux-gnu/asm/unistd_32.h", AUDIT_ARCH_I386,
		"calls of i386");
#endif
	each_call("/usr/aarch64-linux-gnu/include/asm-generic/unistd.h", 0,
		"calls of newer architectures");
	each_row();
	for (size_t i = 0; i < COUNT(values); i++)
		each_value(&values[i], false);
	return done();
}
