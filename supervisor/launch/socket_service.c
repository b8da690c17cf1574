/* SPDX-License-Identifier: Apache-2.0 */
/*
 * socket_service.c - the preload engine's questions.
 *
 * One thread accepts; each connection is one message with one answer
 * (policy/shared/wire.h). Clients that are slow are given a second, then dropped.  Who
 * asks is what the kernel says (SO_PEERCRED), so that a process can only speak for
 * itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "policy/calls.h"
#include "policy/decide.h"
#include "policy/shared/wire.h"
#include "supervisor/audit/address.h"
#include "supervisor/decide/entry.h"
#include "supervisor/git/git.h"
#include "supervisor/launch/run.h"
#include "supervisor/process/program.h"
#include "supervisor/util/cleanup.h"
#include "supervisor/util/pass.h"

enum { PATIENCE_MS = 1000, TRIES = 500 /* of 1 ms, for a free descriptor */ };

struct aw_socket_service {
	struct aw_watch *watch;
	pthread_t thread;
	int fd;
	char *path; /* owned */
	_Atomic bool ending;
	bool started;
	pthread_mutex_t lock; /* of fd, when it is closed */
};

/* One message as it came. */
struct question {
	struct aw_wire_head head;
	struct aw_text parts[AW_WIRE_PARTS];
	char *bytes; /* owned */
	struct aw_process_info who;
};

/* A connection whose answer is a human's to give. */
struct waiting {
	struct aw_waiter waiter; /* first */
	struct aw_watch *watch;
	int fd; /* owned */
	struct question q;
};

/* What has come already is read at once, and else awaited for a second. */
static bool read_all(int fd, void *to, size_t len)
{
	struct pollfd more = {.fd = fd, .events = POLLIN};
	char *at = to;

	while (len) {
		ssize_t n = recv(fd, at, len, MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN && poll(&more, 1, PATIENCE_MS) > 0)
			continue;
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool read_question(struct aw_socket_service *service, int fd, struct question *q)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);
	struct aw_error err;
	size_t size, at = 0;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 ||
		!aw_processes_find(service->watch->tree, peer.pid, &q->who))
		return false;
	if (!read_all(fd, &q->head, sizeof(q->head)))
		return false;
	if (aw_wire_check(&q->head, &size, &err) < 0) {
		aw_watch_warn(service->watch, &q->who, "wire",
			"process %d sent %s; it was not answered", q->who.pid,
			err.text);
		return false;
	}
	q->bytes = malloc(size + 1);
	if (!q->bytes || !read_all(fd, q->bytes, size))
		return false;
	for (int i = 0; i < AW_WIRE_PARTS; i++) {
		q->parts[i] = (struct aw_text){q->bytes + at, q->head.len[i]};
		at += q->head.len[i];
	}
	return true;
}

static void reply(
	int fd, const struct aw_wire_answer *answer, const int *fds, int count)
{
	/* there is room for it */
	aw_pass(fd, answer, sizeof(*answer), fds, (size_t)count, MSG_DONTWAIT);
}

static void greet(struct aw_watch *watch, int fd, struct question *q)
{
	struct aw_wire_answer answer = {.magic = AW_WIRE_MAGIC};
	struct aw_event hello = {.kind = AW_EV_REGISTER, .port = -1};
	bool first = q->who.shim != AW_SHIM_READY;
	AW_CLOSE int ring_fd = -1;
	struct aw_role role;

	aw_entry_find(watch, &q->who, &role);
	aw_processes_set_role(watch->tree, &q->who, &role);
	if (aw_watch_register(watch, &q->who, q->head.type == AW_WIRE_REGISTER_BIG, -1,
		    &ring_fd) < 0)
		return;
	reply(fd, &answer, (int[]){ring_fd, atomic_load(&watch->shared)->fd}, 2);
	if (!first)
		return;
	aw_watch_sign(&hello, &q->who);
	hello.text = "the shim is in place";
	aw_watch_log(watch, &hello);
}

static void decide_address(struct aw_watch *watch, const struct question *q, char *text,
	size_t size, struct aw_event *event, struct aw_decision *ret)
{
	const struct aw_text *part = &q->parts[4];
	union aw_any_address any;
	struct aw_address to;

	memset(&any, 0, sizeof(any));
	memcpy(&any, part->bytes,
		part->len < sizeof(any.storage) ? part->len : sizeof(any.storage));
	aw_address_describe(&any, part->len, event->path, text, size, &to, event);
	event->path = (struct aw_text){NULL, 0};
	aw_image_decide_address_in(atomic_load(&watch->image), q->who.role.profiles,
		(enum aw_action)q->head.action, &to, ret);
	aw_names_decide(watch->names, atomic_load(&watch->image), q->who.role.profiles,
		(enum aw_action)q->head.action, &to, ret);
}

