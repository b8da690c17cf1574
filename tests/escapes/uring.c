/* SPDX-License-Identifier: Apache-2.0 */
/* uring.c - calls made by the kernel on request of an io_uring */
#define _GNU_SOURCE
#include <fcntl.h>
#include <linux/io_uring.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/escapes/escape.h"

/* One request on a ring of its own; the result is -errno. */
static int submit(const struct io_uring_sqe *request)
{
	struct io_uring_params params = {0};
	int ring = syscall(SYS_io_uring_setup, 4, &params);
	struct io_uring_sqe *sqes;
	struct io_uring_cqe *cqe;
	char *sq;
	unsigned *array;

	if (ring < 0)
		return -errno;
	sq = mmap(NULL, params.cq_off.cqes + params.cq_entries * sizeof *cqe,
		PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	sqes = mmap(NULL, params.sq_entries * sizeof *sqes, PROT_READ | PROT_WRITE,
		MAP_SHARED, ring, IORING_OFF_SQES);
	if (sq == MAP_FAILED || sqes == MAP_FAILED)
		return -errno;
	sqes[0] = *request;
	array = (unsigned *)(sq + params.sq_off.array);
	array[0] = 0;
	__atomic_store_n((unsigned *)(sq + params.sq_off.tail), 1, __ATOMIC_RELEASE);
	if (syscall(SYS_io_uring_enter, ring, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) <
		0)
		return -errno;
	cqe = (struct io_uring_cqe *)(sq + params.cq_off.cqes);
	return cqe->res;
}

static int open_by(struct target *t, int flags)
{
	struct io_uring_sqe request = {.opcode = IORING_OP_OPENAT, .fd = AT_FDCWD};
	int fd;

	request.addr = (unsigned long)(flags == O_RDONLY ? t->read : t->write);
	request.open_flags = flags;
	fd = submit(&request);
	if (fd < 0)
		return -fd;
	return flags == O_RDONLY ? take(t, fd) : poke(fd);
}

static int connect_by(struct target *t, int arg)
{
	struct io_uring_sqe request = {.opcode = IORING_OP_CONNECT};

	(void)arg;
	request.fd = socket(AF_INET, SOCK_STREAM, 0);
	request.addr = (unsigned long)&t->inet;
	request.off = sizeof t->inet;
	return -submit(&request);
}

static int unlink_by(struct target *t, int arg)
{
	struct io_uring_sqe request = {.opcode = IORING_OP_UNLINKAT, .fd = AT_FDCWD};

	(void)arg;
	request.addr = (unsigned long)t->write;
	return -submit(&request);
}

const struct attempt uring_table[] = {
	{"uring_open", "rn", "openat by io_uring", open_by, O_RDONLY},
	{"uring_write", "wn", "openat for writing by io_uring", open_by,
		O_WRONLY | O_TRUNC},
	{"uring_connect", "cn", "connect by io_uring", connect_by, 0},
	{"uring_unlink", "wn", "unlinkat by io_uring", unlink_by, 0},
	{0},
};
