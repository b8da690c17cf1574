/* SPDX-License-Identifier: Apache-2.0 */
/* from_log.c - from sessions and log files to a policy, and its proof. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "supervisor/cli/say.h"
#include "supervisor/commands/learn.h"
#include "supervisor/launch/layers.h"
#include "supervisor/learn/diff.h"
#include "supervisor/learn/output.h"
#include "supervisor/learn/render.h"
#include "supervisor/learn/replay.h"
#include "supervisor/session/session.h"
#include "supervisor/util/cleanup.h"

enum { SIBLINGS = 5, QUESTIONS_SAID = 20 };

/* One log and what is known of its session. */
struct source {
	char *file;	 /* owned */
	char *workspace; /* owned; NULL when it is not known */
};

/* One making of a policy. */
struct making {
	const struct aw_learn_options *options;
	struct source *sources; /* owned */
	size_t count;
	struct aw_layers layers;
	struct aw_policy present;
	struct aw_learner learner;
	char *text; /* owned */
	unsigned long damaged;
};

/* Standard input is read twice, so it is kept. */
static int keep_input(char **ret, struct aw_error *err)
{
	char bytes[65536];
	ssize_t n;
	int fd = memfd_create("agentwatch-log", MFD_CLOEXEC); /* kept to the end */

	if (fd < 0)
		return aw_fail(err, errno, "keeping the log: %s", strerror(errno));
	while ((n = read(STDIN_FILENO, bytes, sizeof(bytes))) > 0)
		if (write(fd, bytes, (size_t)n) != n)
			return aw_fail(err, ENOSPC, "keeping the log: no room for it");
	if (n < 0)
		return aw_fail(err, errno, "standard input: %s", strerror(errno));
	*ret = aw_learn_text("/proc/self/fd/%d", fd);
	return 0;
}

static int find_source(const char *name, struct source *ret, struct aw_error *err)
{
	struct aw_session *session = NULL;

	if (strcmp(name, "-") == 0)
		return keep_input(&ret->file, err);
	if (strchr(name, '/') ||
		(aw_session_find(name, &session, err) < 0 && access(name, F_OK) == 0)) {
		ret->file = aw_learn_copy(name, strlen(name));
		return 0;
	}
	if (!session)
		return -1;
	if (session->log[0] != '/') {
		int r = aw_fail(err, ENOENT, "session '%s' kept no log of its own",
			session->id);

		aw_session_free(session);
		return r;
	}
	ret->file = aw_learn_copy(session->log, strlen(session->log));
	if (session->workspace)
		ret->workspace =
			aw_learn_copy(session->workspace, strlen(session->workspace));
	aw_session_free(session);
	return 0;
}

static int find_sources(
	struct making *m, const struct aw_string_list *logs, struct aw_error *err)
{
	const struct aw_string_list *lists[] = {logs, &m->options->also};

	m->sources = aw_learn_new(
		(logs->count + m->options->also.count) * sizeof(*m->sources));
	for (size_t l = 0; l < 2; l++)
		for (size_t i = 0; i < lists[l]->count; i++, m->count++)
			if (find_source(
				    lists[l]->items[i], &m->sources[m->count], err) < 0)
				return -1;
	return 0;
}

/* The policy that counts here now: what it refuses by a rule is a question. */
static int load_present(struct making *m, const char *command, struct aw_error *err)
{
	const char *known = m->count ? m->sources[0].workspace : NULL;
	const struct aw_layers_params params = {.agent = m->options->agent,
		.workspace = m->options->workspace		 ? m->options->workspace
			     : known && access(known, F_OK) == 0 ? known
								 : NULL,
		.command = command,
		.policies = &m->options->policies};
	struct aw_diagnostics found = {0};
	int r;

	if (aw_layers_find(&params, &m->layers, err) < 0)
		return -1;
	r = aw_policy_load(m->layers.sources, m->layers.count, &m->layers.variables,
		AW_ENFORCE, true, &m->present, &found);
	if (r < 0)
		aw_diagnostics_print(&found, stderr);
	aw_diagnostics_free(&found);
	return r < 0 ? aw_fail(err, EINVAL,
			       "the present policy has mistakes; agentwatch policy "
			       "check FILE names them")
		     : 0;
}

static int read_log(struct making *m, const char *file, struct aw_error *err)
{
	struct aw_log_reader reader;
	struct aw_seen seen;
	int r;

	if (aw_log_reader_open(&reader, file, err) < 0)
		return -1;
	while ((r = aw_log_reader_next(&reader, &seen, err)) > 0)
		aw_learner_add(&m->learner, &seen);
	m->damaged += reader.damaged;
	m->learner.sessions++;
	aw_log_reader_close(&reader);
	return r;
}

