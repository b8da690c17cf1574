/* SPDX-License-Identifier: Apache-2.0 */
/* supervisor_says.c - first and last lines of a session. */
#include "supervisor/launch/supervisor_says.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/cli/say.h"

void aw_supervisor_say_warning(
	struct aw_watch *watch, const char *kind, bool quiet, const char *fmt, ...)
{
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	aw_watch_warn(watch, NULL, kind, "%s", text);
	if (!quiet)
		aw_say("%s", text);
}

void aw_supervisor_say_policy(
	struct aw_watch *watch, const struct aw_run *run, const char *text)
{
	struct aw_event event = {.kind = AW_EV_POLICY, .text = text, .port = -1};

	event.pid = getpid();
	event.ppid = run->launcher;
	aw_watch_log(watch, &event);
}

void aw_supervisor_say_gap(struct aw_watch *watch, const struct aw_run *run)
{
	aw_supervisor_say_warning(watch, "preload", run->options.quiet,
		"engine preload sees dynamic programs only: static programs, "
		"raw system calls and what libc does inside are not logged");
}

/* Mode, engine and runner, and by whom the policy is held at best. */
static void describe(const struct aw_run *run, char *text, size_t size)
{
	const struct aw_enforcement *holding = &run->holding;
	char landlock[32] = "";

	if (holding->landlock.version)
		snprintf(landlock, sizeof(landlock), ", landlock interface %d",
			holding->landlock.version);
	snprintf(text, size, "mode %s, engine %s, runner %s%s%s, held by %s%s",
		holding->facts.enforce ? "enforce" : "audit",
		aw_engine_name(run->engine), run->sandbox.runner->name, landlock,
		run->sandbox.own_network ? ", network of its own" : "",
		holding->facts.landlock || holding->facts.mounts ? "kernel and " : "",
		!holding->facts.notified ? "shim"
		: holding->facts.enforce ? "supervisor"
					 : "supervisor-raced");
}

/* What holds each limit, and what is only nearly held. */
static void say_how_limited(struct aw_watch *watch, const struct aw_run *run)
{
	const struct aw_limiter *limiter = &run->limiter;
	char text[sizeof(limiter->text) + sizeof(limiter->nearly) + 64];

	snprintf(text, sizeof(text), "limits: %s%s%s", limiter->text,
		limiter->nearly[0] ? "; not held exactly: " : "", limiter->nearly);
	aw_supervisor_say_policy(watch, run, text);
}

/* Names alone: what is withheld is not to be read in the log either. */
static void say_what_is_withheld(struct aw_watch *watch, const struct aw_run *run)
{
	static const char intro[] = "withheld from the environment: ";
	char text[1024];
	size_t n = sizeof(intro) - 1;

	memcpy(text, intro, n);
	aw_run_withheld(run, text + n, sizeof(text) - n);
	if (text[n])
		aw_supervisor_say_policy(watch, run, text);
}

void aw_supervisor_say_start(
	struct aw_watch *watch, const struct aw_run *run, pid_t command)
{
	struct aw_event event = {.kind = AW_EV_START, .port = -1};
	char text[192];

	describe(run, text, sizeof(text));
	event.text = text;
	event.pid = command;
	event.ppid = getpid();
	aw_watch_log(watch, &event);
	if (run->limiter.text[0])
		say_how_limited(watch, run);
	say_what_is_withheld(watch, run);
}

void aw_supervisor_say_limits(struct aw_watch *watch, const struct aw_run *run)
{
	char text[256];

	aw_limits_report(&run->limiter, text, sizeof(text));
	if (text[0])
		aw_supervisor_say_warning(watch, "limits", false, "%s", text);
}

void aw_supervisor_say_summary(struct aw_watch *watch, const struct aw_run *run)
{
	const struct aw_log_counts *counts = aw_log_counts(watch->log);
	struct aw_event event = {.kind = AW_EV_SUMMARY, .port = -1};
	char extra[160], line[256];

	snprintf(extra, sizeof(extra), "\"calls\":%llu,\"denied\":%llu,\"execs\":%llu",
		(unsigned long long)counts->calls, (unsigned long long)counts->denied,
		(unsigned long long)counts->execs);
	event.pid = getpid();
	event.ppid = run->launcher;
	event.extra = extra;
	aw_watch_log(watch, &event);
	aw_watch_flush(watch);
	if (!run->options.quiet && aw_summary_line(counts, run->policy.mode,
					   run->session->id, line, sizeof(line)))
		aw_say("%s", line);
}

void aw_supervisor_say_unwritten(const struct aw_watch *watch)
{
	uint64_t lost = aw_log_unwritten(watch->log);

	if (lost)
		aw_say("%" PRIu64
		       " %s not in the audit log: it could not be written to the end; "
		       "make room and run the command again for a whole one",
			lost, lost == 1 ? "event is" : "events are");
}
