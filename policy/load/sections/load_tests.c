/* SPDX-License-Identifier: Apache-2.0 */
/* load_tests.c - what a policy file expects of the policy that it is part of. */
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"

static const char *const actions[] = {
	[AW_READ] = "read",
	[AW_WRITE] = "write",
	[AW_CREATE] = "create",
	[AW_DELETE] = "delete",
	[AW_EXEC] = "exec",
	[AW_CONNECT] = "connect",
	[AW_BIND] = "listen",
};

static bool good_port(const char *text)
{
	size_t len = strspn(text, "0123456789");

	return len > 0 && len < 6 && text[len] == '\0' && atol(text) <= UINT16_MAX;
}

static bool good_address(const char *text, bool listen)
{
	const char *colon = strrchr(text, ':');

	if (strncmp(text, "unix:", 5) == 0)
		return text[5] == '/' || text[5] == '@';
	if (!colon)
		return listen && good_port(text);
	return colon > text && good_port(colon + 1);
}

/* An error when it is nothing that can be asked. */
static void check_asked(struct aw_loader *l, const struct aw_node *at,
	enum aw_action action, const char *asked)
{
	if (action == AW_EXEC) {
		if (asked[strspn(asked, " \t")])
			return;
		aw_report(l, at, "expected a program, perhaps with arguments");
	} else if (action == AW_CONNECT || action == AW_BIND) {
		if (good_address(asked, action == AW_BIND))
			return;
		aw_report(l, at,
			"'%.100s' is not an address to ask about; expected a host and "
			"a port, such as api.example.com:443, or unix:/path",
			asked);
	} else {
		if (asked[0] == '/')
			return;
		aw_report(l, at,
			"'%.100s' is not absolute; did you mean '$WORKSPACE/%.100s'?",
			asked, strncmp(asked, "./", 2) == 0 ? asked + 2 : asked);
	}
}

/* The question with its variables expanded; NULL after an error. */
static char *expand(struct aw_loader *l, const struct aw_node *value)
{
	bool is_unix = strncmp(value->text, "unix:", 5) == 0;
	char *rest = aw_expand(l, value, value->text + 5 * is_unix, AW_EXPAND_PLAIN);
	char *whole = NULL;

	if (!rest || !is_unix)
		return rest;
	if (asprintf(&whole, "unix:%s", rest) < 0) {
		whole = NULL;
		l->failed = true;
	}
	free(rest);
	return whole;
}

static void read_question(struct aw_loader *l, const struct aw_node *value, int action)
{
	struct aw_expectation *e = l->expecting;

	if (value->kind != AW_NODE_TEXT || !value->text[0]) {
		aw_report(l, value, "expected a text: what is asked with '%s'",
			actions[action]);
		return;
	}
	if (e->asked) {
		aw_report(l, value,
			"the entry asks '%s' already; write one entry for each question",
			e->word);
		return;
	}
	e->action = (enum aw_action)action;
	e->word = actions[action];
	e->text = aw_copy(l, value->text);
	e->asked = expand(l, value);
	if (e->asked)
		check_asked(l, value, e->action, e->asked);
}

static const char *const verdict_words[] = {"allow", "ask", "deny", "hide", NULL};
static const char *const mode_words[] = {"audit", "enforce", NULL};

static void read_expect(struct aw_loader *l, const struct aw_node *value, int argument)
{
	int word = aw_word_read(l, value, verdict_words);

	(void)argument;
	l->expecting->expect = (enum aw_verdict)word;
	l->expecting->expects = true;
}

static void read_mode(struct aw_loader *l, const struct aw_node *value, int argument)
{
	int word = aw_word_read(l, value, mode_words);

	(void)argument;
	l->expecting->mode = (enum aw_mode)word;
	l->expecting->mode_set = true;
}

enum { NAME, AGENT };

static void read_name(struct aw_loader *l, const struct aw_node *value, int which)
{
	struct aw_expectation *e = l->expecting;

	if (value->kind != AW_NODE_TEXT || !value->text[0]) {
		aw_report(l, value, "expected a text");
	} else if (which == AGENT &&
		   (strchr(value->text, '/') || value->text[0] == '.')) {
		aw_report(l, value,
			"'%.60s' is not the name of an agent; expected a word without "
			"slashes, such as claude",
			value->text);
	} else if (which == AGENT) {
		e->agent = aw_copy(l, value->text);
	} else {
		e->name = aw_copy(l, value->text);
	}
}

