/* SPDX-License-Identifier: Apache-2.0 */
/* launch_order.c - what agentwatch-enter is told to do, and what it could not do. */
#include "supervisor/launch/launch_order.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "policy/array.h"
#include "policy/bytes.h"
#include "supervisor/linux/seccomp/filter.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1UL << 5)
#endif

#define BIT(cap) (UINT64_C(1) << (cap))

/*
 * Enough to install packages and to change owners.  Not among them: DAC_READ_SEARCH
 * (opens files by handle, past every path), SYS_PTRACE, SYS_ADMIN (mounts), MKNOD
 * (reaches disks through a device file of one's own), NET_RAW, NET_ADMIN.
 */
static const uint64_t kept_capabilities =
	BIT(CAP_CHOWN) | BIT(CAP_DAC_OVERRIDE) | BIT(CAP_FOWNER) | BIT(CAP_FSETID) |
	BIT(CAP_KILL) | BIT(CAP_SETGID) | BIT(CAP_SETUID) | BIT(CAP_SETPCAP) |
	BIT(CAP_SETFCAP) | BIT(CAP_NET_BIND_SERVICE) | BIT(CAP_AUDIT_WRITE) |
	BIT(CAP_SYS_CHROOT);

static void put_limits(const struct aw_limiter *limiter, struct aw_bytes *out)
{
	for (size_t i = 0; i < limiter->limit_count; i++) {
		struct aw_enter_limit limit = {.resource = limiter->limits[i].resource,
			.most = limiter->limits[i].most};

		aw_bytes_add(out, &limit, sizeof(limit));
	}
}

/*
 * In enforce no process dumps core: the kernel would write the file, under a name and
 * in a directory of the program's choice, whatever the rules say.  The hard limit goes,
 * and with it the right to raise it (kept_capabilities).
 */
static uint32_t put_core_limit(const struct aw_run *run, struct aw_bytes *out)
{
	const struct aw_enter_limit none = {.resource = RLIMIT_CORE, .most = 0};

	if (run->policy.mode != AW_ENFORCE)
		return 0;
	if (out)
		aw_bytes_add(out, &none, sizeof(none));
	return 1;
}

static void put_landlock(const struct aw_landlock *landlock, struct aw_bytes *out)
{
	for (size_t i = 0; i < landlock->count; i++) {
		const struct aw_landlock_rule *from = &landlock->rules[i];
		struct aw_enter_path rule = {.access = from->access,
			.len = (uint32_t)strlen(from->path) + 1};

		aw_bytes_add(out, &rule, sizeof(rule));
		aw_bytes_add(out, from->path, rule.len);
	}
	for (size_t i = 0; i < landlock->port_count; i++) {
		struct aw_enter_port rule = {
			landlock->ports[i].access, landlock->ports[i].port};

		aw_bytes_add(out, &rule, sizeof(rule));
	}
}

static uint64_t bits_of(const sigset_t *set)
{
	uint64_t bits = 0;

	for (int n = 1; n <= 64; n++)
		if (sigismember(set, n) == 1)
			bits |= UINT64_C(1) << (n - 1);
	return bits;
}

static uint64_t ignored_signals(const struct aw_run *run)
{
	uint64_t bits = run->ignores_ends ? UINT64_C(1) << (SIGCHLD - 1) : 0;

	for (int n = 1; n <= 64; n++) {
		struct sigaction now;

		if (sigaction(n, NULL, &now) == 0 && now.sa_handler == SIG_IGN)
			bits |= UINT64_C(1) << (n - 1);
	}
	return bits;
}

/* What the command is to have, which the sandbox's program does not pass on. */
static void put_state(const struct aw_run *run, char *const *env, struct aw_bytes *out)
{
	struct aw_enter_state state = {
		.blocked = bits_of(&run->mask), .ignored = ignored_signals(run)};

	for (; env[state.env_count]; state.env_count++)
		state.env_size += (uint32_t)strlen(env[state.env_count]) + 1;
	state.arg_size = (uint32_t)strlen(run->program) + 1;
	for (; run->command[state.arg_count]; state.arg_count++)
		state.arg_size += (uint32_t)strlen(run->command[state.arg_count]) + 1;
	state.arg_count++;
	aw_bytes_add(out, &state, sizeof(state));
	for (size_t i = 0; env[i]; i++)
		aw_bytes_add(out, env[i], strlen(env[i]) + 1);
	aw_bytes_add(out, run->program, strlen(run->program) + 1);
	for (size_t i = 0; run->command[i]; i++)
		aw_bytes_add(out, run->command[i], strlen(run->command[i]) + 1);
}

