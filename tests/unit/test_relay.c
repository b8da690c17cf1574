/* SPDX-License-Identifier: Apache-2.0 */
/* test_relay.c - connections through the relay, over the loopback. */
#include <pthread.h>
#include <sys/resource.h>

#include "tests/unit/relay_line.h"

enum { MANY_BYTES = 24 << 20, CROWD = 2000 };

/* --- bytes --- */

struct half_job {
	int fd;
	unsigned seed;
	size_t count;
	bool slow;
	uint64_t sum;
};

static uint64_t sum(uint64_t so_far, const unsigned char *bytes, size_t len)
{
	for (size_t i = 0; i < len; i++)
		so_far = (so_far ^ bytes[i]) * 0x100000001b3;
	return so_far;
}

static void *write_all(void *arg)
{
	static const size_t sizes[] = {1, 70000, 4096, 13, 1448, 300000};
	struct half_job *job = arg;
	unsigned char *block = malloc(300000);
	unsigned state = job->seed;

	for (size_t sent = 0, turn = 0; sent < job->count; turn++) {
		size_t want = sizes[turn % 6], done = 0;

		if (want > job->count - sent)
			want = job->count - sent;
		for (size_t i = 0; i < want; i++)
			block[i] = (unsigned char)((state = state * 1664525 +
							    1013904223) >>
						   24);
		job->sum = sum(job->sum, block, want);
		while (done < want) {
			ssize_t n =
				send(job->fd, block + done, want - done, MSG_NOSIGNAL);

			if (n < 0)
				abort();
			done += (size_t)n;
		}
		sent += want;
	}
	shutdown(job->fd, SHUT_WR);
	free(block);
	return NULL;
}

static void *read_all(void *arg)
{
	struct half_job *job = arg;
	unsigned char *block = malloc(1 << 16);
	ssize_t n;

	while ((n = recv(job->fd, block, job->slow ? 700 : 1 << 16, 0)) > 0) {
		job->sum = sum(job->sum, block, (size_t)n);
		job->count += (size_t)n;
	}
	free(block);
	return NULL;
}