static enum aw_learn_for read_for(const char *word)
{
	return !word				? AW_LEARN_POLICY
	       : strcmp(word, "workspace") == 0 ? AW_LEARN_WORKSPACE
	       : strcmp(word, "agent") == 0	? AW_LEARN_AGENT
						: AW_LEARN_POLICY;
}

static int learn(struct making *m, struct aw_error *err)
{
	const char *files = m->options->default_files;
	const struct aw_learn_params params = {
		.for_whom = read_for(m->options->for_whom),
		.files = !files			      ? AW_LEARN_CHOSEN
			 : strcmp(files, "deny") == 0 ? AW_LEARN_DENY
						      : AW_LEARN_READ_ONLY,
		.siblings =
			m->options->fold > 0 ? (unsigned)m->options->fold : SIBLINGS};

	if (aw_learner_init(
		    &m->learner, &params, &m->layers.variables, &m->present, err) < 0)
		return -1;
	for (size_t i = 0; i < m->count; i++)
		if (read_log(m, m->sources[i].file, err) < 0)
			return -1;
	if (!m->learner.calls)
		return aw_fail(
			err, ENODATA, "there is no call in the log to learn from");
	aw_learner_complete(&m->learner);
	return 0;
}

static void say_questions(const struct making *m)
{
	struct aw_learn_question *q, *next;
	unsigned said = 0;

	HASH_ITER(hh, m->learner.questions, q, next)
	{
		char *text = aw_question_text(q);

		if (said++ < QUESTIONS_SAID)
			aw_say("question: %s", text);
		free(text);
	}
	if (said > QUESTIONS_SAID)
		aw_say("and %u more question%s in the policy", said - QUESTIONS_SAID,
			said - QUESTIONS_SAID == 1 ? "" : "s");
}

/* The proof; AW_EXIT_FAILED when it fails. */
static int replay(
	struct making *m, const struct aw_policy *policy, struct aw_error *err)
{
	struct aw_replay replay = {0};
	char left[64] = "";

	for (size_t i = 0; i < m->count; i++)
		if (aw_replay_log(
			    &m->learner, policy, m->sources[i].file, &replay, err) < 0)
			return aw_say_failed(err);
	if (replay.left)
		snprintf(left, sizeof(left), ", %" PRIu64 " left out", replay.left);
	if (!m->options->quiet || replay.wrong)
		aw_say("replay: %" PRIu64 " events, %" PRIu64 " admitted, %" PRIu64
		       " question%s%s",
			replay.calls, replay.admitted, replay.asked,
			replay.asked == 1 ? "" : "s", left);
	if (replay.wrong)
		aw_say("replay: %" PRIu64 " calls are not judged as they should be",
			replay.wrong);
	return replay.wrong ? AW_EXIT_FAILED : 0;
}

static int hand_over(struct making *m, struct aw_error *err)
{
	if (m->options->output)
		return aw_output_write(
			m->options->output, m->text, m->options->force, err);
	if (m->options->diff)
		return 0;
	if (fputs(m->text, stdout) == EOF || fflush(stdout) != 0)
		return aw_fail(err, errno, "writing the policy: %s", strerror(errno));
	return 0;
}

static int finish(struct making *m, const char *const *given, struct aw_error *err)
{
	struct aw_policy policy;
	int status;

	m->text = aw_render(&m->learner, given, err);
	if (!m->text || aw_judge_load(m->text, &m->layers.variables, &policy, err) < 0)
		return aw_say_failed(err);
	if (hand_over(m, err) < 0) {
		aw_policy_release(&policy);
		return aw_say_failed(err);
	}
	if (m->options->diff)
		aw_policy_diff(&m->present, &policy, stdout);
	if (!m->options->quiet)
		say_questions(m);
	status = replay(m, &policy, err);
	aw_policy_release(&policy);
	return status;
}

static void release(struct making *m)
{
	for (size_t i = 0; i < m->count; i++) {
		free(m->sources[i].file);
		free(m->sources[i].workspace);
	}
	free(m->sources);
	free(m->text);
	if (m->learner.tree.anchors)
		aw_learner_release(&m->learner);
	if (m->present.image)
		aw_policy_release(&m->present);
	aw_layers_release(&m->layers);
}

int aw_learn_from(const struct aw_learn_options *options,
	const struct aw_string_list *logs, const char *command,
	const char *const *given)
{
	struct making m = {.options = options};
	struct aw_error err;
	int status;

	if (find_sources(&m, logs, &err) < 0 || load_present(&m, command, &err) < 0 ||
		learn(&m, &err) < 0)
		status = aw_say_failed(&err);
	else
		status = finish(&m, given, &err);
	if (m.damaged)
		aw_say("%lu damaged line%s passed over", m.damaged,
			m.damaged == 1 ? " was" : "s were");
	release(&m);
	return status;
}
