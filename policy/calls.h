/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - the table of watched calls as data.
 *
 * Ids are made from calls.def: first the system calls, then the libc functions.  Both
 * the shim and the kernel layer find in the same row where a call keeps its path.
 */
#ifndef AW_POLICY_CALLS_H
#define AW_POLICY_CALLS_H

#include <stdint.h>

#include "policy/verdict.h"

enum aw_effect {
	AW_FX_OPEN,
	AW_FX_CREAT,
	AW_FX_HANDLE,
	AW_FX_READ,
	AW_FX_WRITE,
	AW_FX_CREATE,
	AW_FX_DELETE,
	AW_FX_RENAME,
	AW_FX_LINK,
	AW_FX_SYMLINK,
	AW_FX_CHDIR,
	AW_FX_EXEC,
	AW_FX_CONNECT,
	AW_FX_BIND,
	AW_FX_SENDTO,
	AW_FX_SENDMSG,
	AW_FX_SENDMMSG,
	AW_FX_LOOKUP,
	AW_FX_META,
	AW_FX_URING,
	AW_FX_SECCOMP,
	AW_FX_PRCTL,
	AW_FX_MEMORY,
	AW_FX_NAMESPACE,    /* another root, mounts or mount namespace */
	AW_FX_CLONE,	    /* watched when it makes a mount namespace */
	AW_FX_MACHINE,	    /* about the whole machine: only told in audit */
	AW_FX_ENFORCE_ONLY, /* from here on: watched in mode enforce alone */
	AW_FX_SOCKET = AW_FX_ENFORCE_ONLY,
	AW_FX_LISTEN,	/* may bind to a port of the kernel's choice */
	AW_FX_OPTION,	/* watched for options that lead round rules about addresses */
	AW_FX_PROCESS,	/* does something to another process */
	AW_FX_OWNER,	/* watched for who a descriptor's signals are sent to */
	AW_FX_UMASK,	/* changes what a call done on behalf must be done with */
	AW_FX_CREDS,	/* the same */
	AW_FX_IOCTL,	/* watched for a few requests */
	AW_FX_CLONE3,	/* its flags are in memory: answered with ENOSYS */
	AW_FX_LANDLOCK, /* a sandbox that would not hold what is done on behalf */
	AW_FX_REFUSE,	/* nobody needs it who is being held */
};

/* What becomes of a symbolic link in the last component; letters of calls.def. */
enum aw_last { AW_LAST_F, AW_LAST_K, AW_LAST_O, AW_LAST_H, AW_LAST_A, AW_LAST_L };

enum {
	AW_ARG_NONE = -1, /* N */
	AW_ARG_CWD = -2,  /* CWD */
	AW_ARG_FD = -3,	  /* FD: the descriptor in "dir" is the subject */
};

enum aw_call {
#define AW_SYS(name, effect, dir, path, dir2, path2, flags, last) AW_SYS_##name,
#include "policy/calls.def"
	AW_SYS_COUNT,
	AW_FN_FIRST = AW_SYS_COUNT - 1,
#define AW_FN(ret, name, params, args, sys, sysargs) AW_FN_##name,
#define AW_HAND(name, effect, sys) AW_FN_##name,
#include "policy/calls.def"
	AW_CALL_COUNT
};

struct aw_syscall {
	uint8_t effect; /* enum aw_effect */
	int8_t dir, path, dir2, path2, flags;
	uint8_t last; /* enum aw_last */
	int nr;	      /* on this architecture, -1 where it does not exist */
};

/* The system call rows, AW_SYS_COUNT of them, in the order of their ids. */
extern const struct aw_syscall aw_syscalls[];

/* Name of any id, function or system call; "?" when out of range. */
const char *aw_call_name(unsigned call);

/* The row for a system call number of this architecture, or -1. */
int aw_syscall_by_number(long nr);

/* The row for an i386 number (x86_64 only), or -1. */
int aw_syscall_by_i386_number(long nr);

/* What an open with these flags does: AW_READ, AW_WRITE or AW_CREATE (O_CREAT,
 * O_TMPFILE). */
enum aw_action aw_action_of_open(uint64_t flags);

/* The action of a call of this effect; opens are told apart by their flags. */
enum aw_action aw_action_of_effect(enum aw_effect effect, uint64_t flags);

#endif
