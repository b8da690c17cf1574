/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plan.h - what a sandbox must show and hide, before it is known which sandbox.
 *
 * A plan says, for a few paths, what may be reached from there down; the deepest entry
 * at or above a file counts.  It never gives less than the policy allows: what only a
 * pattern can tell apart is left reachable here and is held when it is opened.  bwrap
 * turns a plan into mounts, Landlock into rules, firejail into a profile.
 */
#ifndef AW_SUPERVISOR_SANDBOX_PLAN_H
#define AW_SUPERVISOR_SANDBOX_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "policy/load/load.h"

/* Which file an entry's source is. */
enum aw_plan_identity {
	AW_PLAN_UNKNOWN,   /* not there, or behind links that root alone can change */
	AW_PLAN_KNOWN,	   /* device and inode say it */
	AW_PLAN_EXCHANGED, /* a link stands where none was a moment ago */
};

enum aw_plan_access {
	AW_PLAN_NOTHING, /* not there, or masked */
	AW_PLAN_READ,	 /* read and execute */
	AW_PLAN_WRITE,	 /* everything */
};

struct aw_plan_entry {
	char *path;   /* owned; absolute, normalised: where the command sees it */
	char *source; /* owned; where it is on the host; the same but for `expose` */
	enum aw_plan_access access;
	bool exists, directory; /* at the source, now */
	bool open_ended;	/* access NOTHING at a path that is not there yet, in a
				   directory        that is listed one by one, see "partial" */
	bool partial; /* a directory of which only the entries below it are reachable:
			 what its children are now stands in the plan, what comes
			 later is not there */
	bool hidden;  /* access NOTHING, as if nothing were there */
	bool whole;   /* partial, but to be mounted as a whole: Landlock, behind the
			 mounts, grants its parts one by one */
	enum aw_plan_identity identity;
	dev_t device;
	ino_t inode;
	const char *why; /* "policy", "system", "program", "working directory",
			    "argument", "exposed", "instance", "session" */
	uint32_t rule;	 /* for aw_image_rule(), or AW_NO_RULE */
};

/*
 * A symbolic link that is to be seen where nothing else is: in a partial directory, or
 * in one of which only some paths are there.  Never a way to more than the entries
 * allow.
 */
struct aw_plan_link {
	char *path, *text; /* owned; where it is and what it says */
};

enum aw_plan_network {
	AW_PLAN_NET_ALL,  /* nothing is denied */
	AW_PLAN_NET_NONE, /* nothing is allowed: no network is needed */
	AW_PLAN_NET_SOME, /* the supervisor decides */
};

struct aw_plan {
	struct aw_plan_entry *entries; /* owned; sorted by path */
	size_t count;
	struct aw_plan_link *links; /* owned; sorted by path */
	size_t link_count;
	enum aw_plan_network network;
	bool apart; /* behind a network namespace: the supervisor makes what leads out
		       of it, or nothing does */
	/* TCP ports that some rule allows; all_ports: any */
	uint16_t *connect_ports, *listen_ports; /* owned */
	size_t connect_count, listen_count;
	bool all_connect_ports, all_listen_ports;
	char *instance; /* owned; the instance root on the host, or NULL */
};

/* What a plan is made from, besides the policy; strings borrowed. */
struct aw_plan_params {
	const struct aw_policy *policy;
	const struct aw_policy_variables *variables;
	const char *program; /* the command's path */
	char **command;	     /* its argv */
	const char *cwd;
	const char *const *parts; /* our own files inside: the shim, agentwatch-enter */
	const char *instance;	  /* directory for redirected HOME and so on, or NULL */
	const char *folder; /* the session's, for files that a sandbox needs; NULL:
			       none is made, the sandbox is only shown */
	bool minimal;  /* only what is named and the system; else all of / is there,
			  unless the policy denies it */
	bool enforce;  /* the sandbox falls with the supervisor */
	bool layered;  /* a sandbox with mounts has Landlock behind them */
	bool notified; /* ... which is asked about every connection (not engine
			  preload) */
};

/*
 * Looks at the file system, changes nothing.  A directory of which everything below is
 * denied counts as NOTHING.  Where a path may be written to that is not there yet, the
 * nearest directory that is there gets WRITE and what it holds stays as it is, so that
 * only new names can be made at the sandbox.  Rules about a name that is, or leads
 * through, a symbolic link are left out: the file behind it is judged by its own name.
 */
int aw_plan_make(
	const struct aw_plan_params *params, struct aw_plan *ret, struct aw_error *err);

/*
 * identity.c: what stands behind a sandbox that mounts the plan's own files, where a
 * process `inside` waits, is what was planned: 0, or -1 with a sentence.
 */
int aw_plan_check(const struct aw_plan *plan, pid_t inside, struct aw_error *err);

/* What the plan lets be done with a path; the deepest entry counts. */
enum aw_plan_access aw_plan_reach(const struct aw_plan *plan, const char *path);

/*
 * True when nothing is mounted there or above that would hold it: it is not merely
 * covered.  A cover falls off when a process outside replaces what is under it.
 */
bool aw_plan_lacks(const struct aw_plan *plan, const char *path);

/* For plan.txt: a line an entry, then network and ports. */
void aw_plan_print(const struct aw_plan *plan, FILE *out);

/* Free the contents, not the struct itself. */
void aw_plan_release(struct aw_plan *plan);

#endif
