/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gate.c - what an ordinary call refuses, a call from the gate page refuses, too.
 *
 * Usage: gate WS [-i FD=DIR]... [-e] [-l | -q] PATH...
 *   WS  a folder that may be written; -i: FD is open at DIR; -e: errors are the same as
 *   well; -l: every call, with all flags, for every way to a path; -q: few of them
 *
 * A static program with code of its own at the gate's address, as a hostile one has.
 * Each call of calls.def, with each set of flags, is made at each PATH in each way that
 * leads there: first from here, then from the gate.  Between two rounds it says so on
 * descriptor 59 and waits for a line on 58, so that somebody outside can exchange
 * files.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/calls.h"
#include "policy/shared/page.h"

enum {
	TOLD = 59,
	TOLD_TO_GO = 58,
	INHERITED_MAX = 8,
	WAYS_MAX = 48,
	SHOWN_MAX = 20,
	FEW_FLAGS = 5
};

struct way {
	int dir; /* or AT_FDCWD */
	char path[4096];
};

static struct {
	int fd;
	const char *folder;
} inherited[INHERITED_MAX];
static size_t inherited_count;
static const char *workspace;
static bool same_errors, thorough, quick;
static unsigned long probes, wrong;

/* --- a call from the gate --- */

static bool make_gate(void)
{
#if defined(__x86_64__)
	static const unsigned char code[] = {0x0f, 0x05, 0xc3};
#elif defined(__aarch64__)
	static const uint32_t code[] = {0xd4000001, 0xd65f03c0};
#endif
	void *page = mmap((void *)AW_GATE_ADDRESS, 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

	if (page == MAP_FAILED)
		return false;
	memcpy(page, code, sizeof(code));
	__builtin___clear_cache(page, (char *)page + sizeof(code));
	return mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
}

static long from_gate(long nr, const long a[6])
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = a[3];
	register long r8 __asm__("r8") = a[4];
	register long r9 __asm__("r9") = a[5];
	long ret;

	/* below the red zone, since the call pushes */
	__asm__ volatile("sub $128, %%rsp\n\tcall *%%rbx\n\tadd $128, %%rsp"
			 : "=a"(ret)
			 : "a"(nr), "b"(AW_GATE_ADDRESS), "D"(a[0]), "S"(a[1]),
			 "d"(a[2]), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory", "cc");
	return ret;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a[0];
	register long x1 __asm__("x1") = a[1];
	register long x2 __asm__("x2") = a[2];
	register long x3 __asm__("x3") = a[3];
	register long x4 __asm__("x4") = a[4];
	register long x5 __asm__("x5") = a[5];
	long gate = AW_GATE_ADDRESS;

	__asm__ volatile(
		"blr %[gate]"
		: "+r"(x0)
		: [gate] "r"(gate), "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
		: "x30", "memory", "cc");
	return x0;
#endif
}

static long from_here(long nr, const long a[6])
{
	long ret = syscall(nr, a[0], a[1], a[2], a[3], a[4], a[5]);

	return ret < 0 ? -errno : ret;
}

/* --- both, one after the other --- */

static int saved_cwd;

/* What a call has done is undone, as far as it concerns this process. */
static void undo(const struct aw_syscall *row, long ret)
{
	if (ret < 0)
		return;
	switch ((enum aw_effect)row->effect) {
	case AW_FX_OPEN:
	case AW_FX_CREAT:
	case AW_FX_HANDLE:
	case AW_FX_READ:
		close((int)ret);
		break;
	case AW_FX_CHDIR:
		if (fchdir(saved_cwd) < 0)
			abort();
		break;
	default:
		break;
	}
}

/* In a child: 0 when it was executed. */
static long executed(long (*call)(long, const long[6]), const struct aw_syscall *row,
	const long a[6])
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit((int)(100 - (call(row->nr, a) < 0)));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -ECHILD;
	return WIFEXITED(status) && WEXITSTATUS(status) == 99 ? -EACCES : 0;
}

static long made(long (*call)(long, const long[6]), const struct aw_syscall *row,
	const long a[6])
{
	long ret;

	if (row->effect == AW_FX_EXEC)
		return executed(call, row, a);
	ret = call(row->nr, a);
	undo(row, ret);
	return ret;
}

static void compare(const struct aw_syscall *row, const long a[6],
	const struct way *way, long flags)
{
	long here = made(from_here, row, a), gate = made(from_gate, row, a);
	const char *name = aw_call_name((unsigned)(row - aw_syscalls));

	probes++;
	if (!(here < 0 && gate >= 0) && !(same_errors && here < 0 && here != gate))
		return;
	if (++wrong <= SHOWN_MAX)
		printf("WRONG %s(%d, %s) flags %#lo: refused with %s, from the gate %s\n",
			name, way->dir, way->path, flags, strerror((int)-here),
			gate >= 0 ? "made" : strerror((int)-gate));
}

