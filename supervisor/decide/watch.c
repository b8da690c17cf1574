/* SPDX-License-Identifier: Apache-2.0 */
/* watch.c - logging and bookkeeping shared by the supervisor's threads. */
#include "supervisor/decide/watch.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/cli/say.h"
#include "supervisor/decide/reason.h"
#include "supervisor/linux/pidfd.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/process/descend.h"

const char *aw_engine_name(enum aw_engine engine)
{
	static const char *const names[] = {"hybrid", "kernel", "preload"};

	return names[engine];
}

uint64_t aw_watch_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Called with the log locked: audit goes on, enforce stops the agent. */
static void log_trouble(struct aw_watch *watch, const char *what, const char *events)
{
	if (watch->log_failed)
		return;
	watch->log_failed = true;
	if (watch->enforce) {
		aw_say("%s; the agent is stopped, since enforce needs its log", what);
		atomic_store(&watch->stop_agent, true);
		kill(watch->self, SIGCHLD); /* the service's loop looks at once */
	} else {
		aw_say("%s; the command goes on, events %s", what, events);
	}
}

int aw_watch_refusal(const struct aw_watch *watch, const struct aw_event *event,
	enum aw_verdict verdict)
{
	if (verdict == AW_HIDE)
		return ENOENT;
	return event->action == AW_CONNECT && event->family
		       ? (int)atomic_load(&watch->shared)->page->refusal
		       : EACCES;
}

/* Who made, or could have made, the verdict hold. */
static const char *strength_of(struct aw_watch *watch, const struct aw_event *event)
{
	struct aw_strength_facts facts = *watch->facts;
	const struct aw_text *path =
		event->family == AF_UNIX ? &event->address : &event->path;
	const struct aw_refused refused = {.action = event->action,
		.call = event->call,
		.path = path->bytes,
		.path_len = path->len,
		.path2 = event->path2.bytes,
		.path2_len = event->path2.len,
		.family = event->family,
		.rule = event->rule_index};
	struct aw_enforced held;

	facts.image = atomic_load(&watch->image);
	facts.profiles = event->profiles;
	facts.notified &= event->source != AW_FROM_SHIM;
	if (event->verdict == AW_ALLOW)
		aw_strength_of_allowed(&facts, event->action, event->call, &held);
	else
		aw_strength_of(&facts, &refused, &held);
	return aw_strength_name(held.strength);
}

void aw_watch_log(struct aw_watch *watch, struct aw_event *event)
{
	if (!event->ts)
		event->ts = aw_watch_now();
	if (!watch->unnamed || !aw_pending_events_hold(watch->unnamed, event))
		aw_watch_log_now(watch, event);
}

/*
 * Audit: a call that had no effect since something is not there, or is there already,
 * is none that enforce would have refused.  That a name is taken it tells where the
 * place may be read.
 */
static bool was_in_vain(struct aw_watch *watch, const struct aw_event *event)
{
	struct aw_decision seen;

	if (event->enforced || event->verdict == AW_ALLOW || !event->result_known)
		return false;
	switch (event->result) {
	case ENOENT:
	case ENOTDIR:
	case EBADF:
	case EFAULT:
		return true;
	case EEXIST:
		aw_image_decide_path_in(atomic_load(&watch->image), event->profiles,
			AW_READ, event->path.bytes, event->path.len, &seen);
		return seen.verdict == AW_ALLOW;
	default:
		return false;
	}
}

void aw_watch_log_now(struct aw_watch *watch, struct aw_event *event)
{
	char reason[AW_REASON_SIZE];
	struct aw_error err;

	if (event->judged && was_in_vain(watch, event)) {
		event->verdict = AW_ALLOW;
		event->rule = NULL;
		event->rule_index = AW_NO_RULE;
	}
	if (event->judged && !event->strength)
		event->strength = strength_of(watch, event);
	aw_reason(watch, event, reason);
	if (reason[0] && !(event->extra && strstr(event->extra, "\"reason\":")))
		event->reason = reason;
	pthread_mutex_lock(&watch->log_lock);
	if (aw_log_write(watch->log, event, &err) < 0)
		log_trouble(watch, err.text, "wait in memory");
	pthread_mutex_unlock(&watch->log_lock);
	event->reason = NULL; /* it was on the stack */
}

void aw_watch_flush(struct aw_watch *watch)
{
	struct aw_error err;

	pthread_mutex_lock(&watch->log_lock);
	if (aw_log_flush(watch->log, &err) < 0)
		log_trouble(watch, err.text, "wait in memory");
	else if (aw_log_was_deleted(watch->log))
		log_trouble(watch, "the audit log was deleted", "are lost");
	pthread_mutex_unlock(&watch->log_lock);
}

