/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proxy_internal.h - one client of the proxy, from its first byte to the relay.
 *
 * All of this belongs to the proxy's thread.  Each function leaves the connection in a
 * state in which something will happen: an event, an answer, or its deadline.
 */
#ifndef AW_SUPERVISOR_NET_PROXY_PROXY_INTERNAL_H
#define AW_SUPERVISOR_NET_PROXY_PROXY_INTERNAL_H

#include "policy/load/load.h"
#include "supervisor/decide/hosts.h"
#include "supervisor/net/egress/egress.h"
#include "supervisor/net/proto/proxy_request.h"
#include "supervisor/net/proxy/async_lookup.h"
#include "supervisor/net/proxy/looks.h"
#include "supervisor/net/proxy/proxy.h"

enum aw_conn_state {
	AW_CONN_HEAD,	 /* reads what the client wants */
	AW_CONN_WHO,	 /* is being looked at */
	AW_CONN_LOOKUP,	 /* waits for addresses */
	AW_CONN_ASK,	 /* waits for a human */
	AW_CONN_CONNECT, /* waits for outside */
	AW_CONN_TALK,	 /* speaks with a proxy upstream */
	AW_CONN_ANSWER,	 /* has said no; the client may still send */
	AW_CONN_OVER,	 /* to be freed, or in the relay already */
};

enum {
	AW_CONN_HEAD_MS = 10000, /* for all of the client's words */
	AW_CONN_WHO_MS = 20000,
	AW_CONN_LOOKUP_MS = 20000,
	AW_CONN_TRY_MS = 10000, /* for one address of several */
	AW_CONN_CONNECT_MS = 60000,
	AW_CONN_TALK_MS = 30000,
	AW_CONN_ANSWER_MS = 2000,
	AW_CONN_REASON = 512,
};

struct aw_conn;

/* What an event points at. */
struct aw_conn_end {
	struct aw_conn *conn;
	int fd; /* owned; -1 */
};

/* Why a request cannot be read. */
struct aw_conn_mistake {
	int status;
	enum aw_socks_reply reply;
	const char *reason; /* lives for ever; NULL: it can */
};

struct aw_conn {
	struct aw_proxy_server *server;
	struct aw_conn *next;
	enum aw_conn_state state;
	uint64_t deadline; /* CLOCK_MONOTONIC, milliseconds */
	uint64_t id;
	struct aw_conn_end client, outside;

	/* what the client says */
	char in[AW_HTTP_HEAD];
	size_t in_len, used; /* used: by the request */
	bool socks, greeted;
	struct aw_http_request http;
	struct aw_proxy_to to;
	struct aw_conn_mistake mistake;
	bool looked_at; /* in AW_CONN_WHO, or closed since then */
	struct aw_process_info who;

	/* where it leads */
	const struct aw_upstream *upstream;
	unsigned char addresses[AW_FOUND_MAX][16];
	size_t address_count, address_next;
	int trouble;		 /* errno of the last address */
	uint64_t question;	 /* a human's to answer, or 0 */
	bool judged;		 /* what is looked up is the proxy upstream */
	struct aw_connection is; /* as the log will tell it */
	struct aw_address judged_as;
	uint32_t asked;		 /* the rule that a human said yes to, or AW_NO_RULE */
	struct aw_proxy_to sent; /* what that is asked for */

	/* the talk with a proxy upstream */
	int step;
	char talk[AW_HTTP_HEAD];
};

struct aw_proxy_server {
	struct aw_watch *watch;
	struct aw_relay *relay;
	const struct aw_upstreams *upstreams;
	const struct aw_network *network;
	uint16_t port;
	int listener, epoll, wake;
	_Atomic bool ending;
	pthread_t thread;
	struct aw_looks *looks;
	struct aw_async_lookup *finder;
	struct aw_hosts *hosts;
	struct aw_conn *all; /* owned */
	size_t count;
	bool full; /* nobody else is listened for */
	uint64_t last_id;
};

enum { AW_SOCKS_VERSION = 5 };

/* proxy_reply.c */
uint64_t aw_conn_now(void);
/* Wait for these events of one end; 0: none but its breaking. */
void aw_conn_watch(struct aw_conn *conn, struct aw_conn_end *end, unsigned events);
void aw_conn_close(struct aw_conn *conn);
void aw_conn_say(const struct aw_conn *conn, const void *bytes, size_t len);
/* status is for HTTP, reply for SOCKS; reason is one sentence. */
void aw_conn_refuse(struct aw_conn *conn, int status, enum aw_socks_reply reply,
	const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* The answer to a request that has come about, into to; its length. */
size_t aw_conn_agree(const struct aw_conn *conn, char *to, size_t size);

/* proxy_client.c: the client's words */
void aw_conn_read(struct aw_conn *conn);
/* What it may still send is read, so that our answer is not lost. */
void aw_conn_drain(struct aw_conn *conn);

/* proxy_verdict.c */
struct aw_conn_verdict {
	struct aw_decision decision;
	struct aw_address address; /* its host points into the connection */
	bool known;   /* address is filled in; else the name alone was judged */
	bool rebound; /* a public name that leads to a private address */
};

/* Of the name alone: the milder one of what it could be in either family. */
void aw_conn_judge_name(const struct aw_conn *conn, struct aw_conn_verdict *ret);

/* The mildest of all addresses comes out; only those that have it are kept. */
void aw_conn_judge_all(struct aw_conn *conn, struct aw_conn_verdict *ret);

/* proxy_who.c */
/* A whole request: who has sent it? */
void aw_conn_begin(struct aw_conn *conn);
void aw_conn_looked_at(struct aw_conn *conn, const struct aw_looked *looked);
/* The same for one that cannot be read: it is refused, and in the log then. */
void aw_conn_bad(struct aw_conn *conn, int status, enum aw_socks_reply reply,
	const char *reason);

/* proxy_judge.c */
/* It is known who asks: whether, and by what way. */
void aw_conn_set_out(struct aw_conn *conn);
void aw_conn_looked_up(struct aw_conn *conn, const struct aw_found *found);
/* One of its addresses, without the name. */
struct aw_address aw_conn_address(
	const struct aw_conn *conn, const unsigned char bytes[16]);
/* Judge, and go on or refuse; again while a human is asked. */
void aw_conn_judge(struct aw_conn *conn);
/* It does not wait for a human any more. */
void aw_conn_leave(struct aw_conn *conn);

/* proxy_outside.c */
/* To the first of the addresses, or to the proxy upstream. */
void aw_conn_connect(struct aw_conn *conn);
/* Something has happened there, or its time is over. */
void aw_conn_outside(struct aw_conn *conn);
void aw_conn_too_late(struct aw_conn *conn);

/* proxy_upstream.c: 1 when the way is open, 0 when it goes on, -1 with a reason */
int aw_conn_talk(struct aw_conn *conn, char *reason, size_t size);

#endif
