/* SPDX-License-Identifier: Apache-2.0 */
/*
 * launcher.c - the process that the caller sees.
 *
 * It shares its process group with the command, so the terminal's signals reach the
 * command by themselves; only signals sent to the launcher alone are passed on.  When
 * the service dies, the launcher is the keeper: in audit it lets every watched call
 * continue, in enforce it kills the command and all its descendants.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/array.h"
#include "supervisor/approval/notice.h"
#include "supervisor/cli/say.h"
#include "supervisor/launch/run.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/process/descend.h"
#include "supervisor/process/inside.h"
#include "supervisor/util/pass.h"

/* Calls that the service may have had in hand when it was killed, by their numbers. */
enum { IN_HAND = 1 << 20, UNSEEN = 16 };

struct launcher {
	struct aw_run *run;
	int news, signals;
	pid_t service, command, waited;
	bool keeping; /* the service is gone */
	int listener;
	int status; /* for run; -1: not known yet */
};

static void send_news(const struct launcher *launcher, int kind, int value)
{
	struct aw_launch_message news = {kind, value, 0};

	send(launcher->news, &news, sizeof(news), MSG_NOSIGNAL);
}

static void tell_human(const struct launcher *launcher, int question, const char *text)
{
	char name[128];

	snprintf(name, sizeof(name), "%.100s/%d", launcher->run->session->id, question);
	aw_notice(name, text, launcher->run->options.quiet);
}

/* One message of the service's; false: there is none any more. */
static bool read_news(struct launcher *launcher)
{
	struct {
		struct aw_launch_message head;
		char text[AW_NOTICE_TEXT];
	} news;
	int fds[AW_PASS_MAX];
	ssize_t n = aw_pass_take(launcher->news, &news, sizeof(news) - 1, fds);

	if (n < 0 && errno == EAGAIN)
		return true;
	if (n < (ssize_t)sizeof(news.head))
		return false;
	news.text[(size_t)n - sizeof(news.head)] = '\0';
	if (fds[0] >= 0)
		launcher->listener = fds[0];
	if (news.head.kind == AW_LAUNCH_STARTED) {
		launcher->command = news.head.value;
		launcher->waited = news.head.waited;
	} else if (news.head.kind == AW_LAUNCH_ENDED)
		launcher->status = news.head.value;
	else if (news.head.kind == AW_LAUNCH_ASKED)
		tell_human(launcher, news.head.value, news.text);
	else if (news.head.kind == AW_LAUNCH_STOPPED &&
		 aw_proc_stopped(launcher->command))
		raise(SIGSTOP); /* so that the caller's shell sees a stopped job */
	return true;
}

/* To the command: by the service, or without it when it is gone. */
static void signal_command(const struct launcher *launcher, int signal)
{
	if (launcher->keeping)
		kill(launcher->command, signal);
	else
		send_news(launcher, AW_LAUNCH_SIGNAL, signal);
}

/* A signal for us: what came from the terminal has reached the command already. */
static void pass_on(struct launcher *launcher)
{
	struct signalfd_siginfo info;

	if (read(launcher->signals, &info, sizeof(info)) != sizeof(info))
		return;
	if ((int)info.ssi_code == SI_KERNEL && info.ssi_signo != SIGCONT) {
		/* a terminal that goes away tells only the leader of its session */
		if (info.ssi_signo == SIGHUP && getsid(0) == getpid())
			signal_command(launcher, SIGHUP);
		return;
	}
	if (info.ssi_signo == SIGHUP)
		send_news(launcher, AW_LAUNCH_RELOAD, 0);
	else if (info.ssi_signo != SIGCHLD)
		signal_command(launcher, (int)info.ssi_signo);
}

/* Answer one waiting call with "go on". */
static void let_go_on(int listener)
{
	char room[1024] = {0};
	struct seccomp_notif *request = (void *)room;
	struct seccomp_notif_resp response = {
		.flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

	if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, request) < 0)
		return;
	response.id = request->id;
	ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
}

/*
 * What the service had received and not answered yet nobody is told of again, and it
 * would wait for good.  The kernel counts calls up by one, so all that can be meant are
 * answered; for the others that is an error without consequence.
 */
static void release_received(const struct launcher *launcher)
{
	uint64_t last = atomic_load(&launcher->run->fallback->last_call);

	for (uint64_t id = last + UNSEEN; id != last - IN_HAND; id--) {
		struct seccomp_notif_resp response = {
			.id = id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE};

		ioctl(launcher->listener, SECCOMP_IOCTL_NOTIF_SEND, &response);
	}
}