/* --- every call --- */

static const long open_flags[] = {O_RDONLY, O_RDONLY | O_DIRECTORY,
	O_RDONLY | O_NOFOLLOW | O_CLOEXEC, O_RDONLY | O_NONBLOCK | O_NOCTTY, O_PATH,
	O_PATH | O_NOFOLLOW, O_RDONLY | O_APPEND, O_RDONLY | O_DIRECT,
	O_RDONLY | O_NOATIME, O_RDONLY | O_SYNC | O_DSYNC | O_ASYNC, O_WRONLY, O_RDWR,
	O_ACCMODE, O_RDONLY | O_CREAT, O_WRONLY | O_CREAT, O_RDONLY | O_CREAT | O_EXCL,
	O_RDONLY | O_TRUNC, O_RDWR | O_TMPFILE, O_RDONLY | (O_TMPFILE & ~O_DIRECTORY),
	(long)(UINT64_C(1) << 40)};

static void open_by(const struct aw_syscall *row, const struct way *way)
{
	size_t all = sizeof(open_flags) / sizeof(open_flags[0]);
	/* what passes from the gate is openat(2) */
	bool few = quick || (row->nr != SYS_openat && !thorough);

	for (size_t i = 0; i < (few ? FEW_FLAGS : all); i++) {
		struct open_how how = {.flags = (uint64_t)open_flags[i] & 0xffffffff};
		bool in_memory = row->last == AW_LAST_H;
		long a[6] = {0};

		if (how.flags & O_CREAT || (how.flags & O_TMPFILE) == O_TMPFILE)
			how.mode = 0600;
		if (row->dir >= 0)
			a[row->dir] = way->dir;
		else if (way->dir != AT_FDCWD)
			return;
		a[row->path] = (long)way->path;
		a[row->flags] = in_memory ? (long)&how : open_flags[i];
		a[row->flags + 1] = in_memory ? (long)sizeof(how) : 0600;
		compare(row, a, way, open_flags[i]);
	}
}

static bool is_about_files(const struct aw_syscall *row)
{
	switch ((enum aw_effect)row->effect) {
	case AW_FX_CREAT:
	case AW_FX_READ:
	case AW_FX_WRITE:
	case AW_FX_CREATE:
	case AW_FX_DELETE:
	case AW_FX_RENAME:
	case AW_FX_LINK:
	case AW_FX_SYMLINK:
	case AW_FX_CHDIR:
	case AW_FX_EXEC:
	case AW_FX_META:
		return row->nr >= 0 && row->path >= 0 &&
		       row->nr != SYS_inotify_add_watch;
	default:
		return false;
	}
}

static void call_by(const struct aw_syscall *row, const struct way *way)
{
	static char buffer[4096], *const argv[] = {buffer, NULL};
	static char other[4096];
	const char *name = aw_call_name((unsigned)(row - aw_syscalls));
	long a[6] = {0};

	if (row->dir >= 0)
		a[row->dir] = way->dir;
	else if (way->dir != AT_FDCWD)
		return;
	snprintf(other, sizeof(other), "%s/other", workspace);
	for (int i = 0; i < 6; i++)
		if (i != row->dir && i != row->flags)
			a[i] = (long)buffer;
	if (row->effect == AW_FX_META) /* sizes of what is told */
		a[5] = a[4] = strstr(name, "xattr") ? 0 : a[4];
	if (strcmp(name, "statx") == 0)
		a[3] = 0x7ff;
	if (strcmp(name, "readlink") == 0 || strcmp(name, "getxattr") == 0)
		a[2] = a[3] = 0;
	if (row->effect == AW_FX_WRITE || row->effect == AW_FX_CREATE)
		memset(a, 0, sizeof(a));
	if (row->dir >= 0)
		a[row->dir] = way->dir;
	a[row->path] = (long)way->path;
	if (row->dir2 >= 0)
		a[row->dir2] = AT_FDCWD;
	if (row->path2 >= 0)
		a[row->path2] = (long)other;
	if (row->effect == AW_FX_EXEC) {
		a[row->path + 1] = (long)argv;
		a[row->path + 2] = 0;
	}
	if (strstr(name, "setxattr") && row->flags < 0) {
		strcpy(buffer, "user.aw");
		a[1] = a[2] = (long)buffer;
		a[3] = 1;
	}
	compare(row, a, way, 0);
	unlink(other);
}

static void every_call(const struct way *way, bool all)
{
	for (size_t i = 0; i < AW_SYS_COUNT; i++) {
		const struct aw_syscall *row = &aw_syscalls[i];

		if (row->effect == AW_FX_OPEN && row->nr >= 0)
			open_by(row, way);
		else if (all && is_about_files(row))
			call_by(row, way);
	}
}

/* --- every way to a path --- */

static struct way ways[WAYS_MAX];
static size_t way_count;

