/* SPDX-License-Identifier: Apache-2.0 */
/*
 * host_names.c - a cache of the addresses that allowed names have.
 *
 * Entries are only ever added, so that a name that was handed out stays; a look-up goes
 * on without the lock, since a name server may take seconds.
 */
#include "supervisor/decide/host_names.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>

#include "supervisor/decide/hosts.h"
#include "supervisor/decide/dns_cache.h"
#include "supervisor/util/cleanup.h"

enum { NAMES_MAX = 16 }; /* of one address that are looked at */

struct place {
	unsigned char bytes[16]; /* IPv4-mapped */
	time_t seen;
};

struct name {
	char *text;	      /* owned */
	bool used;	      /* some rule of the present policy has it */
	struct place *places; /* owned */
	size_t count;
	struct name *next;
};

struct aw_names {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* there are look-ups to make, or it ends */
	struct name *all;	/* newest first; owned */
	size_t used;		/* how many are */
	unsigned users;		/* the owner, and the thread while it runs */
	bool running, stop, wanted;
	time_t last;	     /* when the latest round ended */
	_Atomic bool served; /* by a name service; for good, and these are there */
	struct aw_dns_cache *learned; /* owned */
	struct aw_hosts *hosts;	      /* owned */
};

static time_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static void release(struct aw_names *names)
{
	struct name *next;
	bool last;

	pthread_mutex_lock(&names->lock);
	last = --names->users == 0;
	pthread_mutex_unlock(&names->lock);
	if (!last)
		return;
	for (struct name *n = names->all; n; n = next) {
		next = n->next;
		free(n->places);
		free(n->text);
		free(n);
	}
	aw_dns_cache_free(names->learned);
	aw_hosts_free(names->hosts);
	pthread_cond_destroy(&names->changed);
	pthread_mutex_destroy(&names->lock);
	free(names);
}

static struct name *find(struct aw_names *names, const char *text, size_t len)
{
	struct name *n = names->all;

	while (n && (strlen(n->text) != len || memcmp(n->text, text, len) != 0))
		n = n->next;
	return n;
}

static struct name *add(struct aw_names *names, const char *text, size_t len)
{
	struct name *n = calloc(1, sizeof(*n));

	if (n)
		n->text = strndup(text, len);
	if (!n || !n->text) {
		free(n);
		return NULL;
	}
	n->next = names->all;
	names->all = n;
	return n;
}

/* With the lock held. */
static int take_rules(struct aw_names *names, const struct aw_image *image)
{
	const char *text;
	uint32_t at = 0;
	size_t len;

	names->used = 0;
	for (struct name *n = names->all; n; n = n->next)
		n->used = false;
	while (aw_image_next_name(image, &at, &text, &len)) {
		struct name *n = find(names, text, len);

		/* its addresses stand in the rule already */
		if (len == 9 && memcmp(text, "localhost", 9) == 0)
			continue;
		if (!n)
			n = add(names, text, len);
		if (!n)
			return -1;
		names->used += !n->used;
		n->used = true;
	}
	names->last = 0;
	return 0;
}

int aw_names_reload(
	struct aw_names *names, const struct aw_image *image, struct aw_error *err)
{
	int failed;

	pthread_mutex_lock(&names->lock);
	failed = take_rules(names, image);
	pthread_mutex_unlock(&names->lock);
	return failed ? aw_fail(err, ENOMEM, "remembering allowed names") : 0;
}

int aw_names_create(
	const struct aw_image *image, struct aw_names **ret, struct aw_error *err)
{
	struct aw_names *names = calloc(1, sizeof(*names));

	if (!names)
		return aw_fail(err, ENOMEM, "remembering allowed names");
	pthread_mutex_init(&names->lock, NULL);
	pthread_cond_init(&names->changed, NULL);
	names->users = 1;
	names->hosts = aw_hosts_new("/etc/hosts");
	if (!names->hosts) {
		release(names);
		return aw_fail(err, ENOMEM, "remembering allowed names");
	}
	if (aw_names_reload(names, image, err) < 0) {
		release(names);
		return -1;
	}
	*ret = names;
	return 0;
}

