/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dns.h - messages of the domain name system: questions in, answers out.
 *
 * RFC 1035, with EDNS (RFC 6891) and its extended errors (RFC 8914).  Whatever comes is
 * hostile: a question is one name, one type and nothing else, and a message that we
 * write is made of what was understood, so that nothing rides along.  Nothing here
 * allocates.
 */
#ifndef AW_SUPERVISOR_NET_PROTO_DNS_H
#define AW_SUPERVISOR_NET_PROTO_DNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	AW_DNS_WIRE = 255,	/* a name in a message, at most */
	AW_DNS_NAME = 254,	/* the same as text, terminated */
	AW_DNS_QUERY = 512,	/* no question is longer; longer ones are refused */
	AW_DNS_MESSAGE = 65535, /* an answer, at most */
};

enum aw_dns_code {
	AW_DNS_FINE,
	AW_DNS_FORMAT,	  /* cannot be read */
	AW_DNS_FAILURE,	  /* no server has answered */
	AW_DNS_NO_NAME,	  /* NXDOMAIN */
	AW_DNS_NOT_BUILT, /* not a plain question */
	AW_DNS_REFUSED,
	AW_DNS_VERSION = 16, /* of EDNS: BADVERS */
};

enum aw_dns_type {
	AW_DNS_A = 1,
	AW_DNS_NS = 2,
	AW_DNS_CNAME = 5,
	AW_DNS_SOA = 6,
	AW_DNS_PTR = 12,
	AW_DNS_MX = 15,
	AW_DNS_AAAA = 28,
	AW_DNS_SRV = 33,
	AW_DNS_DNAME = 39,
	AW_DNS_OPT = 41,
	AW_DNS_SVCB = 64,
	AW_DNS_HTTPS = 65,
	AW_DNS_ANY = 255,
};

/* Extended errors (RFC 8914): why there is no answer. */
enum aw_dns_why { AW_DNS_NO_WHY = -1, AW_DNS_BLOCKED = 15, AW_DNS_FILTERED = 17 };

struct aw_dns_question {
	uint16_t id, type, class;
	bool recursion; /* it was wished for: RD */
	bool edns;
	uint16_t room;			 /* of a datagram that it takes */
	unsigned char wire[AW_DNS_WIRE]; /* the name as it was asked, for the answer */
	uint8_t wire_len;		 /* 0: there is none to be repeated */
	char name[AW_DNS_NAME]; /* in lower case, without the last dot; "": the root
				 */
	bool plain; /* letters, digits, "-" and "_" alone; others stand as "?" in name
		     */
};

/*
 * Read a question.  -1: nothing that should be answered.  Else a code to answer with,
 * AW_DNS_FINE if it is a question for one name of the Internet; id and, where the name
 * could be read, wire are filled in whatever it is.
 */
int aw_dns_read(const unsigned char *bytes, size_t len, struct aw_dns_question *ret);

/* The same question as a message of ours; its length, 0: no room. */
size_t aw_dns_write(const struct aw_dns_question *q, unsigned char *to, size_t size);

/*
 * A name as people write it, in any case and perhaps with a dot at its end, made plain:
 * lower case, no last dot.  False: no name that a rule could have (empty, a label of
 * 0 or more than 63 bytes, more than 253 bytes, or bytes other than letters, digits,
 * "-" and "_").
 */
bool aw_dns_plain_name(const char *text, size_t len, char ret[AW_DNS_NAME]);

/* A plain name as it stands in messages; its length, 0: it is none. */
size_t aw_dns_name_to_wire(const char *name, unsigned char ret[AW_DNS_WIRE]);

/* The word for a type, as in the log, or "TYPE123" in text. */
const char *aw_dns_type_name(unsigned type, char text[16]);

/* One record of an answer. */
struct aw_dns_record {
	uint8_t section; /* 1: answer, 2: authority, 3: additional */
	uint16_t type, class;
	uint32_t ttl;
	unsigned char owner[AW_DNS_WIRE];
	uint8_t owner_len;
	const unsigned char *data; /* in the message, or in room */
	size_t data_len;
	unsigned char room[1024]; /* data whose names had to be written out */
};

/* An answer that is read record by record; the bytes stay the caller's. */
struct aw_dns_reader {
	const unsigned char *bytes;
	size_t len, at;
	unsigned left[4]; /* records of each section that follow */
	int code;	  /* of the answer */
};

/* False: it is no answer. */
bool aw_dns_open(struct aw_dns_reader *reader, const unsigned char *bytes, size_t len);

/*
 * 1: a record; 0: there are no more; -1: the rest cannot be read.  Names in the data of
 * the types that may be compressed (RFC 3597, 4) are whole.
 */
int aw_dns_next(struct aw_dns_reader *reader, struct aw_dns_record *ret);

/*
 * Take the addresses out of an HTTPS or SVCB record (ipv4hint, ipv6hint: RFC 9460); an
 * address counts only when it was asked for.  False: it makes no sense without them.
 */
bool aw_dns_strip_hints(struct aw_dns_record *record);

/* An answer that is being written. */
struct aw_dns_writer {
	unsigned char *to;
	size_t size, len, reserved;
	unsigned counts[4];
	bool full; /* something had no room: the answer says so (TC) */
	const struct aw_dns_question *q;
	int code;
};

/*
 * Begin the answer to a question; size is the room of to.  Then records of one section
 * after another, then the end, with the reason when one is wanted; it returns the
 * length.
 */
void aw_dns_begin(struct aw_dns_writer *w, const struct aw_dns_question *q, int code,
	unsigned char *to, size_t size);
void aw_dns_put(
	struct aw_dns_writer *w, const struct aw_dns_record *record, uint32_t ttl);
size_t aw_dns_end(struct aw_dns_writer *w, int why, const char *text);

#endif