/* argv as it came: strings with their terminators, one behind the other. */
static size_t split_vector(
	const struct aw_text *block, struct aw_text **ret_texts, const char ***ret_argv)
{
	size_t count = 0, i = 0;

	for (size_t at = 0; at < block->len; at++)
		count += block->bytes[at] == '\0';
	*ret_texts = calloc(count + 1, sizeof(**ret_texts));
	*ret_argv = calloc(count + 1, sizeof(**ret_argv));
	if (!*ret_texts || !*ret_argv)
		return 0;
	for (const char *at = block->bytes; i < count; i++) {
		(*ret_texts)[i] = (struct aw_text){at, strlen(at)};
		(*ret_argv)[i] = at;
		at += strlen(at) + 1;
	}
	return count;
}

static void on_exec(struct aw_watch *watch, const struct question *q,
	struct aw_event *event, char *cwd, size_t cwd_size, struct aw_decision *ret)
{
	AW_FREE struct aw_text *texts = NULL;
	AW_FREE const char **argv = NULL;
	char link[64];
	ssize_t n;

	event->kind = AW_EV_EXEC;
	event->argc = split_vector(&q->parts[3], &texts, &argv);
	snprintf(link, sizeof(link), "/proc/%d/cwd", q->who.pid);
	n = readlink(link, cwd, cwd_size);
	event->cwd = (struct aw_text){cwd, n > 0 ? (size_t)n : 0};
	event->raw2 = (struct aw_text){NULL, 0};
	aw_image_decide_exec_in(atomic_load(&watch->image), q->who.role.profiles,
		event->path.bytes, event->path.len, argv, argv ? event->argc : 0, ret);
	event->argv = aw_take_ptr(&texts); /* freed by the caller */
}

/* Of the file, in our own view, which the engine shares with who asks. */
static void find_file(
	const struct aw_event *event, struct aw_asked *asked, int *ret_moot)
{
	enum aw_action action = event->action;
	char path[4352];
	struct stat st;

	*ret_moot = 0;
	if (!event->path.len || event->path.len >= sizeof(path))
		return;
	memcpy(path, event->path.bytes, event->path.len);
	path[event->path.len] = '\0';
	if (lstat(path, &st) == 0) {
		asked->device = st.st_dev;
		asked->inode = st.st_ino;
	} else if (action == AW_READ || action == AW_WRITE || action == AW_DELETE ||
		   action == AW_RENAME || action == AW_EXEC) {
		*ret_moot = errno;
	}
}

/*
 * A human's answer to a question of this connection's, into event and answer.  False:
 * there is none yet.  extra holds what the event points to.
 */
static bool ask(struct aw_watch *watch, uint64_t cookie, struct aw_event *event,
	struct aw_wire_answer *answer, char *extra, size_t size, uint64_t *ret_question)
{
	struct aw_asked asked = {.event = event, .tid = event->pid, .cookie = cookie};
	struct aw_answered answered = {.state = AW_ANSWER_NO, .how = AW_HOW_WOULD_FAIL};
	int would_fail;

	find_file(event, &asked, &would_fail);
	if (!would_fail)
		aw_questions_ask(watch->questions, &asked, &answered);
	if (answered.state == AW_ANSWER_OPEN) {
		*ret_question = answered.id;
		return false;
	}
	event->ask_denied = answered.state == AW_ANSWER_NO;
	aw_answer_members(&answered, extra, size);
	event->extra = extra;
	answer->refuse = event->ask_denied;
	answer->err = would_fail ? would_fail : aw_watch_refusal(watch, event, AW_DENY);
	return true;
}

