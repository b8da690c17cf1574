/* SPDX-License-Identifier: Apache-2.0 */
/*
 * killpoint.c - does something to one of the processes of a run at one of its calls.
 *
 *   killpoint WHO N WHAT SECONDS COMMAND...    N 0: only count
 *
 * WHO is front (the command that is started), service (its child that makes a process
 * group of its own; those before only try something out), command (the service's first
 * child), child (the command's) or grandchild.  All threads of it count together.
 * WHAT is a signal's number, and then each call counts twice: before and behind it; or
 * something that is used up from the N-th call that wants it on: "memory",
 * "descriptors", "threads" or "disk".  Prints one line of JSON: how often it stopped,
 * the number of the call that it was done at, how the launcher ended; who "crashed";
 * "hung" when something still ran SECONDS later.
 */
#include <errno.h>
#include <fcntl.h>
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
enum role { OTHER, FRONT, SERVICE, COMMAND, CHILD, GRANDCHILD, ROLES };

static const char *const roles[ROLES] = {
	"", "front", "service", "command", "child", "grandchild"};

static struct task {
	pid_t tid, tgid;
	bool by_front;
	bool begun;  /* its first stop, which only says that it is there, is over */
	int failing; /* the errno of the call that it is in, which is not made */
	unsigned long long asked; /* brk: where it wanted to get */
} tasks[PROCESSES];
static size_t count;
static pid_t pids[ROLES];
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
	for (int role = SERVICE; role < GRANDCHILD; role++)
		if (pids[role] && pids[role] == above && !pids[role + 1]) {
			pids[role + 1] = child;
			break;
		}
	task->by_front = pids[FRONT] == above;
}