static int status_of(int status)
{
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void kill_all(void)
{
	while (aw_signal_descendants(getpid(), SIGKILL))
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
}

/* Killed before the command was: that is not started without it. */
static int give_up(void)
{
	aw_say("the supervisor was killed before the command was started");
	kill_all();
	return AW_RUN_FAILED;
}

/* Audit: the command's status, when it has come to its end without the service. */
static int go_on(struct launcher *launcher)
{
	struct pollfd fds[2] = {{.fd = launcher->listener, .events = POLLIN},
		{.fd = launcher->signals,
			.events = POLLIN}}; /* one below 0 is left out */
	int status, ret = -1;
	pid_t pid;

	launcher->keeping = true;
	aw_say("the supervisor was killed; the command goes on without being watched");
	if (launcher->listener >= 0)
		release_received(launcher);
	while (ret < 0) {
		if (poll(fds, 2, 20) > 0 && fds[0].revents & POLLIN)
			let_go_on(launcher->listener);
		if (fds[1].revents & POLLIN)
			pass_on(launcher);
		while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
			if (pid == launcher->waited)
				ret = status_of(status);
		if (pid < 0 && errno == ECHILD && ret < 0)
			ret = AW_RUN_FAILED;
	}
	return ret;
}

/* The service is gone: its children are ours now, being the next subreaper. */
static int keep(struct launcher *launcher)
{
	int ret = atomic_load(&launcher->run->fallback->status);

	atomic_store(&launcher->run->shared.page->work, AW_WORK_NONE);
	if (launcher->run->policy.mode == AW_ENFORCE) {
		aw_say("the supervisor was killed; the command is killed too, since "
		       "enforce cannot go on without it");
		kill_all();
		return AW_RUN_FAILED;
	}
	if (ret >= 0)
		aw_say("the supervisor was killed when the command had ended; the log "
		       "may lack its last events");
	else if (launcher->listener >= 0 &&
		 !atomic_load(&launcher->run->fallback->last_call))
		return give_up();
	else
		ret = go_on(launcher);
	if (!launcher->run->options.keep_descendants)
		kill_all();
	return ret;
}

static int stay(struct launcher *launcher)
{
	struct pollfd fds[2] = {{.fd = launcher->news, .events = POLLIN},
		{.fd = launcher->signals, .events = POLLIN}};
	int status;

	for (;;) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return AW_RUN_FAILED;
		/* news first: a signal is not for a service that is gone */
		if (fds[0].revents && !read_news(launcher))
			break;
		if (fds[1].revents & POLLIN)
			pass_on(launcher);
		if (launcher->status >= 0 && launcher->run->options.keep_descendants)
			return launcher->status; /* the service stays for the others */
	}
	while (waitpid(launcher->service, &status, 0) < 0 && errno == EINTR)
		;
	if (launcher->status >= 0)
		return launcher->status;
	if (!launcher->command && WIFEXITED(status))
		return WEXITSTATUS(status);
	status = launcher->command ? keep(launcher) : give_up();
	aw_session_finish(launcher->run->session, status, NULL);
	return status;
}

/* Signals that are passed on; SIGTSTP and its kin stop us as the kernel does. */
static void block_signals(sigset_t *ret)
{
	static const int signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1,
		SIGUSR2, SIGCONT, SIGALRM, SIGPIPE};

	sigemptyset(ret);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(ret, signals[i]);
}

int aw_launcher(struct aw_run *run)
{
	struct launcher launcher = {.run = run, .listener = -1, .status = -1};
	sigset_t set;
	int pair[2];

	run->launcher = getpid();
	run->front_group = getpgrp();
	block_signals(&set);
	sigprocmask(SIG_BLOCK, &set, NULL);
	run->fallback = mmap(NULL, sizeof(*run->fallback), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (run->fallback == MAP_FAILED ||
		socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0 ||
		(launcher.signals = signalfd(-1, &set, SFD_CLOEXEC)) < 0) {
		aw_say("cannot start: %s", strerror(errno));
		return AW_RUN_FAILED;
	}
	atomic_store(&run->fallback->status, -1);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	aw_keep_others_out();
	launcher.service = fork();
	if (launcher.service < 0) {
		aw_say("cannot start: fork: %s", strerror(errno));
		return AW_RUN_FAILED;
	}
	if (launcher.service == 0) {
		close(pair[0]);
		close(launcher.signals);
		_exit(aw_supervisor(run, pair[1]));
	}
	launcher.news = pair[0];
	close(pair[1]);
	aw_listeners_give_up(&run->listeners);
	return stay(&launcher);
}