__attribute__((format(printf, 2, 3))) static void add(int dir, const char *fmt, ...)
{
	va_list args;

	if (way_count == WAYS_MAX)
		abort();
	ways[way_count].dir = dir;
	va_start(args, fmt);
	vsnprintf(ways[way_count].path, sizeof(ways[0].path), fmt, args);
	va_end(args);
	way_count++;
}

static void add_inherited(const char *path)
{
	for (size_t i = 0; i < inherited_count; i++) {
		int fd = inherited[i].fd;
		size_t len = strlen(inherited[i].folder);

		add(fd, "../../../../../../../../../..%s", path);
		add(AT_FDCWD, "/proc/self/fd/%d/../../../../../../../..%s", fd, path);
		if (strncmp(path, inherited[i].folder, len) != 0 || path[len] != '/')
			continue;
		add(fd, "%s", path + len + 1);
		add(AT_FDCWD, "/proc/self/fd/%d%s", fd, path + len);
	}
}

/* Links that earlier rounds have made lead to the same places. */
static void add_links(const char *path, size_t index)
{
	char link[4096];

	snprintf(link, sizeof(link), "%s/link%zu", workspace, index);
	(void)!symlink(path, link);
	add(AT_FDCWD, "%s", link);
	snprintf(link, sizeof(link), "%s/hard%zu", workspace, index);
	if (linkat(AT_FDCWD, path, AT_FDCWD, link, 0) == 0)
		add(AT_FDCWD, "%s", link);
}

/*
 * Descriptors are opened in the first round and kept, so that in the second one they
 * are of what was replaced.
 */
struct kept {
	int itself, folder, readable;
};

static void find_ways(const char *path, size_t index, struct kept *kept, bool first)
{
	const char *last = strrchr(path, '/') + 1;
	char folder[4096];

	snprintf(folder, sizeof(folder), "%.*s", (int)(last - path), path);
	if (first) {
		kept->itself = open(path, O_PATH | O_CLOEXEC);
		kept->folder = open(folder, O_PATH | O_CLOEXEC);
		kept->readable = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	}
	way_count = 0;
	add(AT_FDCWD, "%s", path);
	if (kept->folder >= 0) {
		add(kept->folder, "%s", last);
		add(AT_FDCWD, "/proc/self/fd/%d/%s", kept->folder, last);
		add(AT_FDCWD, "/proc/thread-self/fd/%d/%s", kept->folder, last);
	}
	if (kept->readable >= 0)
		add(kept->readable, "%s", last);
	if (kept->itself >= 0) {
		add(AT_FDCWD, "/proc/self/fd/%d", kept->itself);
		add(kept->itself, "%s", "");
		add(kept->itself, ".");
	}
	add_inherited(path);
	add(AT_FDCWD, "/proc/self/root%s", path);
	add(AT_FDCWD, "/proc/self/cwd/../../../../../../../..%s", path);
	add(AT_FDCWD, "/proc/1/root%s", path);
	add(AT_FDCWD, "/.//./%s.//%s", folder + 1, last);
	add(AT_FDCWD, "../../../../../../../../..%s", path);
	add_links(path, index);
}

static void probe(char **paths, size_t count, struct kept *kept, bool first)
{
	for (size_t i = 0; i < count; i++) {
		find_ways(paths[i], i, &kept[i], first);
		for (size_t k = 0; k < way_count; k++)
			every_call(
				&ways[k], thorough || k == 0 ||
						  (!quick && ways[k].dir != AT_FDCWD));
	}
}

static int take_options(int argc, char **argv)
{
	int option;

	while ((option = getopt(argc, argv, "+i:elq")) != -1) {
		char *folder = option == 'i' ? strchr(optarg, '=') : NULL;

		if (folder && inherited_count < INHERITED_MAX) {
			inherited[inherited_count].fd = atoi(optarg);
			inherited[inherited_count++].folder = folder + 1;
		}
		same_errors |= option == 'e';
		thorough |= option == 'l';
		quick |= option == 'q';
	}
	return optind;
}

int main(int argc, char **argv)
{
	static struct kept kept[64];
	char line[16];
	int at;

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc < 3 || !make_gate())
		return 2;
	workspace = argv[1];
	at = 1 + take_options(argc - 1, argv + 1);
	if (chdir(workspace) < 0 || argc - at > 64 ||
		(saved_cwd = open(".", O_PATH | O_CLOEXEC)) < 0)
		return 2;
	probe(argv + at, (size_t)(argc - at), kept, true);
	if (write(TOLD, "replace\n", 8) != 8 ||
		read(TOLD_TO_GO, line, sizeof(line)) <= 0)
		return 2;
	probe(argv + at, (size_t)(argc - at), kept, false);
	printf("probes %lu wrong %lu\n", probes, wrong);
	return wrong ? 1 : 0;
}
