/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_service_internal.h - what the files of the name service share; for name_*.c
 * alone.
 *
 * One thread serves all: sockets, connections and answers.  Others only note who has
 * which port, and pass answers of servers on.
 */
#ifndef AW_SUPERVISOR_NET_DNS_NAME_SERVICE_INTERNAL_H
#define AW_SUPERVISOR_NET_DNS_NAME_SERVICE_INTERNAL_H

#include <pthread.h>
#include <stdatomic.h>

#include "supervisor/decide/watch.h"
#include "supervisor/net/dns/name_apart.h"
#include "supervisor/net/dns/dns_policy.h"
#include "supervisor/net/dns/name_service.h"

enum {
	AW_NAME_QUERIES = 4096,	  /* that wait for an answer */
	AW_NAME_CONNECTIONS = 64, /* at the same time */
	AW_NAME_AT_ONCE = 32,	  /* questions of one connection */
	AW_NAME_IDLE_S = 10,
	AW_NAME_FAMILIES = 2,
	AW_NAME_PORTS = 65536,
};

/* Whatever the loop waits for begins with what it is. */
enum aw_name_kind {
	AW_NAME_WAKE,
	AW_NAME_DATAGRAMS,
	AW_NAME_LISTENER,
	AW_NAME_CONNECTION
};

struct aw_name_port {
	enum aw_name_kind kind;
	int fd;
	struct sockaddr_storage at;
};

/* A TCP connection; goes when it is closed and no answer is on its way to it. */
struct aw_name_connection {
	enum aw_name_kind kind;
	int fd;
	unsigned waiting; /* questions that are not answered */
	bool over;	  /* nobody reads it any more */
	int64_t last;	  /* when something came or went */
	struct sockaddr_storage from;
	size_t in_len, out_len, out_at;
	unsigned char in[2 + AW_DNS_QUERY];
	unsigned char *out; /* owned; out_len bytes from out_at on */
	struct aw_name_connection *prev, *next;
};

/* A question that is being dealt with. */
struct aw_name_query {
	struct aw_name_service *service;
	struct aw_name_case c;
	uint64_t ts;
	pid_t pid;
	struct aw_name_connection *connection; /* NULL: a datagram, to: */
	int fd;
	struct sockaddr_storage from;
	struct aw_resolved *answer;
	struct aw_name_query *prev, *next; /* of all */
	struct aw_name_query *done;	   /* of those that are answered */
};

struct aw_name_owner {
	_Atomic uint32_t pid, profiles;
};

struct aw_name_service {
	struct aw_watch *watch;
	struct aw_dns_policy law;
	struct aw_resolver *resolver;
	enum aw_name_reach reach;
	struct aw_netns *netns; /* where the sockets are; NULL: NEARBY */
	bool own_inner;		/* made for this */
	int loop, wake;
	pthread_t thread;
	bool started;
	_Atomic bool stop;
	pthread_mutex_t lock; /* for done and private */
	struct aw_name_query *done;
	struct private
	{
		struct aw_variable_names names; /* owned */
		struct private *older;		/* somebody may still look at it */
	}
	*private; /* owned */

	struct aw_name_port ports[2 * AW_NAME_SERVERS + 4];
	size_t port_count, served; /* served: servers that have been looked at */
	int64_t looked;
	struct aw_name_query *queries;
	size_t query_count;
	struct aw_name_connection *connections;
	size_t connection_count;
	/* who has sent: by protocol, family and port */
	struct aw_name_owner (*owners)[AW_NAME_FAMILIES][AW_NAME_PORTS];
	unsigned char reply[2 + AW_DNS_MESSAGE];
};

int64_t aw_name_seconds(void);

/* name_query.c: a message has come, on a connection or as a datagram. */
void aw_name_ask(struct aw_name_service *s, const unsigned char *bytes, size_t len,
	struct aw_name_connection *connection, int fd,
	const struct sockaddr_storage *from);
/* The answers that have come since. */
void aw_name_answer_done(struct aw_name_service *s);
void aw_name_on_resolved(void *ctx, struct aw_resolved *answer);
void aw_name_drop_queries(struct aw_name_service *s);

/* name_stream.c */
void aw_name_accept(struct aw_name_service *s, const struct aw_name_port *port);
void aw_name_serve_connection(
	struct aw_name_service *s, struct aw_name_connection *c, unsigned events);
/* room for len bytes of an answer is at s->reply + 2 */
void aw_name_send(struct aw_name_service *s, struct aw_name_connection *c, size_t len);
/* It is closed, and released once nothing is on its way to it. */
void aw_name_close(struct aw_name_service *s, struct aw_name_connection *c);
void aw_name_close_idle(struct aw_name_service *s);

#endif
