/* SPDX-License-Identifier: Apache-2.0 */
/*
 * call.h - one notified call while it is being dealt with.
 */
#ifndef AW_SUPERVISOR_LINUX_CALLS_CALL_H
#define AW_SUPERVISOR_LINUX_CALLS_CALL_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>

#include "policy/calls.h"
#include "supervisor/decide/watch.h"
#include "supervisor/linux/target/target.h"

#define AW_CALL_PATH 4352

enum aw_reply {
	AW_REPLY_CONTINUE, /* let the call go on */
	AW_REPLY_FAIL,	   /* refused, with call->err */
	AW_REPLY_VALUE,	   /* done for the target: call->value, or call->err */
	AW_REPLY_DONE,	   /* an injected descriptor has answered already */
	AW_REPLY_ASK,	   /* a human is asked: once more, when there is an answer */
};

/* Why a change of git's configuration is refused; text is "" when the rule says it. */
struct aw_git_why {
	uint32_t rule;
	unsigned line; /* in the text that was to come */
	char text[400];
	char file[AW_CALL_PATH];
};

/* All of a call's state, owned by the thread that deals with it; reused. */
struct aw_notified {
	struct aw_watch *watch;
	uint64_t id;
	const struct aw_syscall *row;
	int sys;	/* id of the row */
	int nr;		/* as the target gave it */
	bool by_memory; /* socketcall: the arguments come from memory */
	unsigned word;	/* pointer size in the target */
	uint64_t args[6];
	struct aw_target target;
	uint32_t profiles_before; /* as the role, before an exec that this call shows */

	enum aw_reply reply;
	int err;
	int64_t value;
	bool silent;	/* nothing to log */
	bool moves;	/* directories get other names: bump the generation */
	bool leads;	/* enforce: a path may lead elsewhere, by a link or a root */
	bool gone;	/* the target was killed while it waited */
	bool in_git;	/* this thread holds the lock of git.c */
	bool verifying; /* asked about the program that it has become: aw_call_verify()
			 */
	int would_fail; /* errno that it would fail with anyway: no need to ask */
	uint64_t question;	/* asked about now (AW_REPLY_ASK) */
	uint64_t waited_for;	/* the question that it has waited for, or 0 */
	uint64_t first_ts;	/* when it was made, if it has waited */
	uint64_t device, inode; /* of the file that is judged; 0 without */
	char answer[256];	/* members of the event */
	struct seccomp_notif_resp *response; /* room for the answer; the thread's */
	size_t response_size;

	struct aw_event event;
	struct aw_rule rule;
	struct aw_git_why why;
	char path[AW_CALL_PATH], path2[AW_CALL_PATH];
	char raw[AW_CALL_PATH], raw2[AW_CALL_PATH];
	char cwd[AW_CALL_PATH];
	struct aw_vector argv;
	struct aw_text *argv_text; /* owned */
};

/*
 * Which row is it?  False: not one of ours, or its arguments cannot be read.
 * identify.c
 */
bool aw_call_identify(struct aw_notified *call, const struct seccomp_data *data);

/*
 * handle.c: from the request, which has been received into nothing but this, to the
 * answer and the line in the log; or it is put aside, or given to another thread.
 */
void aw_call_handle(struct aw_notified *call, const struct seccomp_notif *request);

/* Each deals with some effects: fills event and reply in. */
void aw_call_file(struct aw_notified *call);
void aw_call_exec(struct aw_notified *call);
void aw_call_network(struct aw_notified *call);

/* Verdict into event and, in enforce, into reply. */
void aw_call_decide(struct aw_notified *call, const struct aw_decision *decision);

/*
 * Ask a human about an event that was judged: true when it may be done; else the reply
 * says how it goes on.  defer.c
 */
bool aw_call_ask(struct aw_notified *call, struct aw_event *event);

/*
 * Deal with a request once more, from the start, now that its question has an answer;
 * ts and verifying are those of the first time.
 */
typedef void aw_call_again(struct aw_watch *watch, const struct seccomp_notif *request,
	uint64_t question, uint64_t ts, bool verifying);

/* Put a call aside that waits for an answer; false: it is refused instead. */
bool aw_call_defer(struct aw_notified *call, const struct seccomp_notif *request,
	aw_call_again *again);

/* Does a symbolic link in the last component get followed? flags: argument or
 * how.flags. */
bool aw_call_follows(const struct aw_notified *call, uint64_t flags);

/* Open flags of an open, from the argument or from struct open_how. */
uint64_t aw_call_open_flags(const struct aw_notified *call);

/* Put a descriptor of ours into the target; send: and answer the call with it. */
int aw_call_inject(struct aw_notified *call, int fd, bool send);

/*
 * An argument could not be read; err says why.  A bad pointer is the kernel's to refuse
 * in audit; enforce refuses it here, since it may be good a moment later.  A target
 * that we may not read (not dumpable, Yama) cannot be judged: EPERM in enforce, and a
 * warning.
 */
void aw_call_unreadable(struct aw_notified *call, int err);

/* "path" of a call read and resolved into to; false when it cannot be read. */
bool aw_call_path(struct aw_notified *call, int dir, uint64_t address, bool follow,
	char *raw, char *to, struct aw_text *ret_path, struct aw_text *ret_raw,
	int *ret_errno);

/*
 * call_shim.c: an open, its path in call->raw, that is the shim's hello or ld.so's of
 * the shim: true when it has been answered.
 */
bool aw_call_is_shims(struct aw_notified *call);

/* The same in mode audit, where ld.so's is one to log: true for the hello alone. */
bool aw_call_meets_shim(struct aw_notified *call);

/*
 * absent.c: a path that the target cannot find is not there at all.  False: it is on
 * the host, or below what a sandbox hides, so that a denial is what keeps the target
 * from it.
 */
bool aw_call_is_absent(const struct aw_notified *call, const char *path);

/*
 * Enforce refuses this whatever a rule says: refused there, and a denial in the log,
 * which audit foretells.  what: the call, or what about it.
 */
void aw_call_refuse(struct aw_notified *call, const char *kind, const char *what);

/* The same, but audit warns, since what comes of it is not seen there. */
void aw_call_warn(struct aw_notified *call, const char *kind, const char *what);

/*
 * The first call after an exec: is the program that it became one that it may run? The
 * exec itself went on in the kernel.  False: it was killed, and the call is answered.
 */
bool aw_call_verify(struct aw_notified *call);

/* aw_processes_arrived() for the process that makes the call. */
void aw_call_arrived(struct aw_notified *call, bool loads_shim);

/* call_self.c: what concerns processes and not files: rights, signals, namespaces. */
void aw_call_self(struct aw_notified *call);

#endif
