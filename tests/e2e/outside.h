/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outside.h - what the files of the program have in common: outside.c
 * begins, the others have what it does with sockets, one thing a function, which prints
 * "name: result".
 */
#ifndef AW_TESTS_E2E_OUTSIDE_H
#define AW_TESTS_E2E_OUTSIDE_H

#include <sys/socket.h>

#define SERVER "192.0.2.10"
#define SERVER6 "2001:db8::10"
enum { ECHO = 8080, CLOSED = 8081, FULL = 8082, LOCAL = 9090 };

struct address {
	struct sockaddr_storage bytes;
	socklen_t len;
};

/* An address of either family; both. */
struct address at(const char *text, int port);
int join(int fd, const char *text, int port);

/* The name of errno; what came back of "hello"; who the peer is. */
const char *error(void);
const char *echoes(int fd);
const char *peer(int fd);

/* outside_same.c: the same with a sandbox and without; test_outside.sh compares them. */
void outside_tcp(void);
void outside_udp(void);
void outside_nonblocking(void);
void outside_nonblocking_refused(void);
void outside_epoll_before(void);
void outside_duplicates(void);
void outside_options(void);
void outside_threads(void);
void outside_refused(void);
void outside_interrupted(void);
void outside_datagrams(void);
void outside_fastopen(void);
void outside_inside(void);
void outside_to_and_fro(void);

/* outside_policy.c: what a policy makes a difference to. */
void outside_denied(void);
void outside_local(void);
void outside_name(void);
void outside_forked(void);

#endif
