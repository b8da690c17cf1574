/* SPDX-License-Identifier: Apache-2.0 */
/* log.c - agentwatch log: what a session did. */
#include "supervisor/commands/log.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/array.h"
#include "supervisor/audit/read/lines.h"
#include "supervisor/audit/read/log_filter.h"
#include "supervisor/audit/read/order.h"
#include "supervisor/cli/say.h"
#include "supervisor/commands/log_table.h"
#include "supervisor/session/session.h"
#include "supervisor/util/cleanup.h"

enum { LOOK_AGAIN_MS = 200 };

struct log_options {
	bool json, follow, rules;
	struct aw_log_filter filter;
};

/* One reading of one log. */
struct viewing {
	struct log_options options;
	const char *name;	    /* of the file; borrowed */
	struct aw_session *session; /* owned; NULL for a file that belongs to none */
	struct aw_lines lines;
	struct aw_log_table table;
	struct aw_order order;
	unsigned long damaged, shown;
};

static void damaged(struct viewing *view, unsigned long number, const char *what)
{
	fflush(stdout);
	aw_say("%s:%lu: %s", view->lines.file, number, what);
	view->damaged++;
}

static void show_row(void *table, const cJSON *line)
{
	aw_log_table_put(table, line);
}

static void show_line(struct viewing *view, char *text, size_t len)
{
	const char *end = NULL;
	cJSON *line;

	line = cJSON_ParseWithLengthOpts(text, len, &end, 0);
	if (!cJSON_IsObject(line) || end != text + len ||
		!aw_event_word(line, "event")) {
		damaged(view, view->lines.number, "this is not an event");
	} else if (aw_log_filter_matches(&view->options.filter, line)) {
		view->shown++;
		if (!view->options.json) { /* takes the line over */
			aw_order_add(&view->order, line, show_row, &view->table);
			return;
		}
		fwrite(text, 1, len, stdout);
		putchar('\n');
	}
	cJSON_Delete(line);
}

/* Show what is there; -1 on a read error.  Stops early when nobody listens any more. */
static int show_available(struct viewing *view, struct aw_error *err)
{
	char *text;
	size_t len;
	int r;

	while ((r = aw_lines_next(&view->lines, &text, &len, err)) > 0 &&
		!ferror(stdout))
		show_line(view, text, len);
	if (r < 0)
		return aw_while(err, "%s", view->name);
	aw_order_flush(&view->order, show_row, &view->table);
	fflush(stdout);
	return 0;
}

/* True while more may come: the session as it stands on disk now is not over. */
static bool is_growing(const struct viewing *view)
{
	struct aw_session *now;
	bool alive;

	if (!view->session)
		return true;
	if (aw_session_read(view->session->dir, &now, NULL) < 0)
		return false;
	alive = aw_session_alive(now);
	aw_session_free(now);
	return alive;
}

static int show_all(struct viewing *view, struct aw_error *err)
{
	bool growing;

	do {
		/* Asked before reading: what is written before the end is still seen. */
		growing = is_growing(view);
		if (show_available(view, err) < 0)
			return -1;
		if (view->options.follow && growing && !ferror(stdout))
			aw_lines_wait(&view->lines, LOOK_AGAIN_MS);
	} while (view->options.follow && growing && !ferror(stdout));
	if (aw_lines_torn(&view->lines) && !(view->session && growing) &&
		!ferror(stdout))
		damaged(view, view->lines.number + 1, "the line is not complete");
	return 0;
}

/* The session that FILE belongs to when it is the events.jsonl of one, else NULL. */
static struct aw_session *session_of_file(const char *file)
{
	struct aw_session *session = NULL;
	AW_FREE char *dir = realpath(file, NULL);
	char *slash = dir ? strrchr(dir, '/') : NULL;

	if (!slash || strcmp(slash, "/events.jsonl") != 0)
		return NULL;
	*slash = 0;
	return aw_session_read(dir, &session, NULL) < 0 ? NULL : session;
}

/* Find what to read from the command's argument; *ret_file is borrowed. */
static int choose(struct viewing *view, const char *argument, struct aw_error *err)
{
	const char *log;

	if (argument && (strchr(argument, '/') || !strcmp(argument, "-"))) {
		view->name = argument;
		view->session = session_of_file(argument);
		return 0;
	}
	if (aw_session_find(argument, &view->session, err) < 0) {
		if (!argument || access(argument, F_OK) < 0)
			return -1;
		view->name = argument;
		view->session = session_of_file(argument);
		return 0;
	}
	log = view->session->log;
	if (log[0] != '/')
		return aw_fail(err, ENOENT, "session '%s' %s", view->session->id,
			strcmp(log, "-") ? "kept no log (--log none)"
					 : "wrote its log to its own output (--log -)");
	view->name = log;
	return 0;
}

