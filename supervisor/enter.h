/* SPDX-License-Identifier: Apache-2.0 */
/*
 * enter.h - what supervisor and agentwatch-enter say to each other.
 */
#ifndef AW_SUPERVISOR_ENTER_H
#define AW_SUPERVISOR_ENTER_H

#include <stdint.h>

#define AW_ENTER_FILTER_MAX 512
#define AW_ENTER_FAILED 125

/* To enter: this, then count filter instructions. count 0: no filter, just execute. */
struct aw_enter_order {
	uint32_t flags; /* more SECCOMP_FILTER_FLAG_ bits */
	uint16_t count;
	uint16_t behind_wall; /* 1: after the instructions comes a struct
				 aw_enter_state */
};

/*
 * What a wall's program does not pass on unchanged, so that the command finds it as its
 * caller left it: signals, and env_size bytes of "NAME=value" strings, each terminated.
 */
struct aw_enter_state {
	uint64_t blocked, ignored; /* bit n-1: signal n */
	uint32_t env_size, env_count;
};

enum aw_enter_step {
	AW_ENTER_LISTENER,  /* value: descriptor number; one byte back lets it go on */
	AW_ENTER_NO_FILTER, /* value: errno */
	AW_ENTER_NO_EXEC,   /* value: errno */
	AW_ENTER_READY,	    /* no filter, behind a wall; one byte back lets it go on */
};

struct aw_enter_report {
	int32_t step, value;
};

#endif
