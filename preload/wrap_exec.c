/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_exec.c - starting programs: the shim goes along into every child.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "preload/environ.h"
#include "preload/gate.h"
#include "preload/linux/arch.h"
#include "preload/linux/symbol.h"
#include "preload/text.h"

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#else
#define OUR_MACHINE EM_AARCH64
#endif

/* A call through the gate; -1 where that cannot be done.  A forked child that has not
 * said hello yet need not: the gate is there all the same. */
static long look_through_gate(int nr, int dir, const char *path, long a, long b)
{
	_Atomic uint32_t *passing = aw_gate_enter();
	long ret = -1;

	if (aw_work() == AW_WORK_FAST && !aw_has_own_filter(aw_self_if_ready()))
		ret = aw_gated(nr, dir, path, a, b);
	aw_gate_leave(passing);
	return ret;
}

/* The first bytes of a program, read through the gate; 0 when that cannot be done. */
static size_t peek(const char *path, char *to, size_t size)
{
	long n, fd = look_through_gate(__NR_openat, AT_FDCWD, path,
			O_RDONLY | O_CLOEXEC | O_NONBLOCK, 0);

	if (fd < 0)
		return 0;
	n = aw_raw(__NR_read, fd, to, size - 1);
	aw_raw(__NR_close, fd);
	if (n < 0)
		n = 0;
	to[n] = '\0';
	return (size_t)n;
}

/* The interpreter of a "#!" line, cut out of head; NULL when there is none. */
static char *interpreter(char *head)
{
	char *at = head + 2;

	if (head[0] != '#' || head[1] != '!')
		return NULL;
	while (*at == ' ' || *at == '\t')
		at++;
	head = at;
	while (*at && *at != ' ' && *at != '\t' && *at != '\n')
		at++;
	*at = '\0';
	return *head ? head : NULL;
}

/*
 * What a file is by and when it was last changed, as one number; 0: not known.  A shell
 * starts the same few programs again and again, each time from a new child, so what is
 * known is kept in the ring, which parent and children share.
 */
static uint64_t identity_of(const char *path)
{
	struct stat st;
	uint64_t id;

	if (look_through_gate(__NR_newfstatat, AT_FDCWD, path, (long)&st, 0) < 0)
		return 0;
	id = (uint64_t)st.st_ino * 0x9e3779b97f4a7c15u + (uint64_t)st.st_dev;
	id = (id ^ id >> 29) * 0xbf58476d1ce4e5b9u + (uint64_t)st.st_ctim.tv_sec;
	id = (id ^ id >> 32) * 0x94d049bb133111ebu + (uint64_t)st.st_ctim.tv_nsec;
	return id ^ id >> 31;
}

static bool is_known_native(const char *path, uint64_t *ret_identity)
{
	struct aw_ring *ring = aw_ring_inherited();

	*ret_identity = ring ? identity_of(path) : 0;
	return *ret_identity &&
	       atomic_load_explicit(&ring->native[*ret_identity % AW_RING_NATIVE],
		       memory_order_relaxed) == *ret_identity;
}

static void remember_native(uint64_t identity)
{
	struct aw_ring *ring = aw_ring_inherited();

	if (ring && identity)
		atomic_store_explicit(&ring->native[identity % AW_RING_NATIVE],
			identity, memory_order_relaxed);
}

/* A program of another architecture, whose loader would complain about our library. */
static bool is_foreign(const char *path)
{
	char head[256], name[256];
	Elf64_Ehdr elf;

	for (int depth = 0; depth < 4; depth++) {
		uint64_t identity;
		size_t n;
		char *next;

		if (is_known_native(path, &identity))
			return false;
		n = peek(path, head, sizeof(head));
		if (n >= 20 && memcmp(head, ELFMAG, SELFMAG) == 0) {
			memcpy(&elf, head, 20);
			if (elf.e_ident[EI_CLASS] != ELFCLASS64 ||
				elf.e_machine != OUR_MACHINE)
				return true;
			remember_native(identity);
			return false;
		}
		if (n < 3 || !(next = interpreter(head)))
			return false;
		aw_text_copy(name, sizeof(name), next);
		path = name;
	}
	return false;
}