static bool to_bytes(const struct sockaddr *address, unsigned char bytes[16])
{
	static const unsigned char mapped[12] = {
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};

	if (address->sa_family == AF_INET6) {
		memcpy(bytes,
			&((const struct sockaddr_in6 *)(const void *)address)
				 ->sin6_addr,
			16);
		return true;
	}
	if (address->sa_family != AF_INET)
		return false;
	memcpy(bytes, mapped, 12);
	memcpy(bytes + 12,
		&((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
	return true;
}

/* With the lock held: the name has this address now. */
static void note_place(struct name *n, const unsigned char bytes[16])
{
	struct place *grown;

	for (size_t i = 0; i < n->count; i++)
		if (memcmp(n->places[i].bytes, bytes, 16) == 0) {
			n->places[i].seen = now();
			return;
		}
	grown = realloc(n->places, (n->count + 1) * sizeof(*grown));
	if (!grown)
		return;
	n->places = grown;
	memcpy(grown[n->count].bytes, bytes, 16);
	grown[n->count++].seen = now();
}

static void forget_old(struct name *n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n->count; i++)
		if (now() - n->places[i].seen <= AW_NAMES_KEEP_S)
			n->places[kept++] = n->places[i];
	n->count = kept;
}

/* With the lock held, but for the look-up itself. */
static void look_up(struct aw_names *names, struct name *n)
{
	static const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *found = NULL;
	unsigned char bytes[16];
	int failed;

	pthread_mutex_unlock(&names->lock);
	failed = getaddrinfo(n->text, NULL, &hints, &found);
	pthread_mutex_lock(&names->lock);
	forget_old(n);
	if (failed)
		return;
	for (const struct addrinfo *a = found; a; a = a->ai_next)
		if (to_bytes(a->ai_addr, bytes))
			note_place(n, bytes);
	freeaddrinfo(found);
}

static void *main_of_thread(void *arg)
{
	struct aw_names *names = arg;

	pthread_mutex_lock(&names->lock);
	while (!names->stop) {
		if (!names->wanted) {
			pthread_cond_wait(&names->changed, &names->lock);
			continue;
		}
		names->wanted = false;
		for (struct name *n = names->all; n && !names->stop; n = n->next)
			if (n->used)
				look_up(names, n);
		names->last = now();
	}
	pthread_mutex_unlock(&names->lock);
	release(names);
	return NULL;
}

/* With the lock held; without a thread to do it nothing is known. */
static void want_look_ups(struct aw_names *names)
{
	pthread_attr_t attributes;
	pthread_t thread;

	names->wanted = true;
	pthread_cond_broadcast(&names->changed);
	if (names->running)
		return;
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	names->users++;
	names->running =
		pthread_create(&thread, &attributes, main_of_thread, names) == 0;
	pthread_attr_destroy(&attributes);
	if (names->running)
		pthread_setname_np(thread, "aw-names");
	else
		names->users--;
}

static size_t known(struct aw_names *names, const unsigned char bytes[16],
	const char *ret[], size_t max)
{
	size_t count = 0;

	for (const struct name *n = names->all; n && count < max; n = n->next)
		for (size_t i = 0; n->used && i < n->count; i++)
			if (memcmp(n->places[i].bytes, bytes, 16) == 0) {
				ret[count++] = n->text;
				break;
			}
	return count;
}

/* With the lock held: are they to be looked up, since they are old or unknown? */
static bool is_due(const struct aw_names *names, size_t count)
{
	time_t age = now() - names->last;

	return !names->last || age >= AW_NAMES_FRESH_S ||
	       (!count && age >= AW_NAMES_RETRY_S);
}

static bool key_of(const struct aw_address *address, unsigned char ret[16])
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

	if (address->family != AF_INET && address->family != AF_INET6)
		return false;
	memcpy(ret, mapped, 12);
	memcpy(address->family == AF_INET ? ret + 12 : ret, address->bytes,
		address->family == AF_INET ? 4 : 16);
	return true;
}

size_t aw_names_of(struct aw_names *names, const struct aw_address *address,
	const char *ret[], size_t max)
{
	unsigned char bytes[16];
	size_t count = 0;

	if (!key_of(address, bytes))
		return 0;
	pthread_mutex_lock(&names->lock);
	if (names->used) {
		count = known(names, bytes, ret, max);
		if (is_due(names, count))
			want_look_ups(names);
	}
	pthread_mutex_unlock(&names->lock);
	return count;
}

int aw_names_serve(struct aw_names *names, struct aw_error *err)
{
	if (names->served)
		return 0;
	names->learned = aw_dns_cache_new();
	if (!names->learned)
		return aw_fail(err, ENOMEM, "remembering the addresses of names");
	names->served = true;
	return 0;
}

struct aw_hosts *aw_names_hosts(const struct aw_names *names)
{
	return names->hosts;
}

void aw_names_learn(struct aw_names *names, const char *name,
	const struct aw_address *address, bool guarded, uint32_t ttl)
{
	unsigned char bytes[16];
	time_t t = now();

	if (!key_of(address, bytes))
		return;
	pthread_mutex_lock(&names->lock);
	aw_dns_cache_add(names->learned, bytes, name, guarded, t,
		t + (ttl > AW_NAMES_KEEP_S ? ttl : AW_NAMES_KEEP_S));
	pthread_mutex_unlock(&names->lock);
}

size_t aw_names_learned(struct aw_names *names, const struct aw_address *address,
	char (*ret)[AW_DNS_NAME], bool *ret_guarded, size_t max)
{
	unsigned char bytes[16];
	size_t count, all;

	if (!key_of(address, bytes))
		return 0;
	pthread_mutex_lock(&names->lock);
	count = aw_dns_cache_find(names->learned, bytes, now(), ret, ret_guarded, max);
	pthread_mutex_unlock(&names->lock);
	all = count + aw_hosts_names(names->hosts, bytes, ret + count, max - count);
	for (; ret_guarded && count < all; count++)
		ret_guarded[count] = false;
	return all;
}

/* The mildest verdict of all its names; without one it stays as it is. */
static void decide_served(struct aw_names *names, const struct aw_image *image,
	uint32_t profiles, enum aw_action action, struct aw_address *address,
	struct aw_decision *decision)
{
	static _Thread_local char found[NAMES_MAX][AW_DNS_NAME]; /* outlives us */
	bool guarded[NAMES_MAX];
	size_t count = aw_names_learned(names, address, found, guarded, NAMES_MAX);
	const struct aw_decision bare = *decision;
	const char *best = NULL;

	for (size_t i = 0; i < count; i++) {
		struct aw_decision by_name;

		address->host = found[i];
		aw_image_decide_address_in(image, profiles, action, address, &by_name);
		if (guarded[i] && by_name.verdict < bare.verdict)
			by_name = bare;
		if (!best || by_name.verdict < decision->verdict) {
			best = found[i];
			*decision = by_name;
		}
	}
	address->host = best;
}

void aw_names_decide(struct aw_names *names, const struct aw_image *image,
	uint32_t profiles, enum aw_action action, struct aw_address *address,
	struct aw_decision *decision)
{
	const char *found[NAMES_MAX];
	struct aw_decision by_name;
	size_t count;

	if (!names || action == AW_BIND || address->host)
		return;
	if (names->served) {
		decide_served(names, image, profiles, action, address, decision);
		return;
	}
	if (decision->verdict != AW_DENY || decision->rule != AW_NO_RULE)
		return;
	count = aw_names_of(names, address, found, NAMES_MAX);
	for (size_t i = 0; i < count; i++) {
		address->host = found[i];
		aw_image_decide_address_in(image, profiles, action, address, &by_name);
		if (by_name.verdict == AW_ALLOW) {
			*decision = by_name;
			return;
		}
	}
	address->host = NULL;
}

void aw_names_free(struct aw_names *names)
{
	if (!names)
		return;
	pthread_mutex_lock(&names->lock);
	names->stop = true;
	pthread_cond_broadcast(&names->changed);
	pthread_mutex_unlock(&names->lock);
	release(names);
}
