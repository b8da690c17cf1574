/* SPDX-License-Identifier: Apache-2.0 */
/* test_questions.c - the table of questions: who is asked what, and for whom it counts. */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/approval/questions.h"
#include "tests/unit/tap.h"

static const struct aw_rule rule = {"p.yaml", 3, "/docs", "global"};
static struct aw_questions *table;
static uint64_t cookies;

static struct aw_event event_of(const char *path, enum aw_action action)
{
	return (struct aw_event){.kind = AW_EV_CALL,
		.call = "openat",
		.action = action,
		.path = {path, strlen(path)},
		.port = -1,
		.rule = &rule};
}

/* One call of thread tid about a file with this inode; its cookie in cookies. */
static struct aw_answered again(const struct aw_event *event, pid_t tid, uint64_t inode)
{
	const struct aw_asked asked = {.event = event,
		.device = 1,
		.inode = inode,
		.tid = tid,
		.cookie = cookies};
	struct aw_answered ret;

	aw_questions_ask(table, &asked, &ret);
	return ret;
}

static struct aw_answered ask(const struct aw_event *event, pid_t tid, uint64_t inode)
{
	cookies++;
	return again(event, tid, inode);
}

static struct aw_answered ask_path(const char *path, enum aw_action action, pid_t tid)
{
	struct aw_event event = event_of(path, action);

	return ask(&event, tid, 7);
}

static bool answer(uint64_t id, bool yes, enum aw_answer_how how)
{
	struct aw_error err;

	return aw_questions_answer(table, id, yes, how, 42, &err) == 0;
}

static void begin(uint64_t deadline)
{
	struct aw_error err;

	if (aw_questions_create(deadline, &table, &err) < 0)
		note("%s", err.text);
	cookies = 0;
}

/* How the next question has ended by itself; -1: none has. */
static int next_end(void)
{
	struct aw_answered how;
	struct aw_event_copy *copy = NULL;
	bool any = aw_questions_next_end(table, &how, &copy);

	aw_event_copy_free(copy);
	return any ? (int)how.how : -1;
}

static void one_question_for_all(void)
{
	struct aw_event event = event_of("/docs/a", AW_READ);
	struct aw_answered first, second;

	begin(60);
	first = ask(&event, 1, 7);
	second = ask(&event, 2, 7);
	ok(first.state == AW_ANSWER_OPEN && first.id == second.id,
		"two calls with the same subject are one question");
	ok(ask_path("/docs/b", AW_READ, 3).id != first.id,
		"another path is another one");
	ok(ask_path("/docs/a", AW_WRITE, 4).id != first.id, "so is changing it");
	ok(aw_questions_open(table) == 3, "three are open");
	ok(!answer(99, true, AW_HOW_ONCE), "an unknown one cannot be answered");
	ok(answer(first.id, true, AW_HOW_ONCE) && !answer(first.id, false, AW_HOW_ONCE),
		"one can be answered once");
	cookies = 1;
	second = again(&event, 1, 7);
	ok(second.state == AW_ANSWER_YES && second.by_human && second.uid == 42,
		"who waited hears the answer, and whose it is");
	ok(again(&event, 1, 7).state == AW_ANSWER_YES, "as often as it asks");
	ok(again(&event, 1, 8).state == AW_ANSWER_OPEN,
		"but not for another file in the same place");
	cookies = 90;
	ok(again(&event, 1, 7).state == AW_ANSWER_OPEN,
		"nor for the same thread's next call");
	aw_questions_free(table);
}

