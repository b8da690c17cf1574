/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_raw.c - system calls made by our own instruction, or by libc's syscall().
 *
 * Each row has one letter an argument, see argument().  Everything pointed to lives
 * below 4 GB where the machine has such a place, so that the 32-bit entry can be tried
 * as well.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "probe.h"

#ifndef MAP_32BIT
#define MAP_32BIT 0
#endif
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif
#ifndef MAX_HANDLE_SZ
struct file_handle {
	unsigned int handle_bytes;
	int handle_type;
	unsigned char f_handle[0];
};
#endif

struct how {
	uint64_t flags, mode, resolve;
};

struct xattr_args {
	uint64_t value;
	uint32_t size, flags;
};

static char *arena, *arena_end;

static void *keep(const void *data, size_t size)
{
	size_t room = (size + 15) & ~(size_t)15;
	void *at;

	if (!arena) {
		arena = mmap(NULL, 1 << 16, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
		arena_end = arena + (1 << 16);
	}
	if (arena + room > arena_end)
		abort();
	at = arena;
	arena += room;
	if (data)
		memcpy(at, data, size);
	else
		memset(at, 0, size);
	return at;
}

static void *keep_text(const char *text)
{
	return keep(text, strlen(text) + 1);
}

static void *keep_message(const char *a, int many)
{
	struct sockaddr_storage *to = keep(NULL, sizeof *to);
	struct iovec *part = keep(NULL, sizeof *part);
	struct mmsghdr *list = keep(NULL, sizeof *list);

	part->iov_base = keep_text("hello");
	part->iov_len = 5;
	list->msg_hdr.msg_namelen = probe_address(a, to);
	list->msg_hdr.msg_name = to;
	list->msg_hdr.msg_iov = part;
	list->msg_hdr.msg_iovlen = 1;
	return many ? (void *)list : (void *)&list->msg_hdr;
}

static struct file_handle *keep_room_for_handle(void)
{
	struct file_handle *handle = keep(NULL, sizeof *handle + 128);

	handle->handle_bytes = 128;
	return handle;
}

static void *keep_handle(const char *a)
{
	struct file_handle *handle = keep_room_for_handle();
	int mount;

	syscall(__NR_name_to_handle_at, AT_FDCWD, a, handle, &mount, 0);
	return handle;
}

/* A descriptor of the folder that holds a. */
static int open_parent(const char *a)
{
	char folder[4096];
	char *slash;

	strncpy(folder, a, sizeof folder - 1);
	folder[sizeof folder - 1] = 0;
	slash = strrchr(folder, '/');
	if (slash)
		*slash = 0;
	return open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* clang-format off */
static long argument(char letter, const char *a, const char *b)
{
	static const long times[4] = { 1000000000, 123456, 1000000001, 654321 };
	struct sockaddr_storage address;
	struct how how = { O_RDONLY | O_CLOEXEC, 0, 0 };
	struct xattr_args value = { 0, 5, 0 };
	char *vector[2] = { NULL, NULL };

	switch (letter) {
	case 'a': return (long)keep_text(a);
	case 'b': return (long)keep_text(b);
	case 'C': return AT_FDCWD;
	case 'F': return open(a, O_RDONLY | O_CLOEXEC);
	case 'p': return open_parent(a);
	case 'o': return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	case 'k': return (long)keep_handle(a);
	case 'l': return (long)keep_room_for_handle();
	case 's': return probe_socket(a, 0);
	case 'd': return probe_socket(a, 1);
	case 'A': return probe_address(a, keep(NULL, sizeof address)) ? (long)(arena - sizeof address) : 0;
	case 'L': return probe_address(a, &address);
	case 'M': return (long)keep_message(a, 0);
	case 'N': return (long)keep_message(a, 1);
	case '0': return 0;
	case '1': return 1;
	case '5': return 5;
	case 'm': return 0600;
	case 'f': return S_IFIFO | 0600;
	case 'R': return O_RDONLY | O_CLOEXEC;
	case 'W': return O_WRONLY | O_CLOEXEC;
	case 'c': return O_WRONLY | O_CREAT | O_CLOEXEC;
	case 'u': return geteuid();
	case 'g': return getegid();
	case 'T': /* the same bytes are two of timespec, of timeval, and one utimbuf */
		return (long)keep(times, sizeof times);
	case 'n': return (long)keep_text("user.probe");
	case 'v': return (long)keep_text("value");
	case 'H': return (long)keep(&how, sizeof how);
	case 'h': return sizeof how;
	case 'Q': vector[0] = keep_text("true"); return (long)keep(vector, sizeof vector);
	case 'E': return (long)keep_text("");
	case 'e': return (long)environ;
	case 't': return AT_EMPTY_PATH;
	case 'r': return AT_REMOVEDIR;
	case 'z': return (long)keep(NULL, 4096);
	case 'Z': return 4096;
	case 'X': value.value = (uintptr_t)keep_text("value"); return (long)keep(&value, sizeof value);
	case 'G': value.value = (uintptr_t)keep(NULL, 5); return (long)keep(&value, sizeof value);
	case 'x': return sizeof value;
	case 'q': return 24; /* struct file_attr */
	case 'i': return inotify_init1(IN_CLOEXEC);
	case 'K': return 0x7ff; /* statx mask */
	}
	abort();
}
/* clang-format on */

#if defined(__x86_64__)
static long own(long nr, const long *arg)
{
	register long r10 __asm__("r10") = arg[3];
	register long r8 __asm__("r8") = arg[4];
	register long r9 __asm__("r9") = arg[5];
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(nr), "D"(arg[0]), "S"(arg[1]), "d"(arg[2]), "r"(r10),
			 "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
}

/* The 32-bit entry of a 64-bit process. */
static long own_i386(long nr, const long *arg)
{
	long result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(nr), "b"(arg[0]), "c"(arg[1]), "d"(arg[2]), "S"(arg[3]),
			 "D"(arg[4])
			 : "r8", "r9", "r10", "r11", "memory");
	return (int)result;
}
#elif defined(__i386__)
/* The sixth argument is in %ebp, which is libc's business. */
static long own(long nr, const long *arg)
{
	long result = syscall(nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);

	return result == -1 ? -errno : result;
}
#define own_i386 own
#elif defined(__aarch64__)
static long own(long nr, const long *arg)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = arg[0];
	register long x1 __asm__("x1") = arg[1];
	register long x2 __asm__("x2") = arg[2];
	register long x3 __asm__("x3") = arg[3];
	register long x4 __asm__("x4") = arg[4];
	register long x5 __asm__("x5") = arg[5];

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}
#define own_i386 own
#endif

