/* SPDX-License-Identifier: Apache-2.0 */
/*
 * image.h - the compiled policy: one flat read-only block that answers questions.
 *
 * Offsets, no pointers: the same bytes are mapped by the supervisor and, at another
 * address, by every watched process.  Any number of threads may ask.  Deciding neither
 * allocates nor makes a system call nor uses more than 1 KB of stack, and is
 * async-signal-safe; its time depends on the length of the path, not on the number of
 * rules.  aw_image_check() must have accepted the bytes before anything else is called.
 */
#ifndef AW_POLICY_IMAGE_IMAGE_H
#define AW_POLICY_IMAGE_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/error.h"
#include "policy/verdict.h"

/*
 * Which profiles a process is in: bit n is profile n of the image.  A profile holds on
 * top of what holds for all, so the stricter verdict of both comes out, and of several
 * the strictest.  With AW_PROFILES_ALONE what holds for all is left out.
 */
#define AW_PROFILES 24
#define AW_PROFILES_ALONE 0x80000000u

struct aw_image; /* the block itself; starts with magic, version and its own size */

/* One rule as the log shows it; the strings point into the image. */
struct aw_rule {
	const char *file;  /* as given by the user */
	uint32_t line;	   /* from 1 */
	const char *text;  /* the entry as written, "!" included */
	const char *layer; /* system, global, agent, workspace, policy, preset,
			    * built-in */
};

/* 0 when size bytes at image are a whole, consistent image of this version. */
int aw_image_check(const void *image, size_t size, struct aw_error *err);

/* Size in bytes, as its header says. */
size_t aw_image_size(const struct aw_image *image);
enum aw_mode aw_image_mode(const struct aw_image *image);

/* True when some rule can answer AW_HIDE: only then is metadata worth watching. */
bool aw_image_hides(const struct aw_image *image);

/*
 * The verdict for one absolute, normalised path (no "//", ".", "..", no trailing slash
 * but for "/" itself) of len bytes; it need not be terminated.  AW_EXEC here judges the
 * path alone, see aw_image_decide_exec().
 */
void aw_image_decide_path(const struct aw_image *image, enum aw_action action,
	const char *path, size_t len, struct aw_decision *ret);

/* This and those below, for a process that is in profiles. */
void aw_image_decide_path_in(const struct aw_image *image, uint32_t profiles,
	enum aw_action action, const char *path, size_t len, struct aw_decision *ret);

/*
 * The same for a call that changes what is in the file, or puts something under its
 * name otherwise than by a rename: where the file is judged by its keys it is refused.
 */
void aw_image_decide_in_place(const struct aw_image *image, enum aw_action action,
	const char *path, size_t len, struct aw_decision *ret);
void aw_image_decide_in_place_in(const struct aw_image *image, uint32_t profiles,
	enum aw_action action, const char *path, size_t len, struct aw_decision *ret);

/*
 * Is this a configuration of git's that is judged by its keys (policy/git/gitconfig.h)?
 * Then nothing but a rename onto it may change it, after a look at what comes.  One
 * that lies in a directory that only the file system can tell for a repository is not
 * known here.
 */
bool aw_image_keyed(
	const struct aw_image *image, const char *path, size_t len, uint32_t *ret_rule);

/*
 * The patterns of these one after another: *at is 0 at first.  False at the end; at
 * once when the protection is off.
 */
bool aw_image_next_keyed(const struct aw_image *image, uint32_t *at,
	const char **ret_pattern, size_t *ret_len, uint32_t *ret_rule);

/*
 * Would moving the directory `from` to `to` take something along that a rule (deny,
 * hide, deny_write, ask) is about, to where that rule does not reach or an exception
 * ("!") takes it out?  True, with the rule and AW_DENY, or AW_ASK where only a question
 * would be left out.  Time grows with the number of rules: for symbolic links and
 * renames of directories alone.
 */
bool aw_image_carries(const struct aw_image *image, uint32_t profiles, const char *from,
	size_t from_len, const char *to, size_t to_len, struct aw_decision *ret);

/*
 * The same of programs that may not be run by their path, or not without a question,
 * when a directory or a program itself (directory is false) gets another name.
 */
bool aw_image_carries_programs(const struct aw_image *image, uint32_t profiles,
	bool folder, const char *from, size_t from_len, const char *to, size_t to_len,
	struct aw_decision *ret);

/*
 * The verdict for running path with argc strings in argv (argv[0] included).  Exec
 * needs the file's read verdict too; the stricter of both comes back.
 */
void aw_image_decide_exec(const struct aw_image *image, const char *path, size_t len,
	const char *const *argv, size_t argc, struct aw_decision *ret);
void aw_image_decide_exec_in(const struct aw_image *image, uint32_t profiles,
	const char *path, size_t len, const char *const *argv, size_t argc,
	struct aw_decision *ret);

/* An Internet or Unix address to judge.  host is the name it was reached by, or NULL. */
struct aw_address {
	int family;		 /* AF_INET, AF_INET6, AF_UNIX, or another one */
	uint16_t port;		 /* host byte order; 0 where there is none */
	unsigned char bytes[16]; /* network order; 4 used for AF_INET */
	const char *path;	 /* AF_UNIX: resolved path, or "@name" when abstract */
	size_t path_len;
	const char *host;
};

/*
 * The verdict for connect, bind (listen rules) or an addressed send.  IPv4-mapped IPv6
 * is judged as IPv4.  Families other than the three are denied when network.default is
 * deny, except AF_NETLINK and AF_UNSPEC, which are allowed.
 */
void aw_image_decide_address(const struct aw_image *image, enum aw_action action,
	const struct aw_address *address, struct aw_decision *ret);
void aw_image_decide_address_in(const struct aw_image *image, uint32_t profiles,
	enum aw_action action, const struct aw_address *address,
	struct aw_decision *ret);

/* The verdict for looking a name up: only a deny or ask entry by name can refuse it. */
void aw_image_decide_host(
	const struct aw_image *image, const char *host, struct aw_decision *ret);
void aw_image_decide_host_in(const struct aw_image *image, uint32_t profiles,
	const char *host, struct aw_decision *ret);

/*
 * May a name be reached at some port?  The mildest verdict of all ports, with its rule;
 * a denial has the rule that stands in the way, when there is one.  host is plain
 * (supervisor/net/proto/dns.h).  Time grows with the rules that are about this very
 * name.
 */
void aw_image_decide_name_in(const struct aw_image *image, uint32_t profiles,
	const char *host, struct aw_decision *ret);

/* Is an address allowed at some port, whatever its name?  "*" is no such rule. */
bool aw_image_admits_address(const struct aw_image *image, uint32_t profiles,
	const struct aw_address *address);

/*
 * Can any name at all be allowed?  And is there any rule, or default, by which one name
 * is judged otherwise than all, besides what is protected?  Both look at every rule.
 */
bool aw_image_admits_names(const struct aw_image *image, uint32_t profiles);
bool aw_image_judges_names(const struct aw_image *image);

/*
 * The names that connections are allowed to, one after another: *at is 0 at first. *ret
 * is not terminated and points into the image; wildcards are left out.  False at the
 * end.
 */
bool aw_image_next_name(
	const struct aw_image *image, uint32_t *at, const char **ret, size_t *ret_len);

/* Fill *ret for a rule index from a decision; false for AW_NO_RULE or nonsense. */
bool aw_image_rule(const struct aw_image *image, uint32_t rule, struct aw_rule *ret);

#endif