static int view_log(struct viewing *view, const char *argument)
{
	struct aw_error err;
	int r;

	if (choose(view, argument, &err) < 0 ||
		aw_lines_open(&view->lines, view->name, &err) < 0)
		return aw_say_failed(&err);
	aw_log_table_init(&view->table, view->options.rules);
	aw_log_filter_expand(
		&view->options.filter, view->session ? view->session->workspace : NULL);
	r = show_all(view, &err);
	aw_lines_release(&view->lines);
	aw_order_release(&view->order);
	if (r < 0)
		return aw_say_failed(&err);
	if (fflush(stdout) || ferror(stdout)) {
		if (errno == EPIPE)
			return 0;
		aw_say("writing to stdout: %s", strerror(errno));
		return AW_EXIT_FAILED;
	}
	if (!view->shown && !view->damaged)
		aw_say("no events match");
	return view->damaged ? AW_EXIT_FAILED : 0;
}

static int log_main(int argc, char **argv)
{
	struct viewing view = {0};
	struct aw_error err;
	bool help;
	int first, status;

	first = aw_options_parse(
		&aw_command_log, argc, argv, &view.options, &help, &err);
	if (first >= 0 && help) {
		aw_options_help(&aw_command_log);
		return 0;
	}
	if (first >= 0 && argc - first > 1)
		first = aw_fail(&err, EINVAL,
			"log takes one session or file, not also '%s'",
			argv[first + 1]);
	if (first < 0 || aw_log_filter_prepare(&view.options.filter, &err) < 0) {
		status = aw_say_usage(&err);
	} else {
		signal(SIGPIPE, SIG_IGN);
		status = view_log(&view, first < argc ? argv[first] : NULL);
	}
	aw_session_free(view.session);
	aw_log_filter_release(&view.options.filter);
	return status;
}

#define AT(field) offsetof(struct log_options, field)

/* clang-format off */
static const struct aw_option options[] = {
	{"denied", 'd', AW_OPT_FLAG, AT(filter.denied), NULL, NULL,
		"only what was denied, or would have been"},
	{"json", 'j', AW_OPT_FLAG, AT(json), NULL, NULL,
		"the lines as they were written, instead of a table"},
	{"follow", 'f', AW_OPT_FLAG, AT(follow), NULL, NULL,
		"wait for more until the session ends"},
	{"rules", 'r', AW_OPT_FLAG, AT(rules), NULL, NULL,
		"show the file and line of the rule that decided, or the reason"},
	{"pid", 'p', AW_OPT_LIST, AT(filter.pids), "PID", NULL,
		"only this process; may be repeated, as the filters below"},
	{"program", 0, AW_OPT_LIST, AT(filter.programs), "NAME", NULL,
		"only programs with this base name, or whose path matches this pattern"},
	{"action", 'a', AW_OPT_LIST, AT(filter.actions), "ACTION", NULL,
		"only read, write, create, delete, rename, exec, connect, bind, send or system"},
	{"path", 0, AW_OPT_LIST, AT(filter.paths), "PATTERN", NULL,
		"only paths that match, or lie below a directory that does; ** crosses directories, and ~, $WORKSPACE, $TMPDIR and ./ mean what they do elsewhere"},
	{"verdict", 0, AW_OPT_LIST, AT(filter.verdicts), "VERDICT", NULL,
		"only allow, deny, hide, ask-allow or ask-deny"},
	{"event", 'e', AW_OPT_LIST, AT(filter.events), "EVENT", NULL,
		"only call, start, exec, exit, hello, lost-shim, policy, summary, warning or connection"},
	{"call", 'c', AW_OPT_LIST, AT(filter.calls), "NAME", NULL,
		"only this function or system call"},
	{"mcp", 0, AW_OPT_LIST, AT(filter.mcps), "NAME", NULL,
		"only this MCP server and what it started; a pattern too"},
	{"profile", 0, AW_OPT_LIST, AT(filter.profiles), "NAME", NULL,
		"only processes in this profile; a pattern too"},
	{"since", 0, AW_OPT_STRING, AT(filter.since), "TIME", NULL,
		"not before: 2026-11-21T21:55:01Z, or how long ago, like 5m"},
	{"until", 0, AW_OPT_STRING, AT(filter.until), "TIME", NULL,
		"not after"},
};
/* clang-format on */

const struct aw_command aw_command_log = {
	.name = "log",
	.arguments = "[SESSION|FILE]",
	.brief = "show what a session did",
	.details = "Shows the events of a session, the latest one when none is named.  "
		   "SESSION is "
		   "its name or the start of it; FILE, a word with a slash in it, is a "
		   "log file, "
		   "and - reads standard input.\n"
		   "\n"
		   "A verdict that was not carried out, because the session only "
		   "audits, is shown "
		   "as \"would deny\" or \"would ask\".  Control characters in names "
		   "are shown as "
		   "\\xNN, on a "
		   "terminal long paths are cut in the middle; --json prints "
		   "everything as it was "
		   "written.\n"
		   "\n"
		   "The exit status is 1 when lines were damaged; each is reported and "
		   "passed over.",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.mixed = true,
	.main = log_main,
};
