/* SPDX-License-Identifier: Apache-2.0 */
/* announce.c - news for the launcher about questions. */
#include "supervisor/launch/announce.h"

#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "supervisor/approval/describe.h"
#include "supervisor/approval/notice.h"
#include "supervisor/launch/run.h"

enum { BETWEEN_MS = 1000 };

static uint64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

/* The oldest of the new ones. */
static bool send_one(void *ctx, const struct aw_question *question)
{
	struct aw_launch_message news = {AW_LAUNCH_ASKED, (int)question->id, 0};
	char text[AW_NOTICE_TEXT - 1];
	struct iovec iov[2] = {{&news, sizeof(news)}, {text, 0}};
	struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 2};

	aw_question_brief(question->event, text, sizeof(text));
	iov[1].iov_len = strlen(text);
	sendmsg(*(int *)ctx, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
	return false;
}

static bool pass_over(void *ctx, const struct aw_question *question)
{
	*(uint64_t *)ctx = question->id;
	return true;
}

void aw_announce(
	struct aw_announcer *announcer, struct aw_questions *questions, int news)
{
	uint64_t count, now = now_ms();

	if (read(aw_questions_fd(questions), &count, sizeof(count)) < 0)
		count = 0; /* it was seen before */
	if (announcer->at && now - announcer->at < BETWEEN_MS)
		return;
	announcer->pending = false;
	announcer->at = now;
	aw_questions_visit(questions, announcer->last, send_one, &news);
	aw_questions_visit(questions, announcer->last, pass_over, &announcer->last);
}