/* Strings from first up to the NULL that ends them. */
static size_t count(const char *first, va_list args)
{
	size_t n = 1;
	va_list copy;

	if (!first)
		return 0;
	va_copy(copy, args);
	while (va_arg(copy, char *))
		n++;
	va_end(copy);
	return n;
}

AW_EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
	int (*real)(const char *, char *const[], char *const[]);
	const struct aw_before before = aw_before();
	struct aw_child_env env;
	int ret;

	if (!aw_enter_exec(AW_FN_execve, AT_FDCWD, path, 0, argv))
		return -1;
	*(void **)&real = aw_real(AW_FN_execve);
	aw_child_env_make(envp, is_foreign(path), &env);
	do
		ret = real(path, argv, env.vector);
	while (aw_interrupted(before));
	aw_child_env_release(&env);
	return ret;
}

/* Where execvp(3) would find it, for the judge of the preload engine; else file itself. */
static const char *searched(const char *file, char *to, size_t size)
{
	const char *path = aw_environ_get("PATH");
	struct aw_self *self;
	long len;

	if (aw_work() != AW_WORK_PRELOAD || !path || !(self = aw_self()) ||
		aw_has_own_filter(self) ||
		(len = aw_string_length(self, file, AW_PATH_MAX)) <= 0)
		return file;
	for (const char *c = file; *c; c++)
		if (*c == '/')
			return file;
	while (*path) {
		size_t n = 0;

		while (path[n] && path[n] != ':')
			n++;
		if (n && n + (size_t)len + 2 <= size) {
			memcpy(to, path, n);
			to[n] = '/';
			memcpy(to + n + 1, file, (size_t)len + 1);
			if (aw_raw(__NR_faccessat, AT_FDCWD, to, X_OK) == 0)
				return to;
		}
		path += path[n] ? n + 1 : n;
	}
	return file;
}

static int search(
	enum aw_call call, const char *file, char *const argv[], char *const envp[])
{
	int (*real)(const char *, char *const[], char *const[]);
	const struct aw_before before = aw_before();
	struct aw_child_env env;
	int ret;

	char found[1024];

	if (!aw_enter_exec(
		    call, AT_FDCWD, searched(file, found, sizeof(found)), 0, argv))
		return -1;
	*(void **)&real = aw_real(AW_FN_execvpe);
	aw_child_env_make(envp, false, &env);
	do
		ret = real(file, argv, env.vector);
	while (aw_interrupted(before));
	aw_child_env_release(&env);
	return ret;
}

AW_EXPORT int execv(const char *path, char *const argv[])
{
	return execve(path, argv, aw_environ());
}

AW_EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
	return search(AW_FN_execvpe, file, argv, envp);
}

AW_EXPORT int execvp(const char *file, char *const argv[])
{
	return search(AW_FN_execvp, file, argv, aw_environ());
}

AW_EXPORT int execl(const char *path, const char *first, ...)
{
	va_list args;

	va_start(args, first);
	size_t n = count(first, args);
	char *argv[n + 1];

	argv[0] = (char *)first;
	for (size_t i = 1; i <= n; i++)
		argv[i] = va_arg(args, char *);
	va_end(args);
	return execve(path, argv, aw_environ());
}

AW_EXPORT int execlp(const char *file, const char *first, ...)
{
	va_list args;

	va_start(args, first);
	size_t n = count(first, args);
	char *argv[n + 1];

	argv[0] = (char *)first;
	for (size_t i = 1; i <= n; i++)
		argv[i] = va_arg(args, char *);
	va_end(args);
	return search(AW_FN_execlp, file, argv, aw_environ());
}

AW_EXPORT int execle(const char *path, const char *first, ...)
{
	va_list args;

	va_start(args, first);
	size_t n = count(first, args);
	char *argv[n + 1];
	char *const *envp;

	argv[0] = (char *)first;
	for (size_t i = 1; i <= n; i++)
		argv[i] = va_arg(args, char *);
	envp = va_arg(args, char *const *);
	va_end(args);
	return execve(path, argv, envp);
}

