/* SPDX-License-Identifier: Apache-2.0 */
/* proxy_verdict.c - what the policy says of a name and of the addresses that it has. */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/private.h"
#include "supervisor/net/proxy/proxy_internal.h"

enum { HOSTS_MOST = 16 };

static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

static const struct aw_image *image_of(const struct aw_conn *conn)
{
	return atomic_load(&conn->server->watch->image);
}

static void decide(
	const struct aw_conn *conn, struct aw_address *address, struct aw_decision *ret)
{
	aw_image_decide_address_in(
		image_of(conn), conn->who.role.profiles, AW_CONNECT, address, ret);
}

struct aw_address aw_conn_address(
	const struct aw_conn *conn, const unsigned char bytes[16])
{
	bool old = memcmp(bytes, mapped, sizeof(mapped)) == 0;
	struct aw_address address = {
		.family = old ? AF_INET : AF_INET6, .port = conn->to.port};

	memcpy(address.bytes, old ? bytes + 12 : bytes, old ? 4 : 16);
	return address;
}

static struct aw_address with_name(
	const struct aw_conn *conn, const unsigned char bytes[16])
{
	struct aw_address address = aw_conn_address(conn, bytes);

	address.host = conn->to.family ? NULL : conn->to.host;
	return address;
}

/* The user's own file of names may lead anywhere. */
static bool is_in_hosts(const struct aw_conn *conn, const unsigned char bytes[16])
{
	unsigned char found[HOSTS_MOST][16];
	size_t count = aw_hosts_addresses(
		conn->server->hosts, conn->to.host, found, HOSTS_MOST);

	for (size_t i = 0; i < count; i++)
		if (memcmp(found[i], bytes, 16) == 0)
			return true;
	return false;
}

/* Does a name that anybody can have made lead where only people here can get? */
static bool is_rebound(const struct aw_conn *conn, const unsigned char bytes[16])
{
	const struct aw_variable_names *names = &conn->server->network->private_names;
	struct aw_address bare = aw_conn_address(conn, bytes);
	struct aw_decision decision;

	if (!aw_private_kind(&bare) ||
		!aw_private_is_public(conn->to.host, names->items, names->count) ||
		is_in_hosts(conn, bytes))
		return false;
	decide(conn, &bare, &decision); /* a rule about all names is none about it */
	return decision.verdict != AW_ALLOW ||
	       !aw_image_admits_address(image_of(conn), conn->who.role.profiles, &bare);
}

static void judge_address(const struct aw_conn *conn, const unsigned char bytes[16],
	struct aw_conn_verdict *ret)
{
	const struct aw_watch *watch = conn->server->watch;

	*ret = (struct aw_conn_verdict){.known = true,
		.decision = {AW_DENY, AW_NO_RULE},
		.address = with_name(conn, bytes)};
	decide(conn, &ret->address, &ret->decision);
	if (conn->to.family)
		aw_names_decide(watch->names, image_of(conn), conn->who.role.profiles,
			AW_CONNECT, &ret->address, &ret->decision);
	else if (ret->decision.verdict != AW_DENY && is_rebound(conn, bytes)) {
		ret->decision = (struct aw_decision){AW_DENY, AW_NO_RULE};
		ret->rebound = true;
	}
}

/*
 * At addresses of nobody: rules about all addresses count, and no others.  0.0.0.0
 * would be this machine.
 */
void aw_conn_judge_name(const struct aw_conn *conn, struct aw_conn_verdict *ret)
{
	static const unsigned char nobody4[16] = {
		[10] = 0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
	static const unsigned char nobody6[16] = {[0] = 0x01}; /* 100::/64, RFC 6666 */
	struct aw_address address = with_name(conn, nobody6);
	struct aw_decision other;

	ret->known = ret->rebound = false;
	decide(conn, &address, &other);
	address = with_name(conn, nobody4);
	decide(conn, &address, &ret->decision);
	if (other.verdict < ret->decision.verdict)
		ret->decision = other;
	ret->address = address;
}

/* The mildest of all addresses comes out; only those that have it are kept. */
void aw_conn_judge_all(struct aw_conn *conn, struct aw_conn_verdict *ret)
{
	size_t kept = 0;

	if (!conn->address_count) {
		aw_conn_judge_name(conn, ret);
		return;
	}
	for (size_t i = 0; i < conn->address_count; i++) {
		struct aw_conn_verdict one;

		judge_address(conn, conn->addresses[i], &one);
		if (i && one.decision.verdict > ret->decision.verdict)
			continue;
		if (!i || one.decision.verdict < ret->decision.verdict) {
			kept = 0;
			*ret = one;
		}
		memmove(conn->addresses[kept++], conn->addresses[i], 16);
	}
	conn->address_count = kept;
}
