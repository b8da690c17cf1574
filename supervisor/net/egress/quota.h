/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quota.h - how many connections to outside, and how many bytes: `limits` of a policy.
 *
 * All functions may be called by any thread at any time.
 */
#ifndef AW_SUPERVISOR_NET_EGRESS_QUOTA_H
#define AW_SUPERVISOR_NET_EGRESS_QUOTA_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "policy/load/load.h"

struct aw_quota {
	pthread_mutex_t lock;
	uint64_t connections, bytes;	/* the limits; 0: none */
	struct aw_begun {		/* owned: the last of them, the oldest at at */
		uint64_t time;		/* 0: there was none */
		struct aw_address peer; /* of datagrams; family 0: a connection */
	} * begun;
	uint64_t size, at;
	uint64_t sent;
};

void aw_quota_init(struct aw_quota *quota);
void aw_quota_release(struct aw_quota *quota);

/* The limits from now on; what has been counted stays. */
void aw_quota_limit(struct aw_quota *quota, const struct aw_limits *limits);

/* May one more connection begin now?  It is counted, if so. */
bool aw_quota_connect(struct aw_quota *quota);

/* May a datagram be sent to this peer?  It is counted once a minute. */
bool aw_quota_datagram(struct aw_quota *quota, const struct aw_address *peer);

/* May so many bytes more be sent?  They are counted, if so. */
bool aw_quota_send(struct aw_quota *quota, uint64_t bytes);

#endif
