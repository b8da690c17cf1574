/* SPDX-License-Identifier: Apache-2.0 */
/* supervisor.c - the process that watches: starts the command, serves it, cleans up. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/approval/peer.h"
#include "supervisor/approval/requests.h"
#include "supervisor/cli/say.h"
#include "supervisor/launch/supervisor_internal.h"
#include "supervisor/linux/pidfd.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/net/egress/egress.h"
#include "supervisor/process/descend.h"
#include "supervisor/process/inside.h"
#include "supervisor/util/pass.h"

enum { NOTIFY_THREADS = 4, GRACE_MS = 2000, LAST_MS = 20, THREAD_STACK = 2 << 20 };

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void tell(struct service *s, int kind, int value, int fd)
{
	struct aw_launch_message news = {kind, value, s->waited};

	aw_pass(s->news, &news, sizeof(news), &fd, fd >= 0, 0);
}

static void stop(struct service *s, int signal)
{
	s->stopping = true;
	if (!aw_signal_descendants(getpid(), signal) && s->status < 0 && s->command > 0)
		kill(s->command, signal); /* not even /proc can be looked at */
	aw_signal_descendants(getpid(), SIGCONT);
}

/* The session's last words about questions: what the files say now holds for all. */
static int reload_for_answer(void *ctx, char *text, size_t size)
{
	return aw_supervisor_reload(ctx, text, size);
}

static int on_control(
	void *ctx, const struct aw_control_request *asked, char *text, size_t size)
{
	struct service *s = ctx;
	const char *request = asked->name;
	bool reload = strcmp(request, "reload") == 0;

	if ((reload || strcmp(request, "stop") == 0) &&
		!aw_peer_is_outside(asked->socket, asked->pid, s->watch.self)) {
		aw_watch_warn(&s->watch, NULL, "control",
			"process %d, which is inside of a session, asked for '%s' and was refused",
			(int)asked->pid, request);
		snprintf(text, size,
			"sessions are controlled from outside of sessions only");
		return -1;
	}
	if (reload)
		return aw_supervisor_reload(s, text, size);
	if (strcmp(request, "stop") == 0) {
		stop(s, SIGTERM);
		if (getppid() ==
			s->run->launcher) /* stopped, it would not see the end */
			kill(s->run->launcher, SIGCONT);
		snprintf(text, size, "the command was asked to end (SIGTERM)");
		return 0;
	}
	if (aw_ask_request_is(request))
		return aw_ask_request(&(struct aw_ask_session){.run = s->run,
					      .watch = &s->watch,
					      .reload = reload_for_answer,
					      .ctx = s},
			asked, text, size);
	if (strcmp(request, "status") == 0) {
		snprintf(text, size, "running");
		return 0;
	}
	snprintf(text, size, "request '%s' is not known", request);
	return -1;
}

static void on_news(struct service *s)
{
	struct aw_launch_message news;
	ssize_t n = recv(s->news, &news, sizeof(news), MSG_DONTWAIT);
	char text[512];

	if (n == 0) { /* the launcher was killed: audit goes on, enforce does not */
		struct aw_error err;

		epoll_ctl(s->loop, EPOLL_CTL_DEL, s->news, NULL);
		if (s->watch.enforce && s->status < 0)
			stop(s, SIGKILL);
		else if (aw_session_adopt(s->run->session, &err) < 0)
			aw_say("%s", err.text);
	}
	if (n != sizeof(news))
		return;
	if (news.kind == AW_LAUNCH_RELOAD)
		aw_supervisor_reload(s, text, sizeof(text));
	else if (news.kind == AW_LAUNCH_SIGNAL && s->status < 0)
		kill(s->command, news.value);
}

