/* SPDX-License-Identifier: Apache-2.0 */
/* notice.c - one line on stderr, and notify-send. */
#include "supervisor/approval/notice.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/cli/say.h"
#include "supervisor/session/find.h"
#include "supervisor/util/cleanup.h"

enum { NOTICES = 16, PATIENCE_S = 10 };

/* The body of a notification may be taken for markup. */
static void escape(const char *text, char *to, size_t size)
{
	size_t at = 0;

	for (; *text && at + 6 < size; text++) {
		const char *as = *text == '&'	? "&amp;"
				 : *text == '<' ? "&lt;"
				 : *text == '>' ? "&gt;"
						: NULL;

		if (as)
			at += (size_t)snprintf(to + at, size - at, "%s", as);
		else
			to[at++] = *text;
	}
	to[at] = '\0';
}

static void run_notify_send(const char *program, const char *title, const char *body)
{
	char *const argv[] = {"notify-send", "--app-name=agentwatch",
		"--icon=dialog-question", "--", (char *)title, (char *)body, NULL};
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t none;

	setsid();
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	for (int fd = 0; fd <= 2; fd++)
		dup2(nothing, fd);
	alarm(PATIENCE_S); /* stays over the exec */
	execv(program, argv);
	_exit(127);
}

/* Those that have ended are fetched with the next one. */
static void notify(const char *title, const char *body)
{
	static pid_t children[NOTICES];
	const char *bus = getenv("DBUS_SESSION_BUS_ADDRESS");
	AW_FREE char *program = NULL;
	int free_place = -1;

	for (int i = 0; i < NOTICES; i++) {
		if (children[i] && waitpid(children[i], NULL, WNOHANG) != 0)
			children[i] = 0;
		if (!children[i])
			free_place = i;
	}
	if (!bus || !*bus || free_place < 0)
		return;
	program = aw_find_helper("notify-send", NULL);
	if (!program)
		return;
	children[free_place] = fork();
	if (children[free_place] == 0)
		run_notify_send(program, title, body);
	if (children[free_place] < 0)
		children[free_place] = 0;
}

void aw_notice(const char *name, const char *text, bool quiet)
{
	static bool said;
	char title[160], body[AW_NOTICE_TEXT * 5];

	if (!said && !quiet)
		aw_say("a call waits for your answer: %.300s; see it and answer from another "
		       "terminal: agentwatch approve, or agentwatch approve %s --once; later "
		       "questions are shown by agentwatch approve --watch",
			text, name);
	said = true;
	snprintf(title, sizeof(title), "agentwatch asks: %.100s", name);
	escape(text, body, sizeof(body));
	notify(title, body);
}