/* False: a human is asked; *ret_question says what. */
static bool judge(struct aw_watch *watch, int fd, const struct question *q,
	uint64_t cookie, uint64_t *ret_question)
{
	char extra[256];
	struct aw_event event = {.kind = AW_EV_CALL, .ts = q->head.ts, .port = -1};
	struct aw_wire_answer answer = {.magic = AW_WIRE_MAGIC};
	const struct aw_call_paths ends = {
		q->parts[0].bytes, q->parts[0].len, q->parts[1].bytes, q->parts[1].len};
	char text[256], cwd[4096];
	struct aw_decision decision;
	struct aw_git_why why = {.text = ""};
	struct aw_rule rule;

	aw_watch_sign(&event, &q->who);
	event.call = aw_call_name(q->head.call);
	event.action = (enum aw_action)q->head.action;
	event.path = q->parts[0];
	event.path2 = q->parts[1];
	event.raw = q->parts[2];
	event.raw2 = q->parts[3];
	if (q->head.type == AW_WIRE_EXEC)
		on_exec(watch, q, &event, cwd, sizeof(cwd), &decision);
	else if (q->parts[4].len >= sizeof(sa_family_t))
		decide_address(watch, q, text, sizeof(text), &event, &decision);
	else
		aw_decide_files(atomic_load(&watch->image), q->who.role.profiles,
			(enum aw_effect)q->head.effect, event.action, &ends, &decision);
	if (q->head.effect == AW_FX_RENAME && decision.verdict == AW_ALLOW &&
		aw_git_would_refuse(atomic_load(&watch->image), &q->who, &event.path,
			&event.path2, &why))
		decision = (struct aw_decision){AW_DENY, why.rule};
	aw_watch_judge(watch, &event, &decision, &rule, true);
	aw_git_tell(&why, &event, &rule);
	event.enforced = watch->enforce;
	answer.verdict = decision.verdict;
	answer.refuse = watch->enforce && decision.verdict != AW_ALLOW;
	answer.err = aw_watch_refusal(watch, &event, decision.verdict);
	if (watch->enforce && decision.verdict == AW_ASK &&
		!ask(watch, cookie, &event, &answer, extra, sizeof(extra),
			ret_question)) {
		free((void *)event.argv);
		return false;
	}
	if (answer.refuse) {
		event.result_known = true;
		event.result = answer.err;
		event.kind = AW_EV_CALL;
	}
	if (q->head.type == AW_WIRE_EXEC && !answer.refuse)
		aw_entry_sign(watch, &q->who, &event);
	aw_watch_log(watch, &event);
	if (q->head.type == AW_WIRE_EXEC && !answer.refuse)
		aw_processes_exec(
			watch->tree, q->who.pid, &(struct aw_exec){.tid = q->who.pid});
	free((void *)event.argv);
	reply(fd, &answer, NULL, 0);
	return true;
}

/* The shim waits in recvmsg(2); what closes its end does not wait any more. */
static enum aw_waiter_state look(struct aw_waiter *waiter)
{
	const struct waiting *w = (struct waiting *)(void *)waiter;
	struct pollfd end = {.fd = w->fd, .events = POLLIN | POLLRDHUP};

	return poll(&end, 1, 0) > 0 ? AW_WAITER_DEAD : AW_WAITS;
}

static void drop(struct aw_waiter *waiter)
{
	struct waiting *w = (struct waiting *)(void *)waiter;

	close(w->fd);
	free(w->q.bytes);
	free(w);
}

static void resume(struct aw_waiter *waiter);

static const struct aw_waiter_kind kind = {.look = look,
	.resume = resume,
	.free = drop}; /* signals: see preload/linux/ask_socket.c */

static void resume(struct aw_waiter *waiter)
{
	struct waiting *w = (struct waiting *)(void *)waiter;
	struct aw_questions *questions = w->watch->questions;

	if (judge(w->watch, w->fd, &w->q, waiter->cookie, &waiter->question)) {
		aw_questions_leave(questions, waiter->cookie, AW_LEFT_SERVED, 0);
	} else {
		aw_questions_leave(
			questions, waiter->cookie, AW_LEFT_SERVED, waiter->question);
		if (aw_approval_queue_add(w->watch->queue, waiter))
			return;
		aw_questions_leave(questions, waiter->cookie, AW_LEFT_SERVED, 0);
	}
	drop(waiter);
}

/* Judge now, or put the connection aside, which takes fd and the question over. */
static void judge_or_wait(struct aw_watch *watch, int *fd, struct question *q)
{
	static uint64_t last_cookie; /* one thread accepts */
	uint64_t cookie = ++last_cookie, question;
	struct waiting *w;

	if (judge(watch, *fd, q, cookie, &question))
		return;
	w = calloc(1, sizeof(*w));
	if (w) {
		*w = (struct waiting){.waiter = {.kind = &kind,
					      .question = question,
					      .cookie = cookie},
			.watch = watch,
			.fd = *fd,
			.q = *q};
		if (aw_approval_queue_add(watch->queue, &w->waiter)) {
			*fd = -1;
			q->bytes = NULL;
			return;
		}
	}
	free(w); /* without an answer the shim refuses */
	aw_questions_leave(watch->questions, cookie, AW_LEFT_SERVED, 0);
}