static void command_ended(struct service *s, int status)
{
	s->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/*
 * Now the command's own parent has fetched its status, and its pidfd may tell.  Where
 * the sandbox's program alone was killed the command is still there, and is known by
 * its pidfd like the others from now on.
 */
static void wall_ended(struct service *s, int status)
{
	struct pollfd fd = {.fd = s->command_pidfd, .events = POLLIN};
	int own = fd.fd < 0 ? -1 : aw_pidfd_status(fd.fd);

	atomic_store(&s->watch.late, 0); /* before the look: one of the two sees it */
	if (fd.fd >= 0 && poll(&fd, 1, 0) == 0)
		return;
	aw_processes_exited(s->watch.tree, s->command, own < 0 ? status : own);
	if (s->command_pidfd >= 0)
		close(s->command_pidfd);
	s->command_pidfd = -1;
}

/* Its status is kept before it is fetched, or both would go with us. */
static void keep_status(struct service *s)
{
	siginfo_t end = {.si_pid = 0};

	if (s->status >= 0 || !s->waited ||
		waitid(P_PID, (id_t)s->waited, &end, WEXITED | WNOHANG | WNOWAIT) < 0 ||
		!end.si_pid)
		return;
	atomic_store(&s->run->fallback->status,
		end.si_code == CLD_EXITED ? end.si_status : 128 + end.si_status);
}

static void reap(struct service *s)
{
	struct signalfd_siginfo info;
	int status;
	pid_t pid;

	while (read(s->signals, &info, sizeof(info)) == sizeof(info))
		;
	keep_status(s);
	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (WIFSTOPPED(status)) {
			if (pid == s->command)
				tell(s, AW_LAUNCH_STOPPED, WSTOPSIG(status), -1);
			continue;
		}
		aw_processes_exited(s->watch.tree, pid, status);
		if (pid == s->waited && s->waited != s->command)
			wall_ended(s, status);
		if (pid == s->waited && s->status < 0)
			command_ended(s, status);
	}
	s->orphans = !(pid < 0 && errno == ECHILD);
}

static void wait_once(struct service *s, int timeout)
{
	struct epoll_event events[8];
	int n = epoll_wait(s->loop, events, 8, timeout);

	for (int i = 0; i < n; i++) {
		if (events[i].data.u64 == WAIT_SIGNALS)
			reap(s);
		else if (events[i].data.u64 == WAIT_NEWS)
			on_news(s);
		else if (events[i].data.u64 == WAIT_CONTROL)
			aw_control_accept_one(s->control, on_control, s);
		else if (events[i].data.u64 == WAIT_QUESTIONS)
			s->announcer.pending = true;
	}
	if (s->announcer.pending)
		aw_announce(&s->announcer, s->watch.questions, s->news);
	aw_epoch_collect(&s->retired, &s->watch.readers);
}

/* Nothing is left running: first asked, then killed. */
static void end_descendants(struct service *s)
{
	uint64_t deadline = now_ms() + (s->timed_out ? AW_LIMIT_GRACE_MS : GRACE_MS);
	bool killed = false;

	reap(s);
	if (s->orphans && s->waited != s->command) {
		wait_once(s, LAST_MS); /* the sandbox's first process ends with the
					  command */
		reap(s);
	}
	if (!s->orphans)
		return;
	stop(s, SIGTERM);
	while (s->orphans) {
		wait_once(s, 20);
		reap(s);
		if (now_ms() > deadline || killed) {
			killed = true;
			aw_signal_descendants(getpid(), SIGKILL);
		}
	}
}

/* The parent behind the sandbox does not tell when the command stops itself. */
static void look_for_stop(struct service *s)
{
	bool stopped = s->command != s->waited && aw_proc_stopped(s->command);

	if (stopped && !s->stopped)
		tell(s, AW_LAUNCH_STOPPED, SIGSTOP, -1);
	s->stopped = stopped;
}

/* `limits.time`: the whole tree is asked to end, and killed when it does not. */
static void check_time(struct service *s)
{
	if (!s->end || s->timed_out || now_ms() < s->end)
		return;
	s->timed_out = true;
	aw_supervisor_say_warning(&s->watch, "limits", false,
		"the time of %llu s (limits.time) is over; the command is ended",
		(unsigned long long)s->run->limiter.time);
	stop(s, SIGTERM);
}

static void run_until_ended(struct service *s)
{
	uint64_t killed_at = 0;

	while (s->status < 0) {
		wait_once(s, s->stopping ? 50 : 200);
		look_for_stop(s);
		if (atomic_load(&s->watch.stop_agent) && !s->stopping)
			stop(s, SIGKILL);
		check_time(s);
		if (s->stopping && !killed_at)
			killed_at = now_ms() +
				    (s->timed_out ? AW_LIMIT_GRACE_MS : GRACE_MS);
		if (killed_at && now_ms() > killed_at)
			aw_signal_descendants(getpid(), SIGKILL);
	}
}

static void keep_serving(struct service *s)
{
	reap(s);
	while (s->orphans && !s->timed_out) {
		wait_once(s, 200);
		reap(s);
		check_time(s);
	}
}

/* Others are served until the command's start has come about, or not. */
static void serve_until(void *service, int socket)
{
	struct service *s = service;
	struct pollfd fds[2] = {
		{.fd = socket, .events = POLLIN}, {.fd = s->loop, .events = POLLIN}};

	aw_notify_reinforce(s->notify); /* while the command is on its way */
	do {
		int timeout = s->announcer.pending || s->stopping ? 50 : -1;

		if (poll(fds, 2, timeout) < 0 && errno != EINTR)
			return;
		if (!fds[0].revents)
			wait_once(s, 0);
	} while (!fds[0].revents);
}

