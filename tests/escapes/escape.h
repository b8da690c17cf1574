/* SPDX-License-Identifier: Apache-2.0 */
/*
 * escape.h - one attempt to get round a denial, and the same done where it is allowed.
 *
 * An attempt is a function that is run twice, each time in a child and a scratch folder
 * of its own: once with a target that the policy denies, once (its twin) with one that
 * it allows.  What the function says is only a hint: the harness (run.py) looks for the
 * effect, which is what `kind` is about.
 *
 * The folders and addresses of a target are made by stage.py.
 */
#ifndef AW_TESTS_ESCAPES_ESCAPE_H
#define AW_TESTS_ESCAPES_ESCAPE_H

#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/un.h>

/* What a function returns: 0 for done, an errno, or this. */
#define NOT_HERE (-1)

struct target {
	const char *root;  /* the stage */
	const char *name;  /* of the attempt */
	const char *what;  /* its sentence; the last word is a path for kind f */
	bool denied;	   /* false: the twin */
	char read[512];	   /* a file whose content is wanted */
	char hidden[512];  /* one that is hidden; the twin's is not */
	char pattern[512]; /* one that is denied by a pattern, **\/\*.pem */
	char write[512];   /* a file that may be read and not changed */
	char below[512];   /* a file outside the workspace, read-only by default */
	char program[512]; /* a program that prints its marker */
	char deep[512];	   /* folder/secret/key is wanted; folder itself has no rule */
	char stream[512];  /* a Unix stream socket, a datagram one */
	char dgram[512];
	char abstract[100];	 /* the name of an abstract stream socket */
	char work[512];		 /* the scratch folder, where it is started */
	struct sockaddr_in inet; /* TCP and UDP server; bind to this address */
	pid_t pid;		 /* a process outside; the twin's is a child */
	unsigned long memory;	 /* where it keeps a secret of 64 bytes */
	int fd;			 /* number of a descriptor of a secret file there */
	char got[256];		 /* what was read; printed */
};

/*
 * kind: what is wanted and so what the harness looks at
 *   r  the content of read, hidden, deep, ... on stdout
 *   w  a change below write or below
 *   x  the marker of program on stdout
 *   c  a connection or datagram at the server
 *   b  a datagram from the address
 *   u  a connection or datagram at a Unix socket
 *   p  a process outside: its memory on stdout, its memory changed, a signal, its end
 *   s  a process of agentwatch: what the attempt says itself counts
 *   f  a change of the file that the last word of `what` names, below w
 *   t  text in the input queue of the terminal; run on one
 *   1  in a run of its own, since success ends the run
 *   n  without a twin: enforce refuses it as a whole
 *   R  as root only
 */
struct attempt {
	const char *name, *kind;
	const char *what; /* for docs/ESCAPES.md */
	int (*go)(struct target *t, int arg);
	int arg;
};

/* One table a theme; each ends with a NULL name. */
extern const struct attempt calls_table[], paths_table[], race_table[],
	race_bind_table[], change_table[], exec_table[], peek_table[], process_table[],
	spaces_table[], net_table[], options_table[], ways_table[], unix_table[],
	uring_table[], session_table[];

extern int tries;	 /* of a race */
extern const char *self; /* the path of this program */
extern pid_t started_by; /* the process above the first of it */

/* System calls that no library stands before; the result is -errno. */
long raw(long nr, long a, long b, long c, long d, long e, long f);
/* The same by calling code at an address: `syscall; ret`. */
long raw_at(const void *code, long nr, long a, long b, long c, long d, long e, long f);
/* The same with int 0x80; pointers must be below 4 GB: see low(). */
long raw_int80(long nr, long a, long b, long c, long d, long e);
/* A copy of bytes below 4 GB, or NULL. */
void *low(const void *bytes, size_t size);

/* Read from a descriptor into t->got, and close it; fd < 0: errno as it is. */
int take(struct target *t, int fd);
/* Open and take. */
int take_path(struct target *t, const char *path);
/* Change a file that is open, and close it. */
int poke(int fd);
/* 0 or errno of a call that returns -1. */
int result(long rc);
/* Status of a child that did something: 0, or the errno that it exited with. */
int child_result(pid_t child);
/* The socket of a family and type, connected; 0 or errno. */
int connect_to(const void *address, socklen_t size, int type);
/* sockaddr_un of a path, or of an abstract name. */
socklen_t unix_address(const char *name, bool abstract, struct sockaddr_un *ret);
/* The twin's process "outside": a child with the same secrets. */
int own_victim(struct target *t);
/* "EACCES" and so on; musl has no function for it. */
const char *errno_name(int code);
/* A time in ms. */
long now(void);
/* Write a whole small file, as text. */
int put(const char *path, const char *text);

#endif