static void serve_one(struct aw_socket_service *service, int *connection)
{
	int fd = *connection;
	struct question q = {.bytes = NULL};
	struct aw_wire_answer answer = {.magic = AW_WIRE_MAGIC};
	struct aw_watch *watch = service->watch;

	if (read_question(service, fd, &q)) {
		switch ((enum aw_wire_type)q.head.type) {
		case AW_WIRE_REGISTER:
		case AW_WIRE_REGISTER_BIG:
			greet(watch, fd, &q);
			break;
		case AW_WIRE_AGAIN:
			reply(fd, &answer, &atomic_load(&watch->shared)->fd, 1);
			break;
		case AW_WIRE_MOVED:
			aw_shared_moved(atomic_load(&watch->shared));
			reply(fd, &answer, NULL, 0);
			break;
		default:
			judge_or_wait(watch, connection, &q);
			break;
		}
	}
	free(q.bytes);
}

/* What waits to be accepted sees the end, and so does whoever comes later. */
static void hang_up(struct aw_socket_service *service)
{
	pthread_mutex_lock(&service->lock);
	close(service->fd);
	service->fd = -1;
	pthread_mutex_unlock(&service->lock);
}

/* No descriptor for a connection: who asks waits.  In audit not for good; false: over. */
static bool wait_for_room(struct aw_socket_service *service, int *tries)
{
	usleep(1000);
	if (service->watch->enforce || ++*tries < TRIES)
		return true;
	hang_up(service);
	aw_watch_warn(service->watch, NULL, "limits",
		"no descriptor is left to the supervisor for new programs; they are "
		"not watched any more");
	return false;
}

static void *serve(void *arg)
{
	struct aw_socket_service *service = arg;
	int tries = 0;

	prctl(PR_SET_NAME, "aw-socket");
	while (!atomic_load(&service->ending)) {
		AW_CLOSE int fd = accept4(service->fd, NULL, NULL, SOCK_CLOEXEC);

		if (fd >= 0) {
			unsigned door = aw_epoch_enter(&service->watch->readers);

			serve_one(service, &fd);
			aw_epoch_leave(&service->watch->readers, door);
			tries = 0;
		} else if (!atomic_load(&service->ending) &&
			   !wait_for_room(service, &tries)) {
			break;
		}
	}
	return NULL;
}

int aw_socket_service_open(struct aw_watch *watch, const char *path,
	struct aw_socket_service **ret, struct aw_error *err)
{
	struct aw_socket_service *s = calloc(1, sizeof(*s));
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	if (!s || !(s->path = strdup(path))) {
		free(s);
		return aw_fail(err, ENOMEM, "opening %s", path);
	}
	s->watch = watch;
	pthread_mutex_init(&s->lock, NULL);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	unlink(path);
	s->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s->fd < 0 || bind(s->fd, (void *)&address, sizeof(address)) < 0 ||
		chmod(path, 0666) <
			0 || /* its directory is private; a target may change ids */
		listen(s->fd, 1024) < 0) {
		aw_fail(err, errno, "listening at %s: %s", path, strerror(errno));
		if (s->fd >= 0)
			close(s->fd);
		free(s->path);
		free(s);
		return -1;
	}
	*ret = s;
	return 0;
}

int aw_socket_service_start(struct aw_socket_service *service, struct aw_error *err)
{
	if (pthread_create(&service->thread, NULL, serve, service) != 0)
		return aw_fail(err, EAGAIN, "starting the socket thread");
	service->started = true;
	return 0;
}

void aw_socket_service_stop(struct aw_socket_service *service)
{
	if (!service)
		return;
	atomic_store(&service->ending, true);
	pthread_mutex_lock(&service->lock);
	shutdown(service->fd, SHUT_RDWR); /* ends the waiting */
	pthread_mutex_unlock(&service->lock);
	if (service->started)
		pthread_join(service->thread, NULL);
	if (service->fd >= 0)
		close(service->fd);
	unlink(service->path);
	free(service->path);
	free(service);
}