AW_EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
	int (*real)(int, char *const[], char *const[]);
	struct aw_child_env env;
	int ret;

	if (!aw_enter_exec(AW_FN_fexecve, fd, "", AT_EMPTY_PATH, argv))
		return -1;
	*(void **)&real = aw_real(AW_FN_fexecve);
	aw_child_env_make(envp, false, &env);
	ret = real(fd, argv, env.vector);
	aw_child_env_release(&env);
	return ret;
}

AW_EXPORT int execveat(
	int dir, const char *path, char *const argv[], char *const envp[], int how)
{
	int (*real)(int, const char *, char *const[], char *const[], int);
	struct aw_child_env env;
	int ret;

	if (!aw_enter_exec(AW_FN_execveat, dir, path, how, argv))
		return -1;
	*(void **)&real = aw_real(AW_FN_execveat);
	aw_child_env_make(envp, false, &env);
	ret = real ? real(dir, path, argv, env.vector, how)
		   : (int)aw_answer(
			     aw_raw(__NR_execveat, dir, path, argv, env.vector, how));
	aw_child_env_release(&env);
	return ret;
}

static int spawn(enum aw_call call, pid_t *pid, const char *file,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
	char *const argv[], char *const envp[])
{
	int (*real)(pid_t *, const char *, const posix_spawn_file_actions_t *,
		const posix_spawnattr_t *, char *const[], char *const[]);
	int saved = *aw_errno(), ret;
	struct aw_child_env env;
	char found[1024];

	if (!aw_enter_exec(call, AT_FDCWD,
		    call == AW_FN_posix_spawnp ? searched(file, found, sizeof(found))
					       : file,
		    0, argv)) {
		ret = *aw_errno();
		*aw_errno() = saved;
		return ret;
	}
	*(void **)&real = aw_real(call);
	aw_child_env_make(envp, call == AW_FN_posix_spawn && is_foreign(file), &env);
	ret = real(pid, file, actions, attributes, argv, env.vector);
	aw_child_env_release(&env);
	return ret;
}

AW_EXPORT int posix_spawn(pid_t *pid, const char *path,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
	char *const argv[], char *const envp[])
{
	return spawn(AW_FN_posix_spawn, pid, path, actions, attributes, argv, envp);
}

AW_EXPORT int posix_spawnp(pid_t *pid, const char *file,
	const posix_spawn_file_actions_t *actions, const posix_spawnattr_t *attributes,
	char *const argv[], char *const envp[])
{
	return spawn(AW_FN_posix_spawnp, pid, file, actions, attributes, argv, envp);
}

extern char **environ __attribute__((weak));

/*
 * system and popen hand the process's own environment to the shell.  When the program
 * has taken the shim out of it, it is there for the length of the call.
 */
struct borrowed {
	char **before;
	struct aw_child_env env;
};

static void lend(struct borrowed *b)
{
	b->before = aw_environ();
	aw_child_env_make(b->before, false, &b->env);
	if (b->env.mapping && &environ)
		environ = b->env.vector;
}

static void give_back(struct borrowed *b)
{
	if (b->env.mapping && &environ && environ == b->env.vector)
		environ = b->before;
	aw_child_env_release(&b->env);
}

AW_EXPORT int system(const char *command)
{
	char *const argv[] = {"sh", "-c", (char *)command, NULL};
	int (*real)(const char *);
	struct borrowed b;
	int ret;

	if (command && !aw_enter_exec(AW_FN_system, AT_FDCWD, "/bin/sh", 0, argv))
		return -1;
	*(void **)&real = aw_real(AW_FN_system);
	lend(&b);
	ret = real(command);
	give_back(&b);
	return ret;
}

AW_EXPORT FILE *popen(const char *command, const char *mode)
{
	char *const argv[] = {"sh", "-c", (char *)command, NULL};
	FILE *(*real)(const char *, const char *);
	struct borrowed b;
	FILE *ret;

	if (!aw_enter_exec(AW_FN_popen, AT_FDCWD, "/bin/sh", 0, argv))
		return NULL;
	*(void **)&real = aw_real(AW_FN_popen);
	lend(&b);
	ret = real(command, mode);
	give_back(&b);
	return ret;
}
