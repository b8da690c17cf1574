/* SPDX-License-Identifier: Apache-2.0 */
/* calls.c - watched calls made in ways that no library sees, or that look like the gate */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/socket.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/shared/page.h"
#include "tests/escapes/escape.h"

enum how { RAW, INT80, X32, ELSEWHERE, OVER_GATE, NEAR_GATE, THE_GATE };
enum deed { READ, WRITE, UNLINK, CONNECT, DEEDS };

#define HOW(how, deed) ((how)*DEEDS + (deed))
#define X32_BIT 0x40000000L

static const struct {
	long nr, nr_i386;
} numbers[] = {
	[READ] = {SYS_open, 5},
	[WRITE] = {SYS_open, 5},
	[UNLINK] = {SYS_unlink, 10},
	[CONNECT] = {SYS_connect, 362},
};

/* `syscall; ret` at an address of our choice. */
static void *code_page(unsigned long address, size_t offset)
{
	static const unsigned char code[] = {0x0f, 0x05, 0xc3};
	unsigned char *page = mmap((void *)address, 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | (address ? MAP_FIXED : 0), -1, 0);

	if (page == MAP_FAILED)
		return NULL;
	memcpy(page + offset, code, sizeof code);
	if (mprotect(page, 4096, PROT_READ | PROT_EXEC) < 0)
		return NULL;
	return page + offset;
}

static const void *gadget(enum how how)
{
	unsigned char there;

	switch (how) {
	case ELSEWHERE:
		return code_page(0, 0);
	case OVER_GATE:
		munmap((void *)AW_GATE_ADDRESS, 4096);
		return code_page(AW_GATE_ADDRESS, 0);
	case NEAR_GATE: /* the same page, another address in it */
		return code_page(AW_GATE_ADDRESS, 64);
	default:
		if (mincore((void *)AW_GATE_ADDRESS, 4096, &there) < 0)
			return NULL;
		return (const void *)AW_GATE_ADDRESS;
	}
}

static long make(enum how how, enum deed deed, long a, long b, long c)
{
	const void *code;

	switch (how) {
	case RAW:
		return raw(numbers[deed].nr, a, b, c, 0, 0, 0);
	case X32:
		return raw(numbers[deed].nr | X32_BIT, a, b, c, 0, 0, 0);
	case INT80:
		return raw_int80(numbers[deed].nr_i386, a, b, c, 0, 0);
	default:
		code = gadget(how);
		return code ? raw_at(code, numbers[deed].nr, a, b, c, 0, 0, 0)
			    : -ENOSYS;
	}
}

static int by(struct target *t, int arg)
{
	enum how how = arg / DEEDS;
	enum deed deed = arg % DEEDS;
	const char *path = deed == READ ? t->read : t->write;
	long where = (long)low(path, strlen(path) + 1), rc;
	int fd;

	if (deed == CONNECT) {
		fd = socket(AF_INET, SOCK_STREAM, 0);
		where = (long)low(&t->inet, sizeof t->inet);
		rc = make(how, deed, fd, where, sizeof t->inet);
	} else if (deed == UNLINK) {
		rc = make(how, deed, where, 0, 0);
	} else {
		rc = make(how, deed, where,
			deed == READ ? O_RDONLY : O_WRONLY | O_TRUNC, 0);
	}
	if (rc == -ENOSYS)
		return NOT_HERE;
	if (rc < 0)
		return -rc;
	return deed == READ ? take(t, rc) : deed == WRITE ? poke(rc) : 0;
}

struct how_ {
	unsigned long long flags, mode, resolve;
};

enum { OPENAT, OPENAT2, CREAT, OPEN_TREE, SOCKETCALL };

static int other(struct target *t, int arg)
{
	struct how_ how = {.flags = O_RDONLY};
	unsigned arguments[3];
	unsigned *where;
	char path[64];
	long rc;

	switch (arg) {
	case OPENAT:
		rc = raw(SYS_openat, AT_FDCWD, (long)t->read, O_RDONLY, 0, 0, 0);
		break;
	case OPENAT2:
		rc = raw(437, AT_FDCWD, (long)t->read, (long)&how, sizeof how, 0, 0);
		break;
	case CREAT:
		rc = raw(SYS_creat, (long)t->write, 0600, 0, 0, 0, 0);
		return rc < 0 ? -rc : poke(rc);
	case OPEN_TREE:
		rc = raw(428, AT_FDCWD, (long)t->read, 0, 0, 0, 0);
		if (rc < 0)
			return rc == -ENOSYS ? NOT_HERE : -rc;
		snprintf(path, sizeof path, "/proc/self/fd/%ld", rc);
		return take_path(t, path);
	default:
		arguments[0] = socket(AF_INET, SOCK_STREAM, 0);
		arguments[1] = (unsigned long)low(&t->inet, sizeof t->inet);
		arguments[2] = sizeof t->inet;
		where = low(arguments, sizeof arguments);
		rc = raw_int80(102, 3, (long)where, 0, 0, 0);
		return rc == -ENOSYS ? NOT_HERE : -rc;
	}
	return rc < 0 ? -rc : take(t, rc);
}

#define FOUR(name, how, n, words)                                                      \
	{name "_read", "r" n, "open for reading, " words, by, HOW(how, READ)},         \
		{name "_write", "w" n, "open for writing, " words, by,                 \
			HOW(how, WRITE)},                                              \
		{name "_unlink", "w" n, "unlink, " words, by, HOW(how, UNLINK)},       \
	{                                                                              \
		name "_connect", "c" n, "connect, " words, by, HOW(how, CONNECT)       \
	}

/* The arguments of socketcall in memory that no other process can read. */
static int secret_memory(struct target *t, int arg)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0), memory = syscall(447, 0);
	unsigned *where;

	(void)arg;
	if (memory < 0 || ftruncate(memory, 4096) < 0)
		return NOT_HERE;
	where = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_32BIT, memory, 0);
	if (fd < 0 || where == MAP_FAILED)
		return NOT_HERE;
	memcpy(where + 8, &t->inet, sizeof t->inet);
	where[0] = (unsigned)fd;
	where[1] = (unsigned)(unsigned long)(where + 8);
	where[2] = sizeof t->inet;
	if (raw_int80(102, 3, (long)where, 0, 0, 0) < 0)
		return EACCES;
	return result(send(fd, "x", 1, 0));
}

const struct attempt calls_table[] = {
	FOUR("raw", RAW, "", "by a system call instruction of its own"),
	FOUR("int80", INT80, "", "by int 0x80 in a 64-bit program"),
	FOUR("x32", X32, "n", "by its x32 number"),
	FOUR("page", ELSEWHERE, "", "from a page of code made at run time"),
	FOUR("over_gate", OVER_GATE, "", "from code of its own at the gate's address"),
	FOUR("near_gate", NEAR_GATE, "", "from another place in the gate's page"),
	FOUR("the_gate", THE_GATE, "", "by a jump to the gate"),
	{"raw_openat", "r", "openat by a raw call", other, OPENAT},
	{"raw_openat2", "r", "openat2 by a raw call", other, OPENAT2},
	{"raw_creat", "w", "creat by a raw call", other, CREAT},
	{"open_tree_reopen", "r", "open_tree, then opened again through /proc/self/fd",
		other, OPEN_TREE},
	{"int80_socketcall", "c", "connect by the 32-bit socketcall", other,
		SOCKETCALL},
	{"secret_socketcall", "cn", "the same with arguments in memfd_secret",
		secret_memory, 0},
	{0},
};
