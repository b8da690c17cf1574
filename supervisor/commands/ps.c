/* SPDX-License-Identifier: Apache-2.0 */
/* ps.c - agentwatch ps: the sessions. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policy/array.h"
#include "supervisor/cli/say.h"
#include "supervisor/cli/screen.h"
#include "supervisor/cli/when.h"
#include "supervisor/commands/sessions.h"
#include "supervisor/session/control.h"
#include "supervisor/util/cleanup.h"

enum { ID = 22, PID = 7, STARTED = 16, MODE = 8, ENGINE = 8, RUNNER = 10, STATUS = 8 };
enum { GAPS = 7, COMMAND_LEAST = 10 };

struct ps_options {
	bool all, json;
};

static void put(const struct aw_screen *screen, const char *text, size_t width)
{
	AW_FREE char *shown = aw_shown(text ? text : "-", text ? strlen(text) : 1);

	/* A name is what other commands want to be given: it is never cut. */
	if (shown && width == ID && aw_screen_columns(shown) > ID)
		width = 0;
	aw_screen_put(screen, shown ? shown : "", width, AW_PLAIN);
	putchar(' ');
}

static void put_started(const struct aw_screen *screen, const char *text)
{
	char local[32];
	time_t seconds;
	int64_t when;
	struct tm tm;

	if (aw_when_parse(text, &when) < 0) {
		put(screen, NULL, STARTED);
		return;
	}
	seconds = (time_t)(when / 1000000000);
	localtime_r(&seconds, &tm);
	strftime(local, sizeof(local), "%Y-%m-%d %H:%M", &tm);
	put(screen, local, STARTED);
}

static void put_command(const struct aw_screen *screen, char **argv)
{
	size_t others = ID + PID + STARTED + MODE + ENGINE + RUNNER + STATUS + GAPS,
	       size;
	AW_FREE char *text = NULL;
	AW_FREE char *shown = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return;
	for (char **arg = argv; arg && *arg; arg++)
		fprintf(out, "%s%s", arg == argv ? "" : " ", *arg);
	fclose(out);
	shown = aw_shown(text, size);
	if (!shown)
		return;
	if (!screen->width || aw_screen_columns(shown) + others <= screen->width)
		others = 0;
	else if (screen->width > others + COMMAND_LEAST)
		others = screen->width - others;
	else
		others = COMMAND_LEAST;
	aw_screen_put(screen, shown, others, AW_PLAIN);
}

/* How many questions wait for an answer; 0 where nobody knows. */
static int questions_of(const struct aw_session *session)
{
	AW_FREE char *text = NULL;
	struct aw_error err;

	if (!session->control || !session->mode ||
		strcmp(session->mode, "enforce") != 0 ||
		aw_control_request(session->control, "waiting", &text, &err) < 0)
		return 0;
	return atoi(text);
}

/* A line of its own below the session's. */
static void put_place(
	const struct aw_screen *screen, const char *what, const char *places)
{
	AW_FREE char *shown = places ? aw_shown(places, strlen(places)) : NULL;

	if (!shown)
		return;
	printf("  ");
	aw_screen_put(screen, what, 0, AW_PLAIN);
	aw_screen_put(screen, shown, 0, AW_PLAIN);
	putchar('\n');
}

static void put_row(
	const struct aw_screen *screen, const struct aw_session *session, bool alive)
{
	char pid[16], status[24] = "lost";
	int questions = alive ? questions_of(session) : 0;

	snprintf(pid, sizeof(pid), "%d", (int)session->pid);
	if (questions)
		snprintf(status, sizeof(status), "asking %d", questions);
	else if (alive)
		snprintf(status, sizeof(status), "running");
	else if (session->ended)
		snprintf(status, sizeof(status), "%d", session->status);
	put(screen, session->id, ID);
	put(screen, pid, PID);
	put_started(screen, session->started);
	put(screen, session->mode, MODE);
	put(screen, session->engine, ENGINE);
	put(screen, session->runner, RUNNER);
	put(screen, status, STATUS);
	put_command(screen, session->argv);
	putchar('\n');
	if (alive) {
		put_place(screen, "proxy inside: ", session->proxy);
		put_place(screen, "forwards: ", session->forward);
	}
}

static void put_head(const struct aw_screen *screen)
{
	aw_screen_put(screen, "SESSION", ID + 1, AW_BOLD);
	aw_screen_put(screen, "PID", PID + 1, AW_BOLD);
	aw_screen_put(screen, "STARTED", STARTED + 1, AW_BOLD);
	aw_screen_put(screen, "MODE", MODE + 1, AW_BOLD);
	aw_screen_put(screen, "ENGINE", ENGINE + 1, AW_BOLD);
	aw_screen_put(screen, "RUNNER", RUNNER + 1, AW_BOLD);
	aw_screen_put(screen, "STATUS", STATUS + 1, AW_BOLD);
	aw_screen_put(screen, "COMMAND", 0, AW_BOLD);
	putchar('\n');
}

/* The line of session.json with "questions" and "running" behind it. */
static void put_json(const struct aw_session *session, bool alive)
{
	AW_FREE char *json = aw_session_json(session);

	if (json)
		printf("%.*s,\"questions\":%d,\"running\":%s}\n", (int)strlen(json) - 1,
			json, alive ? questions_of(session) : 0,
			alive ? "true" : "false");
}

static int show(const struct ps_options *values)
{
	struct aw_session_list list = {0};
	struct aw_screen screen;
	struct aw_error err;
	bool any = false;

	if (aw_session_list(&list, &err) < 0)
		return aw_say_failed(&err);
	aw_screen_init(&screen);
	for (size_t i = 0; i < list.count; i++) {
		bool alive = aw_session_alive(list.items[i]);

		if (!alive && !values->all)
			continue;
		if (values->json) {
			put_json(list.items[i], alive);
			continue;
		}
		if (!any)
			put_head(&screen);
		any = true;
		put_row(&screen, list.items[i], alive);
	}
	aw_session_list_free(&list);
	if (!any && !values->json && screen.terminal)
		printf("%s\n",
			values->all ? "no sessions yet" : "no session is running");
	if (fflush(stdout) && errno != EPIPE) {
		aw_say("writing to stdout: %s", strerror(errno));
		return AW_EXIT_FAILED;
	}
	return 0;
}

static int ps_main(int argc, char **argv)
{
	struct ps_options values = {0};
	struct aw_error err;
	bool help;
	int first = aw_options_parse(&aw_command_ps, argc, argv, &values, &help, &err);

	if (first >= 0 && help) {
		aw_options_help(&aw_command_ps);
		return 0;
	}
	if (first >= 0 && first < argc)
		first = aw_fail(&err, EINVAL,
			"ps takes no arguments, but '%s' was given", argv[first]);
	if (first < 0)
		return aw_say_usage(&err);
	signal(SIGPIPE, SIG_IGN);
	return show(&values);
}

static const struct aw_option options[] = {
	{"all", 'a', AW_OPT_FLAG, offsetof(struct ps_options, all), NULL, NULL,
		"ended sessions too"},
	{"json", 'j', AW_OPT_FLAG, offsetof(struct ps_options, json), NULL, NULL,
		"one JSON object a line"},
};

const struct aw_command aw_command_ps = {
	.name = "ps",
	.arguments = NULL,
	.brief = "list sessions",
	.details =
		"STATUS is \"running\", \"asking N\" while N questions wait for an answer (see "
		"approve), the exit status of one that has ended, or \"lost\" for one whose "
		"supervisor vanished without a word.  Below a session stands where its proxy "
		"listens and which ports it forwards.",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.mixed = true,
	.main = ps_main,
};