void aw_watch_complete(struct aw_watch *watch)
{
	if (atomic_load(&watch->settle) > 0) {
		atomic_fetch_sub(&watch->settle, 1);
		aw_shared_moved(atomic_load(&watch->shared));
	}
	if (atomic_load(&watch->settle_links) > 0) {
		atomic_fetch_sub(&watch->settle_links, 1);
		aw_shared_led(atomic_load(&watch->shared));
	}
}

void aw_watch_sign(struct aw_event *event, const struct aw_process_info *who)
{
	event->pid = who->pid;
	event->ppid = who->ppid;
	event->exe = (struct aw_text){who->exe, strlen(who->exe)};
	event->mcp = who->role.mcp;
	event->profile = who->role.profile;
	event->profiles = who->role.profiles;
}

void aw_watch_warn(struct aw_watch *watch, const struct aw_process_info *who,
	const char *kind, const char *fmt, ...)
{
	struct aw_event event = {.kind = AW_EV_WARNING, .warning_kind = kind};
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	event.text = text;
	if (who)
		aw_watch_sign(&event, who);
	else
		event.pid = getpid();
	aw_watch_log(watch, &event);
}

bool aw_watch_is_beyond(
	struct aw_watch *watch, const struct aw_process_info *who, pid_t pid)
{
	struct aw_process_info other;
	pid_t leader, parent;

	if (!who->role.profiles || pid <= 0)
		return false;
	if (watch->own_pids)
		pid = aw_proc_outer_pid(who->pid, pid);
	if (!pid || !aw_proc_parent(pid, &leader, &parent))
		return false; /* nobody is there */
	if (leader == who->pid || aw_descends(leader, who->pid))
		return false;
	return !aw_processes_peek(watch->tree, leader, &other) ||
	       (who->role.profiles & ~other.role.profiles);
}

static bool ends_in(const struct aw_text *text, const char *end)
{
	size_t len = strlen(end);

	return text->len >= len && memcmp(text->bytes + text->len - len, end, len) == 0;
}

/*
 * Python asks for a directory for its caches beside each module, and goes on without
 * one. No rule is about that: where the default refuses the directory it is no denial.
 * What is written into such a directory is one, since it would be run.
 */
static bool is_for_caches(const struct aw_event *event, const struct aw_decision *of)
{
	return of->verdict == AW_DENY && of->rule == AW_NO_RULE && !event->why &&
	       event->action == AW_CREATE && ends_in(&event->path, "/__pycache__");
}

/*
 * Audit: the directory and the samples that `git init` copies from its template, which
 * enforce has it not do (environment.c).  Git runs no sample.
 */
static bool is_sample_hook(const struct aw_event *event, const struct aw_rule *rule)
{
	static const char group[] = "git-hooks: ";

	return event->action == AW_CREATE && strcmp(rule->layer, "built-in") == 0 &&
	       strncmp(rule->text, group, sizeof(group) - 1) == 0 &&
	       (ends_in(&event->path, ".sample") || ends_in(&event->path, "/hooks"));
}

void aw_watch_judge(struct aw_watch *watch, struct aw_event *event,
	const struct aw_decision *decision, struct aw_rule *rule, bool by_shim)
{
	event->verdict = is_for_caches(event, decision) ? AW_ALLOW : decision->verdict;
	event->ask_denied = decision->verdict == AW_ASK; /* until there is a yes */
	if (aw_image_rule(atomic_load(&watch->image), decision->rule, rule))
		event->rule = rule;
	if (event->verdict == AW_DENY && event->rule == rule && !watch->enforce &&
		is_sample_hook(event, rule)) {
		event->verdict = AW_ALLOW;
		event->rule = NULL;
	}
	event->rule_index = decision->rule;
	event->judged = true;
	event->source = by_shim ? AW_FROM_SHIM : AW_FROM_KERNEL;
}

/* Kept free for what each call needs for a moment: a look into /proc, an open. */
static bool is_to_spare(int fd)
{
	struct rlimit limit;

	return getrlimit(RLIMIT_NOFILE, &limit) < 0 ||
	       (rlim_t)fd + AW_FILES_SPARED < limit.rlim_cur;
}

/* No descriptor for it: its end has to be looked for. */
static void mind(struct aw_watch *watch)
{
	if (!atomic_exchange(&watch->minds, true))
		aw_watch_warn(watch, NULL, "limits",
			"hardly any descriptor is left to the supervisor; ends of processes are "
			"noticed up to a second late, and without their status");
}

void aw_watch_born(void *ctx, const struct aw_process_info *who, int pidfd)
{
	struct aw_watch *watch = ctx;
	struct epoll_event event = {.events = EPOLLIN};

	if (pidfd < 0 && errno == ESRCH) { /* gone already */
		aw_processes_exited(watch->tree, who->pid, -1);
		return;
	}
	if (pidfd < 0 || !is_to_spare(pidfd)) {
		if (pidfd >= 0)
			close(pidfd);
		mind(watch);
		return;
	}
	event.data.u64 = (uint64_t)(uint32_t)who->pid << 32 | (uint32_t)pidfd;
	if (epoll_ctl(watch->pidfds, EPOLL_CTL_ADD, pidfd, &event) < 0)
		close(pidfd);
}