static void put_order(const struct aw_run *run, char *const *env, struct aw_bytes *out)
{
	const struct aw_landlock *landlock = &run->holding.landlock;
	struct aw_enter_order order = {
		.files = landlock->files,
		.network = landlock->network,
		.scopes = landlock->scopes,
		.paths = (uint32_t)landlock->count,
		.ports = (uint32_t)landlock->port_count,
		.what = (run->holding.drop_capabilities ? AW_ENTER_DROP : 0) |
			(run->sandbox.prefix ? AW_ENTER_BEHIND : 0),
		.keep = kept_capabilities,
		.limits =
			(uint32_t)run->limiter.limit_count + put_core_limit(run, NULL),
	};
	struct aw_filter filter = {.count = 0};

	if (run->engine != AW_PRELOAD) {
		const struct aw_page *page = run->shared.page;

		const struct aw_filter_params params = {
			.gate = atomic_load(&page->work) == AW_WORK_FAST,
			.gate_reads = atomic_load(&page->work) == AW_WORK_READS,
			.metadata = page->hides,
			.holds = page->enforce,
			.kin = page->enforce,
		};

		aw_filter_build(&params, &filter);
		order.count = filter.count;
		order.flags =
			run->hybrid_flags ? SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV : 0;
	}
	aw_bytes_add(out, &order, sizeof(order));
	put_limits(&run->limiter, out);
	put_core_limit(run, out);
	put_landlock(landlock, out);
	if (run->sandbox.prefix)
		put_state(run, env, out);
	aw_bytes_add(out, filter.code, sizeof(filter.code[0]) * filter.count);
}

static int send_all(const struct aw_run *run, int fd, const char *bytes, size_t size,
	struct aw_error *err)
{
	size_t done = 0;

	while (done < size) {
		ssize_t n = send(fd, bytes + done, size - done, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
			return 0; /* what it reported before it ended says why */
		if (n < 0)
			return aw_fail(err, errno, "talking to %s: %s", run->enter,
				strerror(errno));
		done += (size_t)n;
	}
	return 0;
}

int aw_launch_order(
	const struct aw_run *run, char *const *env, int fd, struct aw_error *err)
{
	struct aw_bytes out = {NULL, 0, 0, false};
	int failed;

	put_order(run, env, &out);
	failed = out.failed ? aw_fail(err, ENOMEM,
				      "writing the order for %s: out of memory",
				      run->enter)
			    : send_all(run, fd, out.data, out.len, err);
	aw_bytes_free(&out);
	return failed;
}

int aw_launch_refused(const struct aw_run *run, const struct aw_enter_report *report,
	struct aw_error *err)
{
	static const struct {
		enum aw_enter_step step;
		const char *doing, *advice;
	} steps[] = {
		{AW_ENTER_NO_FILTER, "installing the seccomp filter",
			"; --engine preload does without"},
		{AW_ENTER_NO_ORDER, "taking its order",
			"; it is of another version, so install agentwatch again"},
		{AW_ENTER_NO_LIMIT, "lowering a resource limit",
			"; limits in the policy say which"},
		{AW_ENTER_NO_RULESET, "making a Landlock ruleset",
			"; --runner exec does without"},
		{AW_ENTER_NO_PATH, "granting a path to Landlock",
			"; --runner exec does without"},
		{AW_ENTER_NO_PORT, "granting a TCP port to Landlock",
			"; --runner exec does without"},
		{AW_ENTER_NO_LANDLOCK, "going behind Landlock",
			"; --runner exec does without"},
		{AW_ENTER_NO_SOCKET, "making a socket inside the sandbox",
			"; --runner exec does without"},
		{AW_ENTER_NO_DROP, "giving up capabilities",
			"; --runner exec does without"},
	};
	const char *why = report->step == AW_ENTER_NO_LANDLOCK && report->value == E2BIG
				  ? "16 Landlock layers stand around it already"
				  : strerror(report->value);

	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if ((int32_t)steps[i].step == report->step)
			return aw_fail(err, report->value, "agentwatch-enter: %s: %s%s",
				steps[i].doing, why, steps[i].advice);
	return aw_fail(err, EPROTO,
		"%s said something unknown (%d); it is of another version, so install "
		"agentwatch again",
		run->enter, report->step);
}
