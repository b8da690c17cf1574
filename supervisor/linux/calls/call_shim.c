/* SPDX-License-Identifier: Apache-2.0 */
/* call_shim.c - the opens by which a process gets its shim, and the shim's hello. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/util/cleanup.h"

/* Where there is no ring besides, it is what the open returns. */
static bool give_session(struct aw_notified *call, int *ret_fd)
{
	*ret_fd = aw_call_inject(call, atomic_load(&call->watch->shared)->fd, false);
	if (*ret_fd < 0)
		return false;
	call->reply = AW_REPLY_VALUE;
	call->err = 0;
	call->value = *ret_fd;
	return true;
}

/*
 * Give the shim its ring and, inside the ring's header, the session's descriptor unless
 * it has the session. Where only that one could be had, the shim finds that it is no
 * ring and closes it, so that no descriptor stays in a process that has none to spare.
 */
static void greet(struct aw_notified *call, bool big, bool has_session)
{
	struct aw_event hello = {.kind = AW_EV_REGISTER, .ts = call->event.ts};
	bool first = call->target.who.shim != AW_SHIM_READY;
	AW_CLOSE int fd = -1;
	int session = -1;

	call->reply = AW_REPLY_FAIL;
	call->err = EMFILE;
	if (!has_session && !give_session(call, &session))
		return;
	if (aw_watch_register(call->watch, &call->target.who, big, session, &fd) < 0 ||
		aw_call_inject(call, fd, true) < 0)
		return;
	call->reply = AW_REPLY_DONE;
	if (!first)
		return;
	aw_watch_sign(&hello, &call->target.who);
	hello.text = "the shim is in place";
	aw_watch_log(call->watch, &hello);
}

static bool is_hello(const struct aw_notified *call)
{
	return strncmp(call->raw, AW_REGISTER_PATH, strlen(AW_REGISTER_PATH)) == 0;
}

static void on_hello(struct aw_notified *call)
{
	const char *rest = call->raw + strlen(AW_REGISTER_PATH);

	aw_creds_restore();
	call->silent = true;
	if (call->watch->engine != AW_HYBRID) {
		call->reply = AW_REPLY_FAIL;
		call->err = ENOENT;
	} else if (strcmp(rest, "-again") == 0) {
		call->reply = AW_REPLY_FAIL;
		call->err = EMFILE;
		if (aw_call_inject(call, atomic_load(&call->watch->shared)->fd, true) >=
			0)
			call->reply = AW_REPLY_DONE;
	} else {
		greet(call, strcmp(rest, "-big") == 0, *rest != '\0');
	}
}

static bool is_shim_open(const struct aw_notified *call)
{
	return call->watch->shim[0] && strcmp(call->raw, call->watch->shim) == 0;
}

/* The first open after an exec. */
static void arrive(struct aw_notified *call, bool loads_shim)
{
	if (call->target.who.execing || loads_shim)
		aw_call_arrived(call, loads_shim);
}

/* ld.so opens the shim: note it; where the file cannot be reached, hand it over. */
static void on_shim_open(struct aw_notified *call)
{
	struct aw_watch *watch = call->watch;
	AW_CLOSE int fd = -1;

	if (call->target.who.shim == AW_SHIM_EXPECTED ||
		call->target.who.shim == AW_SHIM_LOST)
		aw_processes_set_shim(
			watch->tree, call->target.who.pid, AW_SHIM_LOADING);
	if (call->target.who.plain_root && !watch->holds)
		return;
	fd = open(watch->shim, O_RDONLY | O_CLOEXEC);
	if (fd >= 0 && aw_call_inject(call, fd, true) >= 0)
		call->reply = AW_REPLY_DONE;
}

/*
 * A dynamic program opens its libraries without having opened the shim first: somebody
 * started it with an environment without LD_PRELOAD, or its own loader comes first. The
 * kernel layer has every call of it, and no rule needs the shim, so it is only slower.
 */
static void on_lost_shim(struct aw_notified *call)
{
	struct aw_event event = {.kind = AW_EV_LOST_SHIM, .ts = call->event.ts};

	aw_processes_set_shim(call->watch->tree, call->target.who.pid, AW_SHIM_LOST);
	event.text = "started without the shim; the kernel layer watches it";
	aw_watch_sign(&event, &call->target.who);
	aw_watch_log(call->watch, &event);
}

static void watch_for_shim(struct aw_notified *call)
{
	if (is_shim_open(call))
		on_shim_open(call);
	else if (call->target.who.shim == AW_SHIM_EXPECTED &&
		 strcmp(call->raw, "/etc/ld.so.preload") != 0 &&
		 !aw_processes_exec_failed(call->watch->tree, call->target.who.pid) &&
		 aw_emulate_waits(call)) /* else a thread that the exec has ended */
		on_lost_shim(call);
}

bool aw_call_meets_shim(struct aw_notified *call)
{
	arrive(call, is_shim_open(call));
	if (is_hello(call))
		on_hello(call);
	else if (call->watch->shim[0])
		watch_for_shim(call);
	return is_hello(call);
}

bool aw_call_is_shims(struct aw_notified *call)
{
	const struct aw_decision allowed = {AW_ALLOW, AW_NO_RULE};

	if (call->target.who.shim == AW_SHIM_EXPECTED || is_shim_open(call))
		aw_creds_restore();
	if (is_hello(call))
		on_hello(call);
	else if (call->watch->shim[0])
		watch_for_shim(call);
	if (call->reply != AW_REPLY_DONE)
		return is_hello(call);
	if (!is_hello(call)) { /* ld.so has got it */
		call->event.path = (struct aw_text){call->raw, strlen(call->raw)};
		aw_call_decide(call, &allowed);
		call->event.result_known = true;
	}
	return true;
}
