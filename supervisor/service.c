/* SPDX-License-Identifier: Apache-2.0 */
/* service.c - the process that watches: starts the command, serves it, cleans up. */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "policy/profile.h"
#include "supervisor/ask/announce.h"
#include "supervisor/ask/requests.h"
#include "supervisor/audit/drain.h"
#include "supervisor/control.h"
#include "supervisor/descend.h"
#include "supervisor/kernel/notify.h"
#include "supervisor/mcp.h"
#include "supervisor/net/inner.h"
#include "supervisor/net/name_service.h"
#include "supervisor/net/traffic.h"
#include "supervisor/pidfd.h"
#include "supervisor/proc.h"
#include "supervisor/run.h"
#include "supervisor/say.h"
#include "supervisor/service_says.h"

enum { NOTIFY_THREADS = 3, GRACE_MS = 2000 };

/* What the loop waits for. */
enum { WAIT_SIGNALS = 1, WAIT_NEWS, WAIT_CONTROL, WAIT_QUESTIONS };

struct service {
	struct aw_run *run;
	struct aw_watch watch;
	struct aw_notify *notify;
	struct aw_drain *drain;
	struct aw_socket_service *sockets;
	struct aw_control *control;
	int loop, news, signals;
	pid_t command, waited; /* waited: our child whose end is the command's */
	bool stopped;	       /* behind a wall: seen to be */
	int command_pidfd;     /* behind a wall; else -1 */
	int status;	       /* for run, -1 while the command runs */
	bool orphans;	       /* waitpid still has children to wait for */
	bool stopping;
	bool timed_out;
	struct aw_announcer announcer;
	struct aw_policy latest;   /* of the last reload */
	struct aw_retired retired; /* those of the reloads before */
	uint64_t end; /* when `limits.time` is over, in milliseconds; 0: never */
};

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static int answer_names(
	struct service *s, const struct aw_policy *policy, struct aw_error *err);

static void tell(struct service *s, int kind, int value, int fd)
{
	struct aw_news news = {kind, value, s->waited};
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct iovec iov = {&news, sizeof(news)};
	struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd >= 0) {
		msg.msg_control = control.bytes;
		msg.msg_controllen = CMSG_SPACE(sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
	}
	sendmsg(s->news, &msg, MSG_NOSIGNAL);
}

/* The files that are there now, and what they say. */
static int load_again(struct aw_run *run, struct aw_policy *ret, struct aw_error *err)
{
	const struct aw_layers_wish wish = aw_run_wish(run);

	if (aw_layers_again(&wish, &run->layers, err) < 0)
		return -1;
	return aw_run_load_policy(run, ret) == 0
		       ? 0
		       : aw_fail(err, EINVAL,
				 "the files have mistakes (see its terminal)");
}

/* Read the files again; a broken one leaves everything as it is. */
static int reload(struct service *s, char *text, size_t size)
{
	struct aw_shared *fresh = calloc(1, sizeof(*fresh)), *old;
	struct aw_policy policy;
	struct aw_policy_variables *v = &s->run->layers.variables;
	struct aw_error err = {.text = "out of memory"};

	v->before = v->before ? v->before : &s->run->policy;
	if (!fresh || load_again(s->run, &policy, &err) < 0 ||
		aw_run_share(s->run, &policy, fresh, &err) < 0) {
		free(fresh);
		snprintf(text, size, "the old policy stays: %s", err.text);
		aw_say("reload: %s", text);
		aw_service_say_policy(&s->watch, s->run, text);
		return -1;
	}
	if (aw_names_reload(s->watch.names, policy.image, &err) < 0)
		aw_say("reload: %s", err.text); /* names that it adds are not known */
	if (answer_names(s, &policy, &err) < 0)
		aw_say("reload: %s",
			err.text); /* so names that it denies are reached */
	if (aw_traffic_reload(s->watch.traffic, &policy, &err) < 0)
		aw_say("reload: %s", err.text); /* the old limits stay */
	old = atomic_load(&s->watch.shared);
	atomic_store(&s->watch.image, policy.image);
	atomic_store(&s->watch.shared, fresh);
	atomic_store(&old->page->stale, 1);
	if (v->before == &s->latest) /* the session's first stays: others hold it */
		aw_retire(&s->retired, old, &s->latest);
	s->latest = policy;
	v->before = &s->latest;
	if (s->watch.asker) {
		aw_questions_set_deadline(s->watch.questions,
			s->run->options.ask_deadline ? s->run->ask_deadline
						     : policy.ask_deadline);
		aw_asker_look_again(s->watch.asker);
	}
	snprintf(text, size, "the policy was read again%s%s",
		fresh->page->hides && !s->watch.hides
			? "; its hide rules hold for opens only, since metadata was "
			  "not "
			  "watched from the start"
			: "",
		s->run->wall.reads_held && aw_image_profiles_refuse_reads(policy.image)
			? "; what its profiles do not let be read hostile code can "
			  "open through the gate page, since the filter stays: start "
			  "a new session for that"
			: "");
	aw_service_say_policy(&s->watch, s->run, text);
	return 0;
}