static int role_of(pid_t tid)
{
	const struct task *task = find(tid);

	for (int role = FRONT; task && role < ROLES; role++)
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

/* What is used up, and the calls that want it. */
static const struct scarce {
	const char *name;
	int err;
	short calls[20]; /* 0 ends them */
} scarce[] = {
	{"memory", ENOMEM, {SYS_mmap, SYS_brk, SYS_mremap, SYS_memfd_create}},
	{"descriptors", EMFILE,
		{SYS_openat, SYS_openat2, SYS_open, SYS_socket, SYS_socketpair, SYS_dup,
			SYS_fcntl, SYS_pidfd_open, SYS_pidfd_getfd, SYS_memfd_create,
			SYS_epoll_create1, SYS_eventfd2, SYS_signalfd4, SYS_accept4,
			SYS_pipe2, SYS_landlock_create_ruleset}},
	{"threads", EAGAIN, {SYS_clone, SYS_clone3, SYS_fork, SYS_vfork}},
	{"disk", ENOSPC,
		{SYS_write, SYS_pwrite64, SYS_writev, SYS_mkdir, SYS_mkdirat,
			SYS_ftruncate, SYS_rename, SYS_renameat2, SYS_fsync, SYS_link,
			SYS_linkat, SYS_symlink}},
};

struct run {
	int who, signal;
	const struct scarce *scarce; /* NULL: a signal */
	long point, stops;
	bool fired, front_over;
	int front_status;
	long call;
	int crashed; /* role */
	bool loaded; /* the loader is through: it unmaps its cache last */
};

/* read(2) and its kin want none of it, and neither do pipes and sockets want a disk. */
static bool wants(
	const struct scarce *what, const struct user_regs_struct *regs, pid_t tid)
{
	char path[64], to[256];
	long call = (long)regs->orig_rax;
	ssize_t n;
	int i = 0;

	while (what->calls[i] && what->calls[i] != call)
		i++;
	if (!what->calls[i])
		return false;
	if (call == SYS_fcntl)
		return regs->rsi == F_DUPFD || regs->rsi == F_DUPFD_CLOEXEC;
	if (call == SYS_signalfd4)
		return (int)regs->rdi < 0;
	if (call == SYS_brk)
		return regs->rdi != 0;
	if (call != SYS_write && call != SYS_pwrite64 && call != SYS_writev &&
		call != SYS_ftruncate)
		return true;
	if (regs->rdi <= 2) /* what it says */
		return false;
	snprintf(path, sizeof(path), "/proc/%d/fd/%d", tid, (int)regs->rdi);
	n = readlink(path, to, sizeof(to) - 1);
	to[n < 0 ? 0 : n] = '\0';
	return to[0] == '/' && strncmp(to, "/proc/", 6) && strncmp(to, "/sys/", 5) &&
	       strncmp(to, "/memfd:", 7) && strncmp(to, "/dev/", 5);
}

/* The call is not made, and fails. */
static void run_short(struct run *run, struct task *task, struct user_regs_struct *regs)
{
	struct __ptrace_syscall_info info;

	if (ptrace(PTRACE_GET_SYSCALL_INFO, task->tid, sizeof(info), &info) <= 0)
		return;
	if (info.op == PTRACE_SYSCALL_INFO_EXIT && (task->failing || task->asked)) {
		if (task->failing)
			regs->rax = (unsigned long long)-task->failing;
		else
			regs->rdi = task->asked;
		task->failing = 0;
		task->asked = 0;
		ptrace(PTRACE_SETREGS, task->tid, 0, regs);
		return;
	}
	if (info.op != PTRACE_SYSCALL_INFO_ENTRY ||
		!wants(run->scarce, regs, task->tid))
		return;
	if (++run->stops < run->point || !run->point)
		return;
	if (!run->fired)
		run->call = (long)regs->orig_rax;
	run->fired = true;
	if (regs->orig_rax == SYS_brk) { /* fails by staying where it is */
		task->asked = regs->rdi;
		regs->rdi = 0;
	} else {
		task->failing = run->scarce->err;
		regs->orig_rax = (unsigned long long)-1;
	}
	ptrace(PTRACE_SETREGS, task->tid, 0, regs);
}

/* A stop for a system call of the one that is meant. */
static void on_call(struct run *run, pid_t tid)
{
	struct task *task = find(tid);
	struct user_regs_struct regs;

	if (task && task->by_front && !pids[SERVICE] &&
		ptrace(PTRACE_GETREGS, tid, 0, &regs) == 0 &&
		regs.orig_rax == SYS_setpgid)
		pids[SERVICE] = task->tgid;
	if (role_of(tid) != run->who || ptrace(PTRACE_GETREGS, tid, 0, &regs) < 0)
		return;
	run->loaded |= run->who != FRONT || regs.orig_rax == SYS_munmap;
	if (run->scarce) {
		if (run->loaded)
			run_short(run, task, &regs);
		return;
	}
	if (run->fired || ++run->stops != run->point)
		return;
	run->fired = true;
	run->call = (long)regs.orig_rax;
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
	if (signal == SIGSEGV || signal == SIGBUS || signal == SIGABRT ||
		signal == SIGILL || signal == SIGFPE || signal == SIGXFSZ)
		run->crashed = role_of(tid);
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
			ptrace(run->fired && !run->scarce ? PTRACE_CONT
							  : PTRACE_SYSCALL,
				tid, 0, signal);
			continue;
		}
		if (tid == pids[FRONT]) {
			run->front_over = true;
			run->front_status = status;
		}
		drop(tid);
	}
}

static void read_words(struct run *run, char **argv)
{
	for (int i = FRONT; i < ROLES; i++)
		if (strcmp(argv[1], roles[i]) == 0)
			run->who = i;
	run->point = atol(argv[2]);
	run->signal = atoi(argv[3]);
	for (size_t i = 0; i < sizeof(scarce) / sizeof(scarce[0]); i++)
		if (strcmp(argv[3], scarce[i].name) == 0)
			run->scarce = &scarce[i];
}

int main(int argc, char **argv)
{
	struct sigaction action = {.sa_handler = on_alarm};
	struct run run = {.who = OTHER, .call = -1};

	if (argc < 6)
		return 2;
	read_words(&run, argv);
	if (!run.who || (!run.signal && !run.scarce)) {
		fputs("killpoint: who, and what?\n", stderr);
		return 2;
	}
	sigaction(SIGALRM, &action, NULL);
	start(argv + 5);
	alarm((unsigned)atoi(argv[4]));
	trace(&run);
	printf("{\"stops\": %ld, \"fired\": %s, \"call\": %ld, \"status\": %d, "
	       "\"crashed\": \"%s\", \"hung\": %s}\n",
		run.stops, run.fired ? "true" : "false", run.call,
		WIFEXITED(run.front_status) ? WEXITSTATUS(run.front_status)
					    : 128 + WTERMSIG(run.front_status),
		roles[run.crashed], late ? "true" : "false");
	return 0;
}