static void answers_are_remembered(void)
{
	struct aw_answered got;

	begin(60);
	got = ask_path("/docs/a", AW_READ, 1);
	answer(got.id, true, AW_HOW_SESSION);
	aw_questions_leave(table, cookies, AW_LEFT_SERVED, 0);
	got = ask_path("/docs/a", AW_READ, 1);
	ok(got.state == AW_ANSWER_YES && got.how == AW_HOW_SESSION && !got.id,
		"a session's answer needs no question any more");
	got = ask_path("/docs/a", AW_DELETE, 1);
	ok(got.state == AW_ANSWER_OPEN, "a yes to reading is none to changing");
	answer(got.id, true, AW_HOW_SESSION);
	ok(ask_path("/docs/a", AW_CREATE, 2).state == AW_ANSWER_YES,
		"a yes to changing is one for every change");
	got = ask_path("/docs/b", AW_WRITE, 1);
	answer(got.id, true, AW_HOW_SESSION);
	ok(ask_path("/docs/b", AW_READ, 3).state == AW_ANSWER_YES, "and for reading");
	got = ask_path("/docs/c", AW_WRITE, 1);
	answer(got.id, false, AW_HOW_SESSION);
	ok(ask_path("/docs/c", AW_WRITE, 3).state == AW_ANSWER_NO, "a no is kept, too");
	ok(ask_path("/docs/c", AW_READ, 3).state == AW_ANSWER_OPEN,
		"a no to changing is none to reading");
	aw_questions_free(table);
}

static void arguments_are_told_apart(void)
{
	struct aw_text one[] = {{"git", 3}, {"a b", 3}},
		       two[] = {{"git", 3}, {"a", 1}, {"b", 1}};
	struct aw_event event = event_of("/usr/bin/git", AW_EXEC);
	uint64_t first;

	begin(60);
	event.argv = one;
	event.argc = 2;
	first = ask(&event, 1, 7).id;
	event.argv = two;
	event.argc = 3;
	ok(ask(&event, 2, 7).id != first, "\"a b\" is not \"a\", \"b\"");
	event.argv_truncated = true;
	first = ask(&event, 3, 7).id;
	answer(first, true, AW_HOW_SESSION);
	ok(ask(&event, 4, 7).state == AW_ANSWER_OPEN,
		"arguments that are not known to the end are never remembered");
	aw_questions_free(table);
}

/* A shell tries the folders of its PATH one after the other. */
static void a_no_holds_for_the_next_folder(void)
{
	struct aw_text push[] = {{"git", 3}, {"push", 4}},
		       pull[] = {{"git", 3}, {"pull", 4}};
	struct aw_event event = event_of("/usr/local/bin/git", AW_EXEC);
	struct aw_answered got;
	uint64_t first;

	begin(60);
	event.pid = 5;
	event.argv = push;
	event.argc = 2;
	first = ask(&event, 5, 7).id;
	answer(first, false, AW_HOW_ONCE);
	aw_questions_leave(table, cookies, AW_LEFT_SERVED, 0);
	next_end();
	event.path = (struct aw_text){"/usr/bin/git", 12};
	got = ask(&event, 5, 8);
	ok(got.state == AW_ANSWER_NO && got.id == first,
		"a no holds for the same command in the next folder");
	aw_questions_leave(table, cookies, AW_LEFT_SERVED, 0);
	event.path = (struct aw_text){"/usr/bin/gitk", 13};
	ok(ask(&event, 5, 8).state == AW_ANSWER_OPEN, "not for another program");
	event.path = (struct aw_text){"/usr/bin/git", 12};
	event.argv = pull;
	ok(ask(&event, 5, 8).state == AW_ANSWER_OPEN, "nor for other arguments");
	event.argv = push;
	event.pid = 6;
	got = ask(&event, 6, 8);
	ok(got.state == AW_ANSWER_OPEN, "nor for another process");
	answer(got.id, true, AW_HOW_ONCE);
	event.path = (struct aw_text){"/bin/git", 8};
	ok(ask(&event, 6, 9).state == AW_ANSWER_OPEN, "and a yes holds for no other");
	aw_questions_free(table);
}