static void stop(struct service *s, int signal)
{
	s->stopping = true;
	aw_signal_descendants(getpid(), signal);
	aw_signal_descendants(getpid(), SIGCONT);
}

/* The session's last words about questions: what the files say now holds for all. */
static int reload_for_answer(void *ctx, char *text, size_t size)
{
	return reload(ctx, text, size);
}

static int on_control(
	void *ctx, const struct aw_control_request *asked, char *text, size_t size)
{
	struct service *s = ctx;
	const char *request = asked->name;

	if (strcmp(request, "reload") == 0)
		return reload(s, text, size);
	if (strcmp(request, "stop") == 0) {
		stop(s, SIGTERM);
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
	struct aw_news news;
	ssize_t n = recv(s->news, &news, sizeof(news), MSG_DONTWAIT);
	char text[512];

	if (n == 0) { /* the front was killed: audit goes on, enforce does not */
		epoll_ctl(s->loop, EPOLL_CTL_DEL, s->news, NULL);
		if (s->watch.enforce && s->status < 0)
			stop(s, SIGKILL);
	}
	if (n != sizeof(news))
		return;
	if (news.kind == AW_NEWS_RELOAD)
		reload(s, text, sizeof(text));
	else if (news.kind == AW_NEWS_SIGNAL && s->status < 0)
		kill(s->command, news.value);
}

static void command_ended(struct service *s, int status)
{
	s->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/*
 * Now the command's own parent has fetched its status, and its pidfd may tell.  Where
 * the wall's program alone was killed the command is still there, and is known by its
 * pidfd like the others from now on.
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
	atomic_store(&s->run->kept->status,
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
				tell(s, AW_NEWS_STOPPED, WSTOPSIG(status), -1);
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
	aw_retired_look(&s->retired, &s->watch.readers);
}

/* Nothing is left running: first asked, then killed. */
static void end_descendants(struct service *s)
{
	uint64_t deadline = now_ms() + (s->timed_out ? AW_LIMIT_GRACE_MS : GRACE_MS);
	bool killed = false;

	reap(s);
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

/* The parent behind the wall does not tell when the command stops itself. */
static void look_for_stop(struct service *s)
{
	bool stopped = s->command != s->waited && aw_proc_stopped(s->command);

	if (stopped && !s->stopped)
		tell(s, AW_NEWS_STOPPED, SIGSTOP, -1);
	s->stopped = stopped;
}

/* `limits.time`: the whole tree is asked to end, and killed when it does not. */
static void check_time(struct service *s)
{
	if (!s->end || s->timed_out || now_ms() < s->end)
		return;
	s->timed_out = true;
	aw_service_say_warning(&s->watch, "limits", false,
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

static int add_to_loop(struct service *s, int fd, uint64_t what)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = what};

	return epoll_ctl(s->loop, EPOLL_CTL_ADD, fd, &event);
}

static int set_up_watch(struct service *s, struct aw_error *err)
{
	struct aw_run *run = s->run;
	struct aw_watch *w = &s->watch;

	w->engine = run->engine;
	w->enforce = run->policy.mode == AW_ENFORCE;
	w->hides = run->shared.page->hides;
	w->ask = run->shared.page->ask;
	w->quiet = run->options.quiet;
	w->holds = w->enforce && run->engine != AW_PRELOAD;
	w->own_network = run->wall.own_network;
	w->own_pids = run->wall.own_pids;
	w->self = getpid();
	w->front = run->front;
	w->facts = &run->holding.facts;
	w->strength_kernel = w->holds ? "supervisor" : "supervisor (raced)";
	w->listener = -1;
	w->last_call = &run->kept->last_call;
	atomic_store(&w->image, run->policy.image);
	atomic_store(&w->shared, &run->shared);
	snprintf(w->shim, sizeof(w->shim), "%s", run->shim ? run->shim : "");
	pthread_mutex_init(&w->log_lock, NULL);
	pthread_mutex_init(&w->spare_lock, NULL);
	w->spares_wanted = AW_SPARE_LEAST;
	w->pidfds = epoll_create1(EPOLL_CLOEXEC);
	s->loop = epoll_create1(EPOLL_CLOEXEC);
	w->tree = aw_processes_new(run->engine != AW_PRELOAD);
	if (w->pidfds < 0 || s->loop < 0 || !w->tree)
		return aw_fail(err, ENOMEM, "starting the supervisor");
	aw_processes_on_born(w->tree, aw_watch_born, w);
	if (aw_names_create(run->policy.image, &w->names, err) < 0)
		return -1;
	/* in enforce names come from the name service; in the order of calls nothing is
	 * late */
	if (!w->enforce && !w->ask && run->engine != AW_KERNEL &&
		!(w->unnamed = aw_late_new(&w->readers)))
		return aw_fail(err, ENOMEM, "starting the supervisor");
	w->mcp = aw_mcp_create(
		run->layers.variables.workspace, run->layers.variables.home);
	if (w->enforce &&
		(aw_questions_create(run->ask_deadline, &w->questions, err) < 0 ||
			aw_asker_create(w, &w->asker, err) < 0))
		return -1;
	return aw_log_open(run->log_fd, run->session->id, &w->log, err);
}

static int set_up_loop(struct service *s, struct aw_error *err)
{
	sigset_t set;

	sigfillset(&set);
	if (s->run->engine != AW_PRELOAD)
		sigdelset(&set, SIGUSR2); /* ends the notification threads' waiting */
	sigprocmask(SIG_SETMASK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	s->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (s->signals < 0 || add_to_loop(s, s->signals, WAIT_SIGNALS) < 0 ||
		add_to_loop(s, s->news, WAIT_NEWS) < 0)
		return aw_fail(
			err, errno, "starting the supervisor: %s", strerror(errno));
	if (s->watch.questions &&
		add_to_loop(s, aw_questions_fd(s->watch.questions), WAIT_QUESTIONS) < 0)
		return aw_fail(
			err, errno, "starting the supervisor: %s", strerror(errno));
	if (aw_control_open(s->run->session->control, &s->control, err) < 0)
		return -1;
	return add_to_loop(s, aw_control_fd(s->control), WAIT_CONTROL);
}

/* Others are served until the command's start has come about, or not. */
static void serve_until(void *service, int socket)
{
	struct service *s = service;
	struct pollfd fds[2] = {
		{.fd = socket, .events = POLLIN}, {.fd = s->loop, .events = POLLIN}};

	do {
		int timeout = s->announcer.pending || s->stopping ? 50 : -1;

		if (poll(fds, 2, timeout) < 0 && errno != EINTR)
			return;
		if (!fds[0].revents)
			wait_once(s, 0);
	} while (!fds[0].revents);
}

/*
 * Sockets of the wall's network can be made from now on.  Where nothing is allowed that
 * leads out of it, nobody needs them: firejail's belongs to root.
 */
static int enter_network(struct service *s, struct aw_error *err)
{
	const struct aw_run *run = s->run;
	bool needed =
		run->plan.network != AW_PLAN_NET_NONE || run->offers.forwards.count > 0;

	if (!s->watch.own_network || !s->watch.holds)
		return 0;
	if (aw_inner_start(s->command, &s->watch.inner, err) == 0)
		return 0;
	return needed ? aw_while(err, "nothing was started") : 0;
}

/* Where names are judged, we answer for them; again after a reload that judges some. */
static int answer_names(
	struct service *s, const struct aw_policy *policy, struct aw_error *err)
{
	struct aw_name_service *dns = atomic_load(&s->watch.dns);

	if (dns)
		aw_name_service_reload(dns, policy);
	if (dns || !s->watch.holds || !aw_name_service_is_needed(policy) ||
		(s->watch.own_network && !s->watch.inner))
		return 0;
	if (aw_name_service_start(&s->watch, s->watch.inner, policy, &dns, err) < 0)
		return -1;
	atomic_store(&s->watch.dns, dns);
	return 0;
}

static void say_offer(void *ctx, const char *sentence)
{
	struct service *s = ctx;

	aw_service_say_policy(&s->watch, s->run, sentence);
	if (!s->run->options.quiet)
		aw_say("%s", sentence);
}

/* Threads first, then the command: its very first call already waits for an answer. */
static int start(struct service *s, struct aw_error *err)
{
	struct aw_launched launched;
	int failed;

	if (s->run->engine == AW_PRELOAD)
		aw_service_say_gap(&s->watch, s->run);
	if (s->run->engine == AW_PRELOAD &&
		aw_socket_service_open(&s->watch, s->run->socket, &s->sockets, err) < 0)
		return AW_RUN_FAILED;
	if (aw_launch(s->run, &launched, err) < 0)
		return AW_RUN_FAILED;
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
	if (enter_network(s, err) < 0)
		return AW_RUN_FAILED;
	if ((s->watch.holds || s->run->offers.proxy_port) &&
		aw_traffic_create(&s->watch, &s->run->policy, &s->watch.traffic, err) <
			0)
		return AW_RUN_FAILED;
	aw_service_say_start(&s->watch, s->run, s->command);
	if (answer_names(s, &s->run->policy, err) < 0)
		return AW_RUN_FAILED;
	if (launched.listener >= 0 &&
		aw_notify_start(&s->watch, NOTIFY_THREADS, &s->notify, err) < 0)
		return AW_RUN_FAILED;
	if (aw_drain_start(&s->watch, &s->drain, err) < 0)
		return AW_RUN_FAILED;
	if (aw_offers_start(&s->run->offers, &s->watch, say_offer, s, err) < 0)
		return AW_RUN_FAILED;
	tell(s, AW_NEWS_STARTED, s->command, launched.listener);
	failed = aw_launch_go(s->run, &launched, serve_until, s, err);
	if (!failed && s->run->engine == AW_PRELOAD) {
		struct aw_who who;

		aw_processes_find(s->watch.tree, s->command, &who);
	}
	return failed;
}

static void finish(struct service *s)
{
	struct aw_error err;

	aw_asker_stop(s->watch.asker);
	aw_notify_stop(s->notify);
	aw_socket_service_stop(s->sockets);
	aw_drain_finish(s->drain);
	aw_name_service_stop(atomic_load(&s->watch.dns));
	aw_offers_stop(&s->run->offers);
	aw_traffic_free(s->watch.traffic);
	aw_late_free(s->watch.unnamed);
	aw_inner_stop(s->watch.inner);
	aw_names_free(s->watch.names);
	aw_mcp_free(s->watch.mcp);
	aw_asker_free(s->watch.asker);
	aw_questions_free(s->watch.questions);
	aw_watch_unstock(&s->watch);
	aw_service_say_summary(&s->watch, s->run);
	aw_service_say_unwritten(&s->watch);
	aw_control_close(s->control);
	if (aw_session_finish(s->run->session, s->status, &err) < 0)
		aw_say("%s", err.text);
	aw_log_close(s->watch.log);
}

int aw_service(struct aw_run *run, int news)
{
	struct service *s = calloc(1, sizeof(*s));
	struct aw_error err = {.code = 0};
	int failed;

	if (!s)
		return AW_RUN_FAILED;
	s->run = run;
	s->news = news;
	s->status = s->command_pidfd = -1;
	setpgid(0, 0);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	prctl(PR_SET_NAME, "agentwatch"); /* whatever the file is called: peer.c */
	if (set_up_watch(s, &err) < 0 || set_up_loop(s, &err) < 0) {
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
		tell(s, AW_NEWS_ENDED, s->status, -1);
		keep_serving(s);
	}
	end_descendants(s);
	if (s->timed_out)
		s->status = AW_LIMIT_TIMED_OUT;
	aw_service_say_limits(&s->watch, run);
	aw_limits_end(&run->limiter);
	finish(s);
	tell(s, AW_NEWS_ENDED, s->status, -1);
	return s->status;
}
