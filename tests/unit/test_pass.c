/* SPDX-License-Identifier: Apache-2.0 */
/* test_pass.c - words and descriptors between processes of ours. */
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "supervisor/util/pass.h"
#include "tests/unit/tap.h"

static int pair[2];

static void open_pair(void)
{
	ok(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) == 0,
		"a pair of sockets");
}

static void words_and_descriptors(void)
{
	int sent[2] = {0, 1}, got[AW_PASS_MAX];
	char text[16] = "";

	open_pair();
	ok(aw_pass(pair[0], "some", 5, sent, 2, 0) == 0,
		"words go out with descriptors");
	ok(aw_pass_take(pair[1], text, sizeof(text), got) == 5 && !strcmp(text, "some"),
		"the words come in");
	ok(fcntl(got[0], F_GETFD) == FD_CLOEXEC &&
			fcntl(got[1], F_GETFD) == FD_CLOEXEC && got[2] == -1,
		"two descriptors came along, closed on exec");
	close(got[0]);
	close(got[1]);
	close(pair[0]);
	ok(aw_pass_take(pair[1], text, sizeof(text), got) == 0 && got[0] == -1,
		"then comes the end");
	close(pair[1]);
}

/* The launcher tells the service to go on while that says its last words. */
static void last_words_are_heard(void)
{
	int got[AW_PASS_MAX];
	char text[16] = "";

	open_pair();
	aw_pass(pair[0], "one", 4, NULL, 0, 0);
	aw_pass(pair[0], "two", 4, NULL, 0, 0);
	aw_pass(pair[1], "unread", 7, NULL, 0, 0);
	close(pair[0]);
	ok(aw_pass_take(pair[1], text, sizeof(text), got) == 4 && !strcmp(text, "one"),
		"a peer that ended with something unread: its words come first");
	ok(aw_pass_take(pair[1], text, sizeof(text), got) == 4 && !strcmp(text, "two"),
		"all of them");
	ok(aw_pass_take(pair[1], text, sizeof(text), got) == 0, "and then the end");
	close(pair[1]);
}

int main(void)
{
	words_and_descriptors();
	last_words_are_heard();
	return done();
}