static void say_offer(void *ctx, const char *sentence)
{
	struct service *s = ctx;

	aw_supervisor_say_policy(&s->watch, s->run, sentence);
	if (!s->run->options.quiet)
		aw_say("%s", sentence);
}

/* Threads first, then the command: its very first call already waits for an answer. */
static int start(struct service *s, struct aw_error *err)
{
	struct aw_launched launched;
	int failed;

	if (s->run->engine == AW_PRELOAD)
		aw_supervisor_say_gap(&s->watch, s->run);
	if (s->run->engine == AW_PRELOAD &&
		aw_socket_service_open(&s->watch, s->run->socket, &s->sockets, err) < 0)
		return AW_RUN_FAILED;
	if (aw_launch(s->run, &launched, err) < 0)
		return AW_RUN_FAILED;
	if (s->run->sandbox.binds &&
		aw_plan_check(&s->run->plan, launched.command, err) < 0) {
		kill(launched.pid, SIGKILL);
		waitpid(launched.pid, NULL, 0);
		return AW_RUN_FAILED;
	}
	s->command = launched.command;
	s->waited = launched.pid;
	if (s->waited != s->command) {
		s->watch.late = s->command;
		s->command_pidfd = aw_pidfd_open(s->command);
	}
	if (s->sockets && aw_socket_service_start(s->sockets, err) < 0)
		return AW_RUN_FAILED;
	s->watch.listener = launched.listener;
	s->watch.no_new_privs = launched.no_new_privs;
	if (aw_supervisor_enter_network(s, err) < 0)
		return AW_RUN_FAILED;
	if ((s->watch.holds || s->run->listeners.proxy_port) &&
		aw_egress_create(&s->watch, &s->run->policy, &s->watch.traffic, err) <
			0)
		return AW_RUN_FAILED;
	aw_supervisor_say_start(&s->watch, s->run, s->command);
	if (aw_supervisor_answer_names(s, &s->run->policy, err) < 0)
		return AW_RUN_FAILED;
	if (launched.listener >= 0 &&
		aw_notify_start(&s->watch, NOTIFY_THREADS, &s->notify, err) < 0)
		return AW_RUN_FAILED;
	if (aw_drain_start(&s->watch, &s->drain, err) < 0)
		return AW_RUN_FAILED;
	if (aw_listeners_start(&s->run->listeners, &s->watch, say_offer, s, err) < 0)
		return AW_RUN_FAILED;
	tell(s, AW_LAUNCH_STARTED, s->command, launched.listener);
	failed = aw_launch_go(s->run, &launched, serve_until, s, err);
	if (!failed && s->run->engine == AW_PRELOAD) {
		struct aw_process_info who;

		aw_processes_find(s->watch.tree, s->command, &who);
	}
	return failed;
}

/* How much stack the caller gives to the command (ulimit -s) is not for our threads. */
static void settle_stacks(void)
{
	pthread_attr_t usual;

	pthread_attr_init(&usual);
	pthread_attr_setstacksize(&usual, THREAD_STACK);
	pthread_setattr_default_np(&usual);
	pthread_attr_destroy(&usual);
}

int aw_supervisor(struct aw_run *run, int news)
{
	struct service *s = calloc(1, sizeof(*s));
	struct aw_error err = {.code = 0};
	int failed;

	if (!s) {
		aw_say("starting the supervisor: out of memory");
		return AW_RUN_FAILED;
	}
	settle_stacks();
	s->run = run;
	s->news = news;
	s->status = s->command_pidfd = -1;
	setpgid(0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	aw_keep_others_out();
	prctl(PR_SET_NAME, AW_SUPERVISOR_NAME);
	if (aw_supervisor_set_up(s, &err) < 0) {
		aw_say("%s", err.text);
		return AW_RUN_FAILED;
	}
	failed = start(s, &err);
	if (failed) {
		aw_say("%s", err.text);
		s->status = failed;
	} else {
		if (run->limiter.time)
			s->end = now_ms() + run->limiter.time * 1000;
		run_until_ended(s);
	}
	if (run->options.keep_descendants && !s->stopping && !failed) {
		tell(s, AW_LAUNCH_ENDED, s->status, -1);
		keep_serving(s);
	}
	end_descendants(s);
	if (s->timed_out)
		s->status = AW_LIMIT_TIMED_OUT;
	aw_supervisor_say_limits(&s->watch, run);
	aw_limits_end(&run->limiter);
	aw_supervisor_finish(s);
	tell(s, AW_LAUNCH_ENDED, s->status, -1);
	return s->status;
}