static void signals_interrupt(void)
{
	struct aw_answered got;

	begin(60);
	got = ask_path("/docs/a", AW_READ, 1);
	aw_questions_leave(table, cookies, AW_LEFT_INTERRUPTED, 0);
	ok(ask_path("/docs/a", AW_READ, 1).id == got.id,
		"a call that is made again finds its question");
	aw_questions_leave(table, cookies, AW_LEFT_INTERRUPTED, 0);
	answer(got.id, true, AW_HOW_ONCE);
	ok(ask_path("/docs/a", AW_READ, 2).state == AW_ANSWER_OPEN,
		"another thread does not get its answer");
	ok(ask_path("/docs/a", AW_READ, 1).state == AW_ANSWER_YES, "it gets it itself");
	aw_questions_leave(table, cookies, AW_LEFT_SERVED, 0);
	ok(ask_path("/docs/a", AW_READ, 1).state == AW_ANSWER_OPEN, "once");
	aw_questions_leave(table, cookies, AW_LEFT_INTERRUPTED, 0);
	ok(next_end() < 0, "one that was interrupted may still come back");
	aw_questions_end(table);
	ok(next_end() == AW_HOW_GONE && next_end() < 0,
		"when the session ends it is gone, and told once");
	aw_questions_free(table);
}

static void a_call_may_ask_twice(void)
{
	struct aw_event one = event_of("/docs/a", AW_RENAME),
			other = event_of("/docs/b", AW_RENAME);
	struct aw_answered first, second;

	begin(60);
	first = ask(&one, 1, 7);
	answer(first.id, true, AW_HOW_ONCE);
	second = again(&other, 1, 7);
	aw_questions_leave(table, cookies, AW_LEFT_SERVED, second.id);
	answer(second.id, true, AW_HOW_ONCE);
	ok(again(&one, 1, 7).state == AW_ANSWER_YES &&
			again(&other, 1, 7).state == AW_ANSWER_YES,
		"a call with two questions has both answers in the end");
	aw_questions_leave(table, cookies, AW_LEFT_SERVED, 0);
	ok(next_end() < 0 && aw_questions_idle(table), "and nothing is left of them");
	aw_questions_free(table);
}

static void questions_end(void)
{
	struct aw_answered got;

	begin(60);
	got = ask_path("/docs/a", AW_READ, 1);
	aw_questions_leave(table, cookies, AW_LEFT_DEAD, 0);
	ok(next_end() == AW_HOW_GONE && next_end() < 0,
		"the end of who is killed is told once");
	ok(aw_questions_idle(table), "and nothing is left of it");
	got = ask_path("/docs/a", AW_READ, 1);
	aw_questions_leave(table, cookies, AW_LEFT_SERVED, 0);
	ok(next_end() < 0 && aw_questions_idle(table),
		"one that needs no answer any more leaves no trace");
	ok(aw_questions_state(table, got.id) == AW_ANSWER_NO,
		"a question that is gone means no");
	aw_questions_free(table);

	begin(1);
	got = ask_path("/docs/a", AW_READ, 1);
	ok(next_end() < 0, "before its deadline it is open");
	poll(NULL, 0, 1050);
	ok(next_end() == AW_HOW_DEADLINE, "at its deadline it ends");
	ok(aw_questions_state(table, got.id) == AW_ANSWER_NO, "with a no");
	aw_questions_free(table);
}

static void there_are_not_too_many(void)
{
	struct aw_answered got = {.id = 0};
	char path[32];
	int opened = 0;

	begin(60);
	for (int i = 0; i < AW_QUESTIONS_MAX + 1; i++) {
		snprintf(path, sizeof(path), "/docs/%d", i);
		got = ask_path(path, AW_READ, i + 1);
		opened += got.state == AW_ANSWER_OPEN;
	}
	ok(opened == AW_QUESTIONS_MAX && got.state == AW_ANSWER_NO &&
			got.how == AW_HOW_LIMIT,
		"at most %d are open, then the answer is no", AW_QUESTIONS_MAX);
	ok(ask_path("/docs/0", AW_READ, 1000).state == AW_ANSWER_OPEN,
		"an open one can still be joined");
	for (int i = 0; i < AW_APPROVAL_QUEUE_MAX; i++)
		got = ask_path("/docs/0", AW_READ, 2000 + i);
	ok(got.how == AW_HOW_LIMIT, "until too many wait");
	aw_questions_free(table);
}

int main(void)
{
	one_question_for_all();
	answers_are_remembered();
	arguments_are_told_apart();
	a_no_holds_for_the_next_folder();
	signals_interrupt();
	a_call_may_ask_twice();
	questions_end();
	there_are_not_too_many();
	return done();
}
