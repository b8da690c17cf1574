/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - one call, one answer: the calls a probe can make.
 */
#ifndef AW_TESTS_E2E_PROBE_H
#define AW_TESTS_E2E_PROBE_H

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

/* What has to be there before the call; the names are those of --list. */
enum kind {
	KIND_FILE,     /* a: a regular file */
	KIND_NEW,      /* a: nothing yet */
	KIND_PAIR,     /* a: a file, b: nothing yet */
	KIND_DIR,      /* a: an empty directory */
	KIND_LINK,     /* a: a symbolic link */
	KIND_PROGRAM,  /* a: a program that ends with status 0 */
	KIND_OPENED,   /* the same, opened for reading first */
	KIND_TEMPLATE, /* a: nothing; the call adds six letters */
	KIND_INET,     /* a: an IPv4 address */
	KIND_STREAM,   /* a: a listening Unix stream socket */
	KIND_DGRAM,    /* a: a bound Unix datagram socket */
	KIND_HOST,     /* a: a host name */
	KIND_NONE,
};

struct probe {
	const char *name; /* "open64", "raw:openat" without its prefix, "open.create" */
	enum kind kind;
	const char *action; /* as in the log */
	long (*run)(
		const char *a, const char *b); /* NULL in the table of system calls */
	const char *spec; /* one letter an argument; system calls only */
	long nr, nr_i386;
};

extern const struct probe probe_functions[],
	probe_syscalls[]; /* end with a NULL name */

/* errno of a preparing open that failed: the call itself was never reached. */
extern int probe_barred;

/* Makes the system call of a row: how is "raw", "sys", "int80" or "x32".  Sets errno. */
long probe_syscall(
	const struct probe *probe, const char *how, const char *a, const char *b);

/* The address in a (Unix path when it has a slash); PROBE_PORT holds the port. */
socklen_t probe_address(const char *a, struct sockaddr_storage *ret);

/* A socket that fits the address in a; datagram when dgram. */
int probe_socket(const char *a, int dgram);

#endif
