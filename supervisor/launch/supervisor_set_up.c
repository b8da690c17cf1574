/* SPDX-License-Identifier: Apache-2.0 */
/* supervisor_set_up.c - what the service has before the command starts and gives up
 * last.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "supervisor/audit/segments.h"
#include "supervisor/cli/say.h"
#include "supervisor/launch/supervisor_internal.h"
#include "supervisor/linux/netns/netns.h"
#include "supervisor/net/dns/name_service.h"
#include "supervisor/net/egress/egress.h"
#include "supervisor/process/mcp.h"
#include "supervisor/util/cleanup.h"

static int add_to_loop(struct service *s, int fd, uint64_t what)
{
	struct epoll_event event = {.events = EPOLLIN, .data.u64 = what};

	return epoll_ctl(s->loop, EPOLL_CTL_ADD, fd, &event);
}

/* The session's own log keeps to its limit; a file that the user named is his. */
static int set_up_log(struct service *s, struct aw_error *err)
{
	struct aw_run *run = s->run;
	uint64_t limit = run->policy.limits.log_size;
	AW_FREE char *path = NULL;

	if (aw_log_open(run->log_fd, run->session->id, &s->watch.log, err) < 0)
		return -1;
	if (run->log_fd < 0 || run->options.log)
		return 0;
	path = aw_session_path(run->session, "events.jsonl");
	if (!path)
		return aw_fail(err, ENOMEM, "naming the log: out of memory");
	return aw_log_limit(
		s->watch.log, path, limit ? limit : AW_LOG_SIZE_DEFAULT, err);
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
	w->own_network = run->sandbox.own_network;
	w->foresees_network = run->foresees_network;
	w->own_pids = run->sandbox.own_pids;
	w->self = getpid();
	w->launcher = run->launcher;
	w->facts = &run->holding.facts;
	w->strength_kernel = w->holds ? "supervisor" : "supervisor-raced";
	w->listener = -1;
	w->last_call = &run->fallback->last_call;
	atomic_store(&w->image, run->policy.image);
	atomic_store(&w->origins, run->policy.origins);
	atomic_store(&w->shared, &run->shared);
	snprintf(w->shim, sizeof(w->shim), "%s", run->shim ? run->shim : "");
	pthread_mutex_init(&w->log_lock, NULL);
	pthread_mutex_init(&w->spare_lock, NULL);
	w->spares_wanted = AW_RING_POOL_MIN;
	w->pidfds = epoll_create1(EPOLL_CLOEXEC);
	s->loop = epoll_create1(EPOLL_CLOEXEC);
	w->tree = aw_processes_new(run->engine != AW_PRELOAD, w->holds);
	if (w->pidfds < 0 || s->loop < 0 || !w->tree)
		return aw_fail(err, ENOMEM, "starting the supervisor");
	aw_processes_on_born(w->tree, aw_watch_born, w);
	if (aw_names_create(run->policy.image, &w->names, err) < 0)
		return -1;
	/* in enforce names come from the name service; in the order of calls nothing is
	 * late */
	if (!w->enforce && !w->ask && run->engine != AW_KERNEL &&
		!(w->unnamed = aw_pending_events_new(&w->readers)))
		return aw_fail(err, ENOMEM, "starting the supervisor");
	w->mcp = aw_mcp_create(
		run->layers.variables.workspace, run->layers.variables.home);
	if (w->enforce &&
		(aw_questions_create(run->ask_deadline, &w->questions, err) < 0 ||
			aw_approval_queue_create(w, &w->queue, err) < 0))
		return -1;
	return set_up_log(s, err);
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

int aw_supervisor_set_up(struct service *s, struct aw_error *err)
{
	return set_up_watch(s, err) < 0 || set_up_loop(s, err) < 0 ? -1 : 0;
}

int aw_supervisor_enter_network(struct service *s, struct aw_error *err)
{
	const struct aw_run *run = s->run;
	bool needed = run->plan.network != AW_PLAN_NET_NONE ||
		      run->listeners.forwards.count > 0;

	if (!s->watch.own_network || !s->watch.holds)
		return 0;
	if (aw_netns_start(s->command, &s->watch.netns, err) == 0)
		return 0;
	return needed ? aw_while(err, "nothing was started") : 0;
}

int aw_supervisor_answer_names(
	struct service *s, const struct aw_policy *policy, struct aw_error *err)
{
	struct aw_name_service *dns = atomic_load(&s->watch.dns);

	if (dns)
		aw_name_service_reload(dns, policy);
	if (dns || !s->watch.holds || !aw_name_service_is_needed(policy) ||
		(s->watch.own_network && !s->watch.netns))
		return 0;
	if (aw_name_service_start(&s->watch, s->watch.netns, policy, &dns, err) < 0)
		return -1;
	atomic_store(&s->watch.dns, dns);
	return 0;
}

void aw_supervisor_finish(struct service *s)
{
	struct aw_error err;

	aw_approval_queue_stop(s->watch.queue);
	aw_notify_stop(s->notify);
	aw_socket_service_stop(s->sockets);
	aw_drain_finish(s->drain);
	aw_name_service_stop(atomic_load(&s->watch.dns));
	aw_listeners_stop(&s->run->listeners);
	aw_egress_free(s->watch.traffic);
	aw_pending_events_free(s->watch.unnamed);
	aw_netns_stop(s->watch.netns);
	aw_names_free(s->watch.names);
	aw_mcp_free(s->watch.mcp);
	aw_approval_queue_free(s->watch.queue);
	aw_questions_free(s->watch.questions);
	aw_watch_empty_pool(&s->watch);
	aw_supervisor_say_summary(&s->watch, s->run);
	aw_supervisor_say_unwritten(&s->watch);
	aw_control_close(s->control);
	if (aw_session_finish(s->run->session, s->status, &err) < 0)
		aw_say("%s", err.text);
	aw_log_close(s->watch.log);
}
