/* SPDX-License-Identifier: Apache-2.0 */
/*
 * killpoint.c - kills one of the processes of a run at one of its system calls.
 *
 *   killpoint WHO N SIGNAL SECONDS COMMAND...    N 0: only count
 *
 * WHO is front (the command that is started), service (its child that makes a process
 * group of its own; those before only try something out) or command (the service's
 * first child).  All threads of it count together, and each call counts twice: before
 * and behind it.  Prints one line of JSON: how often it stopped, the number of the call
 * that it was killed at, how the front ended; "hung" when something still ran SECONDS
 * later.
 */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PROCESSES = 4096 };
enum role { OTHER, FRONT, SERVICE, COMMAND };

static struct task {
	pid_t tid, tgid;
	bool by_front;
	bool begun; /* its first stop, which only says that it is there, is over */
} tasks[PROCESSES];
static size_t count;
static pid_t pids[4];
static volatile sig_atomic_t late;

static void on_alarm(int signal)
{
	(void)signal;
	late = 1;
}

static struct task *find(pid_t tid)
{
	for (size_t i = 0; i < count; i++)
		if (tasks[i].tid == tid)
			return &tasks[i];
	return NULL;
}

static pid_t tgid_of(pid_t tid)
{
	char path[64], line[128];
	pid_t ret = tid;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", tid);
	file = fopen(path, "re");
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "Tgid: %d", &ret) == 1)
			break;
	if (file)
		fclose(file);
	return ret;
}

static struct task *add(pid_t tid)
{
	if (count == PROCESSES) {
		fputs("killpoint: too many processes\n", stderr);
		exit(2);
	}
	tasks[count] = (struct task){.tid = tid, .tgid = tgid_of(tid)};
	return &tasks[count++];
}

static void drop(pid_t tid)
{
	struct task *task = find(tid);

	if (task)
		*task = tasks[--count];
}

/* A new process or thread; the first child of each is the next one down. */
static void on_child(pid_t parent_tid, pid_t child)
{
	struct task *parent = find(parent_tid), *task = find(child);
	pid_t above = parent ? parent->tgid : 0;

	if (!task)
		task = add(child);
	if (task->tgid != child)
		return;
	if (pids[SERVICE] && pids[SERVICE] == above && !pids[COMMAND])
		pids[COMMAND] = child;
	task->by_front = pids[FRONT] == above;
}

static int role_of(pid_t tid)
{
	const struct task *task = find(tid);

	for (int role = FRONT; task && role <= COMMAND; role++)
		if (pids[role] == task->tgid)
			return role;
	return OTHER;
}

static pid_t start(char **argv)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, 0, 0);
		raise(SIGSTOP);
		execvp(argv[0], argv);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	ptrace(PTRACE_SETOPTIONS, pid, 0,
		PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK |
			PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL);
	add(pid)->begun = true;
	pids[FRONT] = pid;
	ptrace(PTRACE_SYSCALL, pid, 0, 0);
	return pid;
}

struct run {
	int who, signal;
	long point, stops;
	bool fired, front_over;
	int front_status;
	long call;
};

/* A stop for a system call of the one that is meant. */
static void on_call(struct run *run, pid_t tid)
{
	const struct task *task = find(tid);
	struct user_regs_struct regs;

	if (task && task->by_front && !pids[SERVICE] &&
		ptrace(PTRACE_GETREGS, tid, 0, &regs) == 0 &&
		regs.orig_rax == SYS_setpgid)
		pids[SERVICE] = task->tgid;
	if (role_of(tid) != run->who || run->fired)
		return;
	if (++run->stops != run->point)
		return;
	run->fired = true;
	run->call =
		ptrace(PTRACE_GETREGS, tid, 0, &regs) == 0 ? (long)regs.orig_rax : -1;
	kill(pids[run->who], run->signal);
}

/* One event; the signal to go on with. */
static int on_stop(struct run *run, pid_t tid, int status)
{
	int signal = WSTOPSIG(status), event = status >> 16;
	struct task *task = find(tid);
	unsigned long child;

	if (signal == (SIGTRAP | 0x80)) {
		on_call(run, tid);
		return 0;
	}
	if (event) {
		if (ptrace(PTRACE_GETEVENTMSG, tid, 0, &child) == 0)
			on_child(tid, (pid_t)child);
		return 0;
	}
	if (!task)
		task = add(tid);
	if (!task->begun) {
		task->begun = true;
		return signal == SIGSTOP ? 0 : signal;
	}
	return signal == SIGTRAP ? 0 : signal;
}

static void end_all(void)
{
	for (size_t i = 0; i < count; i++)
		kill(tasks[i].tgid, SIGKILL);
}

static void trace(struct run *run)
{
	bool ended = false;

	for (;;) {
		int status, signal;
		pid_t tid = waitpid(-1, &status, __WALL);

		if (late && !ended) {
			ended = true;
			end_all();
		}
		if (tid < 0 && errno == EINTR)
			continue;
		if (tid < 0)
			return;
		if (WIFSTOPPED(status)) {
			signal = on_stop(run, tid, status);
			ptrace(run->fired ? PTRACE_CONT : PTRACE_SYSCALL, tid, 0,
				signal);
			continue;
		}
		if (tid == pids[FRONT]) {
			run->front_over = true;
			run->front_status = status;
		}
		drop(tid);
	}
}

int main(int argc, char **argv)
{
	static const char *const roles[] = {"", "front", "service", "command"};
	struct sigaction action = {.sa_handler = on_alarm};
	struct run run = {.who = OTHER, .call = -1};

	if (argc < 6)
		return 2;
	for (int i = FRONT; i <= COMMAND; i++)
		if (strcmp(argv[1], roles[i]) == 0)
			run.who = i;
	run.point = atol(argv[2]);
	run.signal = atoi(argv[3]);
	sigaction(SIGALRM, &action, NULL);
	start(argv + 5);
	alarm((unsigned)atoi(argv[4]));
	trace(&run);
	printf("{\"stops\": %ld, \"fired\": %s, \"call\": %ld, \"status\": %d, "
	       "\"hung\": "
	       "%s}\n",
		run.stops, run.fired ? "true" : "false", run.call,
		WIFEXITED(run.front_status) ? WEXITSTATUS(run.front_status)
					    : 128 + WTERMSIG(run.front_status),
		late ? "true" : "false");
	return 0;
}
