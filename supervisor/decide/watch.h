/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.h - what the threads of a supervisor share while a session runs.
 *
 * The notification threads, the socket thread, the drainer and the service loop all
 * hold a pointer to one aw_watch.  The image is replaced as a whole on reload; whoever
 * reads the pointer is inside of readers as long as it uses what it has found there.
 */
#ifndef AW_SUPERVISOR_DECIDE_WATCH_H
#define AW_SUPERVISOR_DECIDE_WATCH_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "policy/image/image.h"
#include "supervisor/approval/approval_queue.h"
#include "supervisor/audit/audit_log.h"
#include "supervisor/audit/pending_events.h"
#include "supervisor/decide/host_names.h"
#include "supervisor/decide/strength.h"
#include "supervisor/process/processes.h"
#include "supervisor/session/epoch.h"
#include "supervisor/session/shared.h"

/* Descriptors that are not used for anything that stays. */
enum { AW_FILES_SPARED = 32 };

enum aw_engine { AW_HYBRID, AW_KERNEL, AW_PRELOAD };

/* Rings made ahead; rings of one process, whose calls are all notified beyond that. */
enum { AW_RING_POOL_MIN = 4, AW_RING_POOL_MAX = 32, AW_RINGS_MAX = 64 };

struct aw_watch {
	enum aw_engine engine;
	bool enforce, hides, ask, quiet;
	bool no_new_privs;     /* the filter needed it */
	bool own_network;      /* it made a network namespace */
	bool foresees_network; /* audit: enforce would have made one */
	bool own_pids;	       /* the sandbox made a pid namespace */
	_Atomic dev_t proc;    /* of the /proc that the session has, once it is known */
	_Atomic dev_t pts;     /* the same of its /dev/pts; 0: it has none */
	bool holds;	       /* allowed calls are done on behalf */
	pid_t self, launcher;  /* ours, which nobody may touch */
	_Atomic pid_t late;    /* behind a sandbox: its end is told by the sandbox's
				  program; or 0 */
	const struct aw_strength_facts *facts; /* of the session's start */
	const char *strength_kernel;	       /* of calls that could not be judged */
	const struct aw_image *_Atomic image;
	const struct aw_origin *_Atomic origins; /* where its defaults come from */
	struct aw_shared *_Atomic shared;
	struct aw_epoch readers; /* of these: epoch.h; not the service loop */
	char shim[1024];	 /* the library's path, "" without one */
	struct aw_processes *tree;
	struct aw_questions *questions;	 /* enforce; else NULL: nobody is asked */
	struct aw_approval_queue *queue; /* the same */
	struct aw_names *names;		 /* of the allow rules; NULL without a policy */
	struct aw_name_service *_Atomic dns; /* answers for names; NULL: nobody does */
	struct aw_pending_events *unnamed;   /* audit with the shim; else NULL */
	struct aw_mcp *mcp;	   /* which programs are MCP servers; or NULL */
	struct aw_egress *traffic; /* to outside; enforce with hands, or NULL */
	struct aw_netns *netns;	   /* sockets of the sandbox's network; NULL: none */
	int listener;		   /* seccomp, -1 without */
	int pidfds; /* epoll, one pidfd a process; looked at by the drain thread */
	_Atomic bool minds;	     /* some process has none: its end is looked for */
	time_t minded;		     /* when that was done last */
	_Atomic uint32_t receiving;  /* futex: 1 while a thread waits for a call */
	struct aw_notify *notify;    /* the threads; notify.c has the lock */
	_Atomic uint64_t *last_call; /* its number, for the keeper: launcher.c */

	pthread_mutex_t log_lock;
	struct aw_log *log;
	_Atomic bool said_sandbox; /* own_sandbox.h: once */
	bool log_failed;	   /* said once */
	_Atomic bool stop_agent;   /* enforce: the log cannot be written */
	_Atomic bool ending;
	pthread_mutex_t spare_lock;
	struct aw_ring_pool { /* small rings made ahead, so that a hello need not wait
			       */
		struct aw_ring *ring;
		int fd;
	} pooled[AW_RING_POOL_MAX];
	unsigned spares, spares_wanted; /* more are wanted once there was none */
	_Atomic int settle;		/* generation bumps still to come */
	_Atomic int settle_links;	/* the same for aw_page.links */
};

const char *aw_engine_name(enum aw_engine engine);

/* Nanoseconds of CLOCK_REALTIME. */
uint64_t aw_watch_now(void);

/* Log one event, a little later when it may get a name; fills ts in when it is 0. */
void aw_watch_log(struct aw_watch *watch, struct aw_event *event);
void aw_watch_log_now(struct aw_watch *watch, struct aw_event *event);
void aw_watch_flush(struct aw_watch *watch);

/* Log a warning about a process (who may be NULL). */
void aw_watch_warn(struct aw_watch *watch, const struct aw_process_info *who,
	const char *kind, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* Bump the generation again for calls that were let go just now. */
void aw_watch_complete(struct aw_watch *watch);

/* Make rings ahead until there are enough; returns whether some had to be made. */
bool aw_watch_fill_pool(struct aw_watch *watch);
void aw_watch_empty_pool(struct aw_watch *watch);

/* Who did it. */
void aw_watch_sign(struct aw_event *event, const struct aw_process_info *who);

/*
 * May a process in profiles not get at this one, which is not in all of them?  pid is
 * a number of the pid namespace that the process is in, and may be a thread's.
 */
bool aw_watch_is_beyond(
	struct aw_watch *watch, const struct aw_process_info *who, pid_t pid);

/* Verdict, rule and strength into event; rule must live until it is logged. */
void aw_watch_judge(struct aw_watch *watch, struct aw_event *event,
	const struct aw_decision *decision, struct aw_rule *rule, bool by_shim);

/* The errno of a call that is denied, or hidden. */
int aw_watch_refusal(const struct aw_watch *watch, const struct aw_event *event,
	enum aw_verdict verdict);

/* A process was seen for the first time: watch for its end. */
void aw_watch_born(void *watch, const struct aw_process_info *who, int pidfd);

/* Mark the processes that have ended since the last look. */
void aw_watch_ends(struct aw_watch *watch);

/*
 * The shim said hello: a ring for it, whose header names the session's descriptor in
 * the process (-1: told in another way).  *ret_fd is owned by the caller, the ring by
 * the tree, which may have released it by now.
 */
int aw_watch_register(struct aw_watch *watch, const struct aw_process_info *who,
	bool big, int session_fd, int *ret_fd);

#endif