/* Both ways at once; slow: one of the readers dawdles, and is waited for. */
static void check_bytes(const char *what, bool slow, size_t count)
{
	struct line line = {0};
	struct half_job jobs[4];
	pthread_t threads[4];

	line_open(&line, &(struct aw_relay_pair){0});
	jobs[0] = (struct half_job){.fd = line.near, .seed = 1, .count = count};
	jobs[1] = (struct half_job){.fd = line.far, .slow = slow};
	jobs[2] = (struct half_job){.fd = line.far, .seed = 2, .count = count / 2};
	jobs[3] = (struct half_job){.fd = line.near};
	for (int i = 0; i < 4; i++)
		pthread_create(
			&threads[i], NULL, i % 2 ? read_all : write_all, &jobs[i]);
	for (int i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	ok(jobs[1].count == count && jobs[1].sum == jobs[0].sum,
		"%s: what inside sends comes out, %zu bytes", what, jobs[1].count);
	ok(jobs[3].count == count / 2 && jobs[3].sum == jobs[2].sum,
		"%s: what outside sends comes in, %zu bytes", what, jobs[3].count);
	ok(line_ended(&line) && line.end.out == count && line.end.in == count / 2 &&
			!line.end.cut && line.end.nanoseconds > 0,
		"%s: they are counted", what);
	line_close(&line);
}

static void half_closes_are_passed_on(void)
{
	struct line line = {0};
	char byte;

	line_open(&line, &(struct aw_relay_pair){0});
	put(line.near, "question");
	shutdown(line.near, SHUT_WR);
	ok(comes(line.far, "question") && get(line.far, &byte, 1) == 0,
		"an end of inside is one for outside");
	put(line.far, "answer");
	ok(comes(line.near, "answer"), "... which can still answer");
	shutdown(line.far, SHUT_WR);
	ok(get(line.near, &byte, 1) == 0 && line_ended(&line) && !line.end.cut,
		"... and ends it");
	line_close(&line);

	line_open(&line, &(struct aw_relay_pair){0});
	shutdown(line.far, SHUT_WR);
	ok(get(line.near, &byte, 1) == 0, "an end of outside is one for inside");
	put(line.near, "still here");
	ok(comes(line.far, "still here"), "... which can still speak");
	close(line.near);
	line.near = -1;
	ok(get(line.far, &byte, 1) == 0 && line_ended(&line), "... and ends it");
	line_close(&line);
}

static void reset(int *fd)
{
	struct linger at_once = {.l_onoff = 1};

	setsockopt(*fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
	close(*fd);
	*fd = -1;
}

static void resets_are_passed_on(void)
{
	struct line line = {0};

	line_open(&line, &(struct aw_relay_pair){0});
	reset(&line.far);
	ok(is_reset(line.near) && line_ended(&line) && !line.end.cut,
		"a reset by outside is one for inside");
	line_close(&line);
	line_open(&line, &(struct aw_relay_pair){0});
	put(line.near, "last words");
	reset(&line.near);
	ok(comes(line.far, "last words") && is_reset(line.far) && line_ended(&line),
		"a reset by inside is one for outside, after what it said");
	line_close(&line);
}

static void ours_go_first(void)
{
	static const struct aw_relay_pair pair = {.to_inside = "hello inside ",
		.to_inside_len = 13,
		.to_outside = "hello outside ",
		.to_outside_len = 14};
	struct line line = {0};

	line_open(&line, &pair);
	put(line.near, "I am in");
	put(line.far, "I am out");
	ok(comes(line.near, "hello inside I am out"), "ours first, for inside");
	ok(comes(line.far, "hello outside I am in"), "ours first, for outside");
	line_close(&line);
	ok(line_ended(&line) && line.end.out == 21 && line.end.in == 21,
		"... and counted");
}

/* --- hooks --- */

static void look_decides(void)
{
	static const struct aw_relay_pair pair = {
		.look = look, .to_outside = "first ", .to_outside_len = 6};
	struct line line = {.wanted = "open sesame"};
	bool silent = true;

	line_open(&line, &pair);
	ok(comes(line.far, "first "), "what is ours need not be looked at");
	for (const char *at = line.wanted; at[1]; at++) {
		char one[2] = {*at};

		put(line.near, one);
		silent &= is_silent(line.far);
	}
	ok(silent && line.looks >= 5 && line.longest == 10,
		"byte by byte, nothing goes out before look has seen enough");
	put(line.far, "well?");
	ok(comes(line.near, "well?"), "... while outside may speak");
	put(line.near, "e and more");
	ok(comes(line.far, "open sesame and more"), "... and then all does");
	line.looks = 0;
	put(line.near, "more");
	ok(comes(line.far, "more") && line.looks == 0, "... without more looks");
	line_close(&line);
	line_ended(&line);
}

static void look_cuts(void)
{
	static const struct aw_relay_pair pair = {.look = look};
	struct line line = {.wanted = "open sesame"};
	char *much = calloc(1, 3 * AW_RELAY_PEEK);

	line_open(&line, &pair);
	put(line.near, "open");
	put(line.near, " the door");
	ok(is_reset(line.near) && is_reset(line.far), "CUT resets both ends");
	ok(line_ended(&line) && line.end.cut && line.end.out == 0, "... and says so");
	line_close(&line);

	line.wanted = memset(much, 'x', 2 * AW_RELAY_PEEK);
	line_open(&line, &pair);
	if (send(line.near, much, 2 * AW_RELAY_PEEK - 1, MSG_NOSIGNAL) < 0)
		note("send: %s", strerror(errno));
	ok(is_reset(line.near) && line_ended(&line) && line.end.cut &&
			line.longest == AW_RELAY_PEEK,
		"MORE at the end of the room is a cut");
	line_close(&line);
	free(much);

	line.wanted = "open sesame";
	line_open(&line, &pair);
	put(line.near, "open");
	shutdown(line.near, SHUT_WR);
	ok(is_reset(line.far) && line_ended(&line) && line.end.cut,
		"an end in the middle is a cut");
	line_close(&line);

	line.looks = 0;
	line_open(&line, &pair);
	shutdown(line.near, SHUT_WR);
	put(line.far, "bye");
	ok(comes(line.near, "bye") && line.looks == 0, "an end before all is none");
	line_close(&line);
	line_ended(&line);
}

static void look_goes_on(void)
{
	static const struct aw_relay_pair pair = {
		.look = look_on, .to_outside = "0.", .to_outside_len = 2};
	struct line line = {.wanted = NULL};
	char *much = malloc(10 * AW_RELAY_PEEK), *back = malloc(10 * AW_RELAY_PEEK);

	line_open(&line, &pair);
	put(line.near, "1.2.3");
	ok(comes(line.far, "0.1.2.") && is_silent(line.far), "a part goes on");
	put(line.near, "4");
	ok(is_silent(line.far) && line.longest == 2, "the rest is told with more");
	put(line.near, ".5.");
	ok(comes(line.far, "34.5."), "... and goes on in its order");
	for (size_t i = 0; i < 10 * AW_RELAY_PEEK; i++)
		much[i] = i % 16 == 15 ? '.' : (char)('a' + i % 23);
	if (send(line.near, much, 10 * AW_RELAY_PEEK, MSG_NOSIGNAL) < 0)
		note("send: %s", strerror(errno));
	ok(get(line.far, back, 10 * AW_RELAY_PEEK) == 10 * AW_RELAY_PEEK &&
			memcmp(much, back, 10 * AW_RELAY_PEEK) == 0,
		"as much as one likes, in parts");
	put(line.near, "6.!");
	ok(is_reset(line.near) && line_ended(&line) && line.end.cut, "... until a cut");
	line_close(&line);
	line_open(&line, &pair);
	put(line.near, "1.");
	ok(comes(line.far, "0.1."), "all of it is a part, too");
	shutdown(line.near, SHUT_WR);
	ok(get(line.far, back, 1) == 0, "... behind which an end is passed on");
	line_close(&line);
	line_ended(&line);
	free(much);
	free(back);
}

static void a_limit_cuts(void)
{
	static const struct aw_relay_pair pair = {
		.may_send = may_send, .to_outside = "12345", .to_outside_len = 5};
	struct line line = {.budget = 10};

	line_open(&line, &pair);
	put(line.near, "67890");
	ok(comes(line.far, "1234567890"), "within the limit all goes out");
	put(line.near, "!");
	ok(is_reset(line.far) && is_reset(line.near) && line_ended(&line) &&
			line.end.cut && line.end.out == 10,
		"a byte more is not sent, and both are reset");
	line_close(&line);
	line.budget = 4;
	line_open(&line, &pair);
	ok(is_reset(line.near) && line_ended(&line) && line.end.cut,
		"what is ours counts, too");
	line_close(&line);
}

/* --- many, and the end --- */

static unsigned open_descriptors(void)
{
	unsigned count = 0;

	for (int fd = 0; fd < 4 * CROWD + 100; fd++)
		count += fcntl(fd, F_GETFD) >= 0;
	return count;
}

static struct line crowd[CROWD];

static void crowds_are_served(unsigned before)
{
	size_t right = 0, gone = 0;
	struct rlimit files;

	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	if (files.rlim_cur < 4 * CROWD + 100) {
		ok(true, "a crowd # SKIP no more than %llu files here",
			(unsigned long long)files.rlim_cur);
		return;
	}
	for (size_t i = 0; i < CROWD; i++)
		line_open(&crowd[i], &(struct aw_relay_pair){0});
	for (size_t i = 0; i < CROWD; i++)
		put(crowd[i].near, "ping");
	for (size_t i = 0; i < CROWD; i++) {
		right += comes(crowd[i].far, "ping");
		put(crowd[i].far, "pong");
	}
	for (size_t i = 0; i < CROWD; i++)
		right += comes(crowd[i].near, "pong");
	ok(right == 2 * CROWD, "%d connections at a time", CROWD);
	ok(open_descriptors() <= before + 4 * CROWD + 140,
		"... and none costs more than its sockets");
	for (size_t i = 0; i < CROWD; i++)
		line_close(&crowd[i]);
	for (size_t i = 0; i < CROWD; i++)
		gone += line_ended(&crowd[i]);
	ok(gone == CROWD, "all of them end");
}

static void without_pipes_it_goes_on(void)
{
	struct aw_relay *other = relay;
	struct rlimit files, few;
	struct line line = {0};
	struct half_job job, back;
	pthread_t thread;
	struct aw_error err;

	if (aw_relay_create(&relay, &err) < 0)
		abort();
	line_open(&line, &(struct aw_relay_pair){0});
	getrlimit(RLIMIT_NOFILE, &files);
	few = files;
	few.rlim_cur = 3;
	setrlimit(RLIMIT_NOFILE, &few);
	job = (struct half_job){.fd = line.near, .seed = 3, .count = 1 << 20};
	back = (struct half_job){.fd = line.far};
	pthread_create(&thread, NULL, write_all, &job);
	read_all(&back);
	pthread_join(thread, NULL);
	ok(back.count == job.count && back.sum == job.sum,
		"with no descriptor to be had, bytes are copied");
	setrlimit(RLIMIT_NOFILE, &files);
	line_close(&line);
	line_ended(&line);
	aw_relay_free(relay);
	relay = other;
}

static void the_end_cuts_all(void)
{
	struct line line = {0}, later = {0};
	struct half_job job;
	struct aw_relay *other = relay;
	pthread_t thread;
	struct aw_error err;
	char byte;

	if (aw_relay_create(&relay, &err) < 0)
		abort();
	line_open(&line, &(struct aw_relay_pair){0});
	line_open(&later, &(struct aw_relay_pair){0});
	/* writes more than all buffers hold, to somebody who reads some of it */
	job = (struct half_job){.fd = line.far};
	pthread_create(&thread, NULL, read_all, &job);
	for (size_t i = 0; i < 2000; i++)
		put(line.near, "busy, busy, busy, busy, busy, busy, busy, busy, busy");
	fcntl(later.near, F_SETFL, O_NONBLOCK);
	while (send(later.near, crowd, sizeof(crowd), MSG_NOSIGNAL) > 0)
		;
	aw_relay_free(relay);
	relay = other;
	pthread_join(thread, NULL);
	ok(line_ended(&line) && line_ended(&later) && !line.end.cut,
		"freed while busy: each has ended");
	ok(recv(later.near, &byte, 1, 0) < 0 && errno == ECONNRESET,
		"... and is reset");
	line_close(&line);
	line_close(&later);
}

int main(void)
{
	unsigned before = open_descriptors();
	struct aw_error err;

	if (aw_relay_create(&relay, &err) < 0)
		return 1;
	check_bytes("two readers that keep up", false, MANY_BYTES);
	check_bytes("a reader that dawdles", true, MANY_BYTES / 8);
	half_closes_are_passed_on();
	resets_are_passed_on();
	ours_go_first();
	look_decides();
	look_cuts();
	look_goes_on();
	a_limit_cuts();
	crowds_are_served(before);
	without_pipes_it_goes_on();
	the_end_cuts_all();
	aw_relay_free(relay);
	aw_relay_free(NULL);
	ok(open_descriptors() == before, "no descriptor is left");
	return done();
}
