/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h - one `agentwatch run`, from options to the running session.
 *
 * The invoked process becomes the launcher: it stays in the caller's process group,
 * passes signals on and returns the command's status.  Its child is the service, which
 * forks the command and watches it.  The launcher holds a duplicate of the seccomp
 * listener, so that watched calls are still answered when the service is killed.
 */
#ifndef AW_SUPERVISOR_LAUNCH_RUN_H
#define AW_SUPERVISOR_LAUNCH_RUN_H

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "policy/load/load.h"
#include "supervisor/cli/options.h"
#include "supervisor/decide/enforcement.h"
#include "supervisor/decide/watch.h"
#include "supervisor/launch/layers.h"
#include "supervisor/linux/limits.h"
#include "supervisor/net/listeners.h"
#include "supervisor/sandbox/runner.h"
#include "supervisor/session/find.h"
#include "supervisor/session/session.h"

/* What the command line says; strings are borrowed. */
struct aw_run_options {
	const char *mode, *base, *runner, *engine, *workspace, *agent, *log, *session,
		*require;
	const char *on_missing_runner, *verdicts, *ask_deadline;
	struct aw_string_list policies;
	/* AW_OPT_SWITCH sets two: the value, and whether somebody named the option */
	bool quiet, quiet_said, keep_descendants, keep_descendants_said;
};

struct aw_run {
	struct aw_run_options options;
	char **command;	 /* argv of the command, borrowed */
	char *program;	 /* its path; owned */
	char *workspace; /* owned */
	struct aw_layers layers;
	char *shim;  /* owned; NULL without */
	char *enter; /* owned */
	struct aw_policy policy;
	struct aw_session *session;
	struct aw_shared shared;
	char *socket; /* preload engine; owned, or NULL */
	enum aw_engine engine;
	bool foresees_network; /* audit: enforce would give it one of its own */
	struct aw_sandbox sandbox;
	struct aw_plan plan; /* empty without a sandbox */
	char *instance;	     /* owned; directory of the redirected HOME, or NULL */
	bool told;	     /* what is read again: its warnings have been said */
	int log_fd;
	uint64_t ask_deadline;	       /* seconds; 0: not said */
	bool hybrid_flags;	       /* WAIT_KILLABLE_RECV is there */
	struct aw_enforcement holding; /* what holds the rules */
	struct aw_limiter limiter;     /* how much may be used */
	struct aw_listeners listeners; /* a proxy inside, ports outside */
	pid_t launcher, front_group;
	sigset_t mask;	     /* the caller's, for the command */
	bool ignores_ends;   /* the caller ignores SIGCHLD: the command does too */
	struct rlimit files; /* the caller's RLIMIT_NOFILE, for the command */
	struct aw_fallback *fallback; /* shared by service and front */
};

/* What the launcher has to know where the service is killed, and so cannot be told. */
struct aw_fallback {
	_Atomic uint64_t last_call; /* number of the last one received; 0: none */
	_Atomic int status;	    /* of the command, for run; -1: it has not ended */
};

/* Front and service talk in these. */
enum aw_launch_message_kind {
	AW_LAUNCH_STARTED, /* service: value is the command's pid; the listener comes
			    along */
	AW_LAUNCH_STOPPED, /* service: the command was stopped by signal value */
	AW_LAUNCH_ENDED,   /* service: value is the exit status for run */
	AW_LAUNCH_SIGNAL,  /* front: send signal value to the command */
	AW_LAUNCH_RELOAD,  /* front */
	AW_LAUNCH_ASKED, /* service: question value was opened; its text comes behind */
};

struct aw_launch_message {
	int kind, value;
	pid_t waited; /* with STARTED: the child whose end is the command's */
};

/* What the command line says of layers; strings are the run's. */
struct aw_layers_params aw_run_params(const struct aw_run *run);

/*
 * Read the policy files of this run into *ret; problems are printed on stderr and make
 * -1 when one of them is an error.
 */
int aw_run_load_policy(const struct aw_run *run, struct aw_policy *ret);

/*
 * What holds of options and files: flags over environment over files, and the system
 * policy over all, which is said where it matters.  The options have it all then.
 */
int aw_run_merge_options(struct aw_run *run, struct aw_error *err);

/* All that is done before anything is forked, once the options have it all. */
int aw_run_prepare(struct aw_run *run, struct aw_error *err);

/* The session memory for this policy. */
int aw_run_share(const struct aw_run *run, const struct aw_policy *policy,
	struct aw_shared *ret, struct aw_error *err);

/* Choose the engine. */
int aw_run_choose_engine(struct aw_run *run, const char *wanted, struct aw_error *err);

/*
 * Choose the runner: the one named, or what the mode asks for; falls back to `exec`
 * only where that is allowed, and says so.  A policy with sections for runners is read
 * again when it is not the one that was expected.
 */
int aw_run_choose_sandbox(struct aw_run *run, struct aw_error *err);

/*
 * The name of the runner that `run` would take here; named is that of the command line
 * or NULL.
 */
const char *aw_sandbox_expected(const struct aw_policy *policy, const char *named);

/*
 * Would the one that `run --mode enforce` takes give the command a network of its own?
 * For audit; where it cannot be used, no.
 */
bool aw_sandbox_would_be_apart(
	const struct aw_policy *policy, const char *named, bool notified);

/* The runner where nobody names one, for the loader. */
const char *aw_sandbox_default(enum aw_mode mode, enum aw_base_kind base);

/* Plan and build the sandbox, and write plan.txt; the session's directory is there. */
int aw_run_build_sandbox(struct aw_run *run, struct aw_error *err);

/* The environment for the command: owned array and strings. */
char **aw_run_environment(const struct aw_run *run, struct aw_error *err);

/* The names, not the values, of what the policy keeps from it; "" for nothing. */
void aw_run_withheld(const struct aw_run *run, char *text, size_t size);

/* Fork the service and stay in front of it; the exit status of run. */
int aw_launcher(struct aw_run *run);

/* The service: does not return before the session is over. news: socket to the
 * launcher.
 */
int aw_supervisor(struct aw_run *run, int news);

/*
 * Start the command through agentwatch-enter. With a filter, *ret_listener is the
 * notification listener and the command waits for aw_launch_go().
 */
struct aw_launched {
	pid_t pid;     /* our child: the command, or the sandbox's program */
	pid_t command; /* the command itself */
	int socket;    /* to agentwatch-enter; owned */
	int listener;  /* owned, or -1 */
	bool no_new_privs;
};
int aw_launch(const struct aw_run *run, struct aw_launched *ret, struct aw_error *err);

/*
 * 0: it runs. Else the exit status for run, with the reason in err.  wait returns when
 * the socket is readable: a human may be asked about the command itself.
 */
int aw_launch_go(const struct aw_run *run, struct aw_launched *launched,
	void (*wait)(void *ctx, int socket), void *ctx, struct aw_error *err);

/* Preload engine: hello and asks over the session's socket. */
struct aw_socket_service;
int aw_socket_service_open(struct aw_watch *watch, const char *path,
	struct aw_socket_service **ret, struct aw_error *err);

/*
 * Answer.  Until then questions wait.  Not before the command is forked: the first
 * thread makes libc change the disposition of a signal, which the command must not
 * inherit.
 */
int aw_socket_service_start(struct aw_socket_service *service, struct aw_error *err);
void aw_socket_service_stop(struct aw_socket_service *service);

#endif