enum { ANYWHERE = AW_KEY_UNTRUSTED | AW_KEY_PRESET };

static const struct aw_shape expect_shape = {
	.kind = AW_SHAPE_WORD, .words = verdict_words};
static const struct aw_shape tests_mode_shape = {
	.kind = AW_SHAPE_WORD, .words = mode_words};
static const struct aw_shape question_shape = {.kind = AW_SHAPE_TEXT, .entry = "text"};

static const struct aw_key keys[] = {
	{"read", read_question, AW_READ, ANYWHERE, &question_shape,
		"may this be read?"},
	{"write", read_question, AW_WRITE, ANYWHERE, &question_shape,
		"may this be changed?"},
	{"create", read_question, AW_CREATE, ANYWHERE, &question_shape,
		"may this be made?"},
	{"delete", read_question, AW_DELETE, ANYWHERE, &question_shape,
		"may this be taken away?"},
	{"exec", read_question, AW_EXEC, ANYWHERE, &question_shape, "may this be run?"},
	{"connect", read_question, AW_CONNECT, ANYWHERE, &question_shape,
		"may this be connected to?"},
	{"listen", read_question, AW_BIND, ANYWHERE, &question_shape,
		"may this be listened on?"},
	{"expect", read_expect, 0, ANYWHERE, &expect_shape, "the verdict"},
	{"mode", read_mode, 0, ANYWHERE, &tests_mode_shape, "in this mode alone"},
	{"agent", read_name, AGENT, ANYWHERE, &question_shape,
		"with this agent's layers"},
	{"name", read_name, NAME, ANYWHERE, &question_shape, "what to call it"},
	{NULL, NULL, 0, 0, NULL, NULL},
};

static const struct aw_shape expectation_shape = {.kind = AW_SHAPE_MAP, .keys = keys};
const struct aw_shape aw_tests_shape = {
	.kind = AW_SHAPE_LIST, .first = &expectation_shape};

static void free_expectation(struct aw_expectation *e)
{
	free(e->asked);
	free(e->text);
	free(e->name);
	free(e->agent);
	free(e->file);
}

void aw_expectations_free(struct aw_policy *policy)
{
	while (policy->test_count > 0)
		free_expectation(&policy->tests[--policy->test_count]);
	free(policy->tests);
	policy->tests = NULL;
}

static void keep(struct aw_loader *l, struct aw_expectation *e)
{
	struct aw_expectation *grown =
		realloc(l->policy.tests, (l->policy.test_count + 1) * sizeof(*grown));

	if (grown) {
		l->policy.tests = grown;
		grown[l->policy.test_count++] = *e;
	} else {
		l->failed = true;
		free_expectation(e);
	}
}

static void read_entry(struct aw_loader *l, const struct aw_node *at)
{
	struct aw_expectation e = {.line = at->line};
	size_t before = l->diagnostics->errors;

	/* read by the keys below, and by nobody after them */
	l->expecting = &e; /* cppcheck-suppress autoVariables */
	aw_keys_read(l, at, "tests", keys);
	if (l->diagnostics->errors == before && !e.asked)
		aw_report(l, at,
			"an expectation without a question; say one of read, write, "
			"create, delete, exec, connect or listen");
	else if (l->diagnostics->errors == before && !e.expects)
		aw_report(l, at,
			"'expect' is missing; it is one of allow, ask, deny or hide");
	e.file = aw_copy(l, l->source->file);
	if (l->diagnostics->errors == before && e.asked && e.text && e.file)
		keep(l, &e);
	else
		free_expectation(&e);
	l->expecting = NULL;
}

static bool asks_unset(const struct aw_loader *l, const struct aw_node *at)
{
	for (size_t i = 0; at->kind == AW_NODE_MAP && i < at->count; i++)
		if (at->items[i]->kind == AW_NODE_TEXT &&
			aw_preset_skips(l, at->items[i]->text))
			return true;
	return false;
}

void aw_tests_read(struct aw_loader *l, const struct aw_node *value, int argument)
{
	(void)argument;
	if (value->kind != AW_NODE_LIST) {
		aw_report(l, value,
			"expected a list of expectations, such as [{read: "
			"\"$WORKSPACE/.env\", expect: deny}]");
		return;
	}
	for (size_t i = 0; i < value->count; i++)
		if (!asks_unset(l, value->items[i]))
			read_entry(l, value->items[i]);
}
