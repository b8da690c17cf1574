/* SPDX-License-Identifier: Apache-2.0 */
/*
 * emulate.h - calls that are decided and carried out for a target (mode enforce).
 *
 * A notified call that goes on in the kernel reads its arguments from the target's
 * memory once more, and by then another thread may have changed them
 * (seccomp_unotify(2), NOTES).  So in enforce a call is not let go on but made here, on
 * what was judged: descriptors for places, copies for everything else, with the
 * target's rights.  Only calls that change the target itself (exec, chdir, chroot)
 * cannot be made by somebody else and go on.
 */
#ifndef AW_SUPERVISOR_LINUX_EMULATE_EMULATE_H
#define AW_SUPERVISOR_LINUX_EMULATE_EMULATE_H

#include "supervisor/linux/calls/call.h"
#include "supervisor/linux/target/path_walk.h"

/* emulate_file.c: any call that names files. */
void aw_emulate_file(struct aw_notified *call);

/* emulate_net.c: connect, bind and what is sent with an address. */
void aw_emulate_network(struct aw_notified *call);

/* The pieces of these two follow. */

/*
 * Does the target still wait?  Else its number may be another's by now, and so may all
 * that was read and found (seccomp_unotify(2)); nothing is done then.
 */
bool aw_emulate_waits(struct aw_notified *call);

/* Copy a path argument out; false: the call is answered already. */
bool aw_emulate_read(struct aw_notified *call, uint64_t address, char *raw);

/*
 * The place that a copied path leads to, with the event's texts filled in (path and raw
 * must live as long as the event; room for AW_CALL_PATH).  False: the call is answered
 * already, since it leads nowhere.
 */
bool aw_emulate_find(struct aw_notified *call, const struct aw_path_walk_params *params,
	char *raw, struct aw_location *place, struct aw_text *ret_path,
	struct aw_text *ret_raw);

/* The verdict for one or two places into event and reply; true: it may be done. */
bool aw_emulate_may(struct aw_notified *call, const struct aw_location *place,
	const struct aw_location *second);

/* What the policy says of one place, and what nobody may touch anyway. */
void aw_emulate_judge(struct aw_notified *call, enum aw_action action,
	const struct aw_location *place, struct aw_decision *ret);

/*
 * For calls that make a new name: it is taken, and making it would be refused.  Then
 * the answer is the kernel's, EEXIST, and no denial, unless the place may not be read:
 * true, answered.
 */
bool aw_emulate_is_taken(struct aw_notified *call, const struct aw_location *place);

/* Answer the call with what a system call of ours returned. */
void aw_emulate_answer(struct aw_notified *call, long result);

/*
 * Hand a descriptor of ours, which was opened with these flags, to the target as the
 * answer, and close it.  False: the target could not take it; it is still open.
 */
bool aw_emulate_give(struct aw_notified *call, int *fd, uint64_t flags);

/* emulate_open.c */
void aw_emulate_open(struct aw_notified *call);

/* emulate_change.c: attributes of what is there, by path or descriptor. */
void aw_emulate_change(struct aw_notified *call);

/*
 * emulate_wait.c: a call that may wait for somebody else gets a thread of its own. work
 * runs there with the target's rights; it returns what the call returns (or -1 with
 * errno) and may be interrupted when the target has a signal or is gone.  The copy of
 * the call is valid until it returns.  as_descriptor: the result is a descriptor to be
 * handed to the target.
 */
struct aw_waiting {
	struct aw_watch *watch;
	uint64_t id;
	struct aw_target target;
	int fd;	    /* owned: the object or socket */
	int second; /* owned: what the address speaks of, or -1 */
	uint64_t flags, mode;
	bool as_descriptor;
	long (*work)(struct aw_waiting *waiting);
	void *data;   /* owned; NULL without */
	size_t bytes; /* what that holds, and how many descriptors besides fd and second
		       */
	unsigned files;
	long done; /* of a part: the answer when the rest may not wait, if not 0 */
	void (*drop)(void *data);
	int route; /* enum aw_route, of the address */
	size_t address_len;
	unsigned char address[128];
};
/*
 * A signal that the target will handle as soon as it is out of its call, or it is gone.
 * *ret_sure: no other thread of its process can take it first, and it is there when the
 * call ends.
 */
bool aw_emulate_has_signal(pid_t tid, bool *ret_sure);

void aw_emulate_wait(struct aw_notified *call, const struct aw_waiting *waiting);

#endif
