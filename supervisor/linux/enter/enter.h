/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enter.h - what supervisor and agentwatch-enter say to each other.
 */
#ifndef AW_SUPERVISOR_LINUX_ENTER_ENTER_H
#define AW_SUPERVISOR_LINUX_ENTER_ENTER_H

#include <stdint.h>

#define AW_ENTER_FILTER_MAX 512
#define AW_ENTER_PATH_MAX 4096
#define AW_ENTER_FAILED 125

enum {
	AW_ENTER_DROP = 1, /* capabilities: all but `keep` go */
	AW_ENTER_BEHIND =
		2, /* behind a sandbox's program: a struct aw_enter_state comes */
};

/*
 * To enter: this, and then in this order, which is also that of doing:
 *   limits  times struct aw_enter_limit
 *   paths   times struct aw_enter_path and its path
 *   ports   times struct aw_enter_port
 *   once    struct aw_enter_state, environment and command, with AW_ENTER_BEHIND
 *   count   filter instructions; 0: no filter
 * Landlock comes before the filter, so that nobody is asked about the paths; dropping
 * capabilities comes last, since the filter may need one.
 */
struct aw_enter_order {
	uint32_t flags; /* more SECCOMP_FILTER_FLAG_ bits */
	uint16_t count;
	uint16_t what; /* AW_ENTER_ bits */
	uint64_t keep; /* capabilities, as bits */
	uint64_t files, network,
		scopes; /* Landlock handles these; all 0: no Landlock */
	uint32_t limits, paths, ports, reserved;
};

struct aw_enter_limit {
	int32_t resource; /* RLIMIT_; lowered to most, never raised */
	uint32_t reserved;
	uint64_t most;
};

struct aw_enter_path {
	uint64_t access;
	uint32_t len; /* of the path that follows, its NUL included */
	uint32_t reserved;
};

struct aw_enter_port {
	uint64_t access, port;
};

/*
 * What a sandbox's program does not pass on unchanged, so that the command finds it as
 * its caller left it: signals, and env_size bytes of "NAME=value" strings, each
 * terminated.
 */
struct aw_enter_state {
	uint64_t blocked, ignored; /* bit n-1: signal n */
	uint32_t env_size, env_count;
	uint32_t arg_size, arg_count; /* the program's path, then its argv */
};

/* From enter; all but the first three are failures with errno as value. */
enum aw_enter_step {
	AW_ENTER_LISTENER, /* value: descriptor number; one byte back lets it go on */
	AW_ENTER_READY,	   /* no filter; one byte back lets it go on */
	AW_ENTER_SOCKET,   /* behind a sandbox, first: go on over the socket that comes
			      along, since the sandbox's program may keep this one */
	AW_ENTER_NO_FILTER,
	AW_ENTER_NO_EXEC,
	AW_ENTER_NO_ORDER, /* it makes no sense */
	AW_ENTER_NO_LIMIT,
	AW_ENTER_NO_RULESET,
	AW_ENTER_NO_PATH,
	AW_ENTER_NO_PORT,
	AW_ENTER_NO_LANDLOCK,
	AW_ENTER_NO_DROP,
	AW_ENTER_NO_SOCKET,
};

struct aw_enter_report {
	int32_t step, value;
};

/* enter_drop.c: 0, or -1 and errno. */
int aw_enter_drop(uint64_t keep);

#endif