long probe_syscall(
	const struct probe *probe, const char *how, const char *a, const char *b)
{
	long arg[6] = {0}, result;
	size_t i;

	for (i = 0; probe->spec[i]; i++) {
		arg[i] = argument(probe->spec[i], a, b);
		if (strchr("Fposd", probe->spec[i]) && arg[i] < 0)
			return -1; /* the way to the call was barred already */
	}
	if (!strcmp(how, "sys"))
		return syscall(
			probe->nr, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
	if (!strcmp(how, "int80"))
		result = own_i386(probe->nr_i386, arg);
	else if (!strcmp(how, "x32"))
		result = own(probe->nr | 0x40000000, arg);
	else
		result = own(probe->nr, arg);
	if (result < 0 && result > -4096) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

/* Where a number is unknown to the headers: those from 424 on are the same everywhere. */
#ifndef __NR_fchmodat2
#define __NR_fchmodat2 452
#endif
#ifndef __NR_setxattrat
#define __NR_setxattrat 463
#endif
#ifndef __NR_getxattrat
#define __NR_getxattrat 464
#endif
#ifndef __NR_listxattrat
#define __NR_listxattrat 465
#endif
#ifndef __NR_removexattrat
#define __NR_removexattrat 466
#endif
#ifndef __NR_file_getattr
#define __NR_file_getattr 468
#endif

#ifdef __i386__
#define OLD(x) x
#define CHOWN(x) __NR_##x##32
#define STAT(x) __NR_##x##64
#define NEWFSTATAT __NR_fstatat64
#elif defined(__x86_64__)
#define OLD(x) x
#define CHOWN(x) __NR_##x
#define STAT(x) __NR_##x
#define NEWFSTATAT __NR_newfstatat
#else
#define CHOWN(x) __NR_##x
#define NEWFSTATAT __NR_newfstatat
#endif

#define ROW(label, nr, i386, kind, action, spec)                                       \
	{label, KIND_##kind, action, NULL, spec, nr, i386},

/* clang-format off */
const struct probe probe_syscalls[] = {
#ifdef OLD
	ROW("open", __NR_open, 5, FILE, "read", "aR0")
	ROW("open.write", __NR_open, 5, FILE, "write", "aW0")
	ROW("open.create", __NR_open, 5, NEW, "create", "acm")
	ROW("creat", __NR_creat, 8, NEW, "create", "am")
	ROW("unlink", __NR_unlink, 10, FILE, "delete", "a")
	ROW("rmdir", __NR_rmdir, 40, DIR, "delete", "a")
	ROW("rename", __NR_rename, 38, PAIR, "rename", "ab")
	ROW("renameat", __NR_renameat, 302, PAIR, "rename", "CaCb")
	ROW("link", __NR_link, 9, PAIR, "create", "ab")
	ROW("symlink", __NR_symlink, 83, NEW, "create", "na")
	ROW("mkdir", __NR_mkdir, 39, NEW, "create", "am")
	ROW("mknod", __NR_mknod, 14, NEW, "create", "af0")
	ROW("chmod", __NR_chmod, 15, FILE, "write", "am")
	ROW("chown", CHOWN(chown), 212, FILE, "write", "aug")
	ROW("lchown", CHOWN(lchown), 198, LINK, "write", "aug")
	ROW("utime", __NR_utime, 30, FILE, "write", "aT")
	ROW("utimes", __NR_utimes, 271, FILE, "write", "aT")
	ROW("futimesat", __NR_futimesat, 299, FILE, "write", "CaT")
	ROW("stat", STAT(stat), 195, FILE, "metadata", "az")
	ROW("lstat", STAT(lstat), 196, FILE, "metadata", "az")
	ROW("access", __NR_access, 33, FILE, "metadata", "a0")
	ROW("readlink", __NR_readlink, 85, LINK, "metadata", "azZ")
#endif
	ROW("openat", __NR_openat, 295, FILE, "read", "CaR0")
	ROW("openat.write", __NR_openat, 295, FILE, "write", "CaW0")
	ROW("openat.create", __NR_openat, 295, NEW, "create", "Cacm")
	ROW("openat2", __NR_openat2, 437, FILE, "read", "CaHh")
	ROW("open_by_handle_at", __NR_open_by_handle_at, 342, FILE, "read", "pkR")
	ROW("open_by_handle_at.far", __NR_open_by_handle_at, 342, FILE, "read", "okR")
	ROW("open_tree", __NR_open_tree, 428, FILE, "read", "Ca0")
	ROW("unlinkat", __NR_unlinkat, 301, FILE, "delete", "Ca0")
	ROW("unlinkat.dir", __NR_unlinkat, 301, DIR, "delete", "Car")
	ROW("renameat2", __NR_renameat2, 353, PAIR, "rename", "CaCb0")
	ROW("linkat", __NR_linkat, 303, PAIR, "create", "CaCb0")
	ROW("symlinkat", __NR_symlinkat, 304, NEW, "create", "nCa")
	ROW("mkdirat", __NR_mkdirat, 296, NEW, "create", "Cam")
	ROW("mknodat", __NR_mknodat, 297, NEW, "create", "Caf0")
	ROW("truncate", __NR_truncate, 92, FILE, "write", "a1")
	ROW("fchmod", __NR_fchmod, 94, FILE, "write", "Fm")
	ROW("fchmodat", __NR_fchmodat, 306, FILE, "write", "Cam")
	ROW("fchmodat2", __NR_fchmodat2, 452, FILE, "write", "Cam0")
	ROW("fchown", CHOWN(fchown), 207, FILE, "write", "Fug")
	ROW("fchownat", __NR_fchownat, 298, FILE, "write", "Caug0")
	ROW("utimensat", __NR_utimensat, 320, FILE, "write", "CaT0")
	ROW("utimensat.fd", __NR_utimensat, 320, FILE, "write", "F0T0")
	ROW("setxattr", __NR_setxattr, 226, FILE, "write", "anv50")
	ROW("lsetxattr", __NR_lsetxattr, 227, FILE, "write", "anv50")
	ROW("fsetxattr", __NR_fsetxattr, 228, FILE, "write", "Fnv50")
	ROW("setxattrat", __NR_setxattrat, 463, FILE, "write", "Ca0nXx")
	ROW("removexattr", __NR_removexattr, 235, FILE, "write", "an")
	ROW("lremovexattr", __NR_lremovexattr, 236, FILE, "write", "an")
	ROW("fremovexattr", __NR_fremovexattr, 237, FILE, "write", "Fn")
	ROW("removexattrat", __NR_removexattrat, 466, FILE, "write", "Ca0n")
	ROW("chdir", __NR_chdir, 12, DIR, "read", "a")
	ROW("fchdir", __NR_fchdir, 133, DIR, "read", "F")
	ROW("chroot", __NR_chroot, 61, DIR, "read", "a")
	ROW("execve", __NR_execve, 11, PROGRAM, "exec", "aQe")
	ROW("execveat", __NR_execveat, 358, PROGRAM, "exec", "CaQe0")
	ROW("execveat.fd", __NR_execveat, 358, OPENED, "exec", "FEQet")
#ifdef __NR_connect
	ROW("connect", __NR_connect, 362, INET, "connect", "sAL")
	ROW("connect.unix", __NR_connect, 362, STREAM, "connect", "sAL")
	ROW("bind.unix", __NR_bind, 361, NEW, "bind", "sAL")
	ROW("sendto", __NR_sendto, 369, INET, "send", "dv50AL")
	ROW("sendmsg", __NR_sendmsg, 370, INET, "send", "dM0")
	ROW("sendmmsg", __NR_sendmmsg, 345, INET, "send", "dN10")
	ROW("bind", __NR_bind, 361, INET, "bind", "sAL")
#endif
	ROW("newfstatat", NEWFSTATAT, 300, FILE, "metadata", "Caz0")
	ROW("statx", __NR_statx, 383, FILE, "metadata", "Ca0Kz")
	ROW("faccessat", __NR_faccessat, 307, FILE, "metadata", "Ca0")
	ROW("faccessat2", __NR_faccessat2, 439, FILE, "metadata", "Ca00")
	ROW("readlinkat", __NR_readlinkat, 305, LINK, "metadata", "CazZ")
	ROW("statfs", __NR_statfs, 99, FILE, "metadata", "az")
	ROW("getxattr", __NR_getxattr, 229, FILE, "metadata", "anzZ")
	ROW("lgetxattr", __NR_lgetxattr, 230, FILE, "metadata", "anzZ")
	ROW("listxattr", __NR_listxattr, 232, FILE, "metadata", "azZ")
	ROW("llistxattr", __NR_llistxattr, 233, FILE, "metadata", "azZ")
	ROW("getxattrat", __NR_getxattrat, 464, FILE, "metadata", "Ca0nGx")
	ROW("listxattrat", __NR_listxattrat, 465, FILE, "metadata", "Ca0zZ")
	ROW("file_getattr", __NR_file_getattr, 468, FILE, "metadata", "Cazq0")
	ROW("name_to_handle_at", __NR_name_to_handle_at, 341, FILE, "metadata", "Calz0")
	ROW("inotify_add_watch", __NR_inotify_add_watch, 292, FILE, "metadata", "ia1")
	{0},
};
/* clang-format on */