/* Once a second, and only after descriptors were short. */
static void look_for_ends(struct aw_watch *watch)
{
	enum { MOST = 1 << 16 };
	time_t now = (time_t)(aw_watch_now() / 1000000000);
	pid_t *pids;
	size_t count;

	if (!atomic_load(&watch->minds) || now == watch->minded ||
		!(pids = calloc(MOST, sizeof(*pids))))
		return;
	watch->minded = now;
	count = aw_processes_alive(watch->tree, pids, MOST);
	for (size_t i = 0; i < count; i++)
		if (kill(pids[i], 0) < 0 && errno == ESRCH)
			aw_processes_exited(watch->tree, pids[i], -1);
	free(pids);
}

void aw_watch_ends(struct aw_watch *watch)
{
	struct epoll_event events[64];
	int n;

	look_for_ends(watch);
	do {
		n = epoll_wait(watch->pidfds, events, 64, 0);
		for (int i = 0; i < n; i++) {
			int pidfd = (int)(uint32_t)events[i].data.u64;
			pid_t pid = (pid_t)(events[i].data.u64 >> 32);

			if (pid != watch->late)
				aw_processes_exited(
					watch->tree, pid, aw_pidfd_status(pidfd));
			close(pidfd); /* the only one: epoll forgets it too */
		}
	} while (n == 64);
}

static bool take_spare(struct aw_watch *watch, struct aw_ring **ret_ring, int *ret_fd)
{
	bool found;

	pthread_mutex_lock(&watch->spare_lock);
	found = watch->spares > 0;
	if (!found && watch->spares_wanted < AW_RING_POOL_MAX) {
		watch->spares_wanted *= 2;
	} else if (found) {
		watch->spares--;
		*ret_ring = watch->pooled[watch->spares].ring;
		*ret_fd = watch->pooled[watch->spares].fd;
	}
	pthread_mutex_unlock(&watch->spare_lock);
	return found;
}

static bool wants_spare(struct aw_watch *watch)
{
	bool wants;

	pthread_mutex_lock(&watch->spare_lock);
	wants = watch->spares < watch->spares_wanted; /* at most AW_RING_POOL_MAX */
	pthread_mutex_unlock(&watch->spare_lock);
	return wants;
}

bool aw_watch_fill_pool(struct aw_watch *watch)
{
	struct aw_ring_pool fresh;
	bool made = false;

	while (wants_spare(watch) &&
		aw_ring_create(AW_RING_SMALL, 0, &fresh.ring, &fresh.fd, NULL) == 0) {
		if (!is_to_spare(fresh.fd)) {
			aw_ring_unmap(fresh.ring, AW_RING_SMALL);
			close(fresh.fd);
			break;
		}
		pthread_mutex_lock(&watch->spare_lock);
		watch->pooled[watch->spares++] = fresh; /* nobody else adds any */
		pthread_mutex_unlock(&watch->spare_lock);
		made = true;
	}
	return made;
}

void aw_watch_empty_pool(struct aw_watch *watch)
{
	while (watch->spares) {
		struct aw_ring_pool *pooled = &watch->pooled[--watch->spares];

		aw_ring_unmap(pooled->ring, AW_RING_SMALL);
		close(pooled->fd);
	}
}

int aw_watch_register(struct aw_watch *watch, const struct aw_process_info *who,
	bool big, int session_fd, int *ret_fd)
{
	uint32_t size = big ? AW_RING_BIG : AW_RING_SMALL;
	struct aw_ring *ring;
	struct aw_error err;

	/* nobody needs so many, and each costs us memory until it ends */
	if (watch->engine != AW_PRELOAD &&
		aw_processes_rings(watch->tree, who->pid) >= AW_RINGS_MAX) {
		aw_processes_set_shim(watch->tree, who->pid, AW_SHIM_READY);
		return -1;
	}
	if ((big || !take_spare(watch, &ring, ret_fd)) &&
		aw_ring_create(size, who->pid, &ring, ret_fd, &err) < 0) {
		aw_watch_warn(watch, who, "ring",
			"no memory shared with process %d: %s", who->pid, err.text);
		return -1;
	}
	ring->owner = who->pid;
	ring->session_fd = session_fd;
	ring->profiles = who->role.profiles;
	ring->session_size = (uint32_t)(AW_IMAGE_OFFSET +
					atomic_load(&watch->shared)->page->image_size);
	if (watch->own_pids)
		aw_processes_set_inner_pid(
			watch->tree, who->pid, aw_proc_inner_pid(who->pid));
	/* the last look at it: who is killed now has its rings taken away */
	if (aw_processes_add_ring(watch->tree, who, ring, size) < 0) {
		aw_ring_unmap(ring, size);
		close(*ret_fd);
		return -1;
	}
	return 0;
}
