/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matrix.c - every call that names a path, while what stands at that name changes.
 *
 * `matrix ROOT MILLISECONDS SEED [CALL A B]` works in ROOT/w; CALL A B: this call and
 * pair of kinds alone.  The name "x" is exchanged with "y" by another process and a
 * thread, each pair of kinds in turn; meanwhile all calls of policy/calls.def go round
 * with "x", "x/" and "x/inner" as each of their paths.  What a link leads to is what
 * the policy keeps: `secret` (not read), `frozen` and ROOT/out (not changed);
 * ROOT/w/guard may not get an entry "inner".  matrix.py looks at these from outside;
 * what a descriptor or an answer gives away is printed here.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef SYS_fchmodat2
#define SYS_fchmodat2 452
#endif
#ifndef SYS_setxattrat
#define SYS_setxattrat 463
#define SYS_getxattrat 464
#define SYS_listxattrat 465
#define SYS_removexattrat 466
#endif
#ifndef SYS_open_tree_attr
#define SYS_open_tree_attr 467
#endif
#ifndef SYS_file_getattr
#define SYS_file_getattr 468
#define SYS_file_setattr 469
#endif

enum { CWD = -1, FD = -2, N = -3, F = 0, K, O, H, A, L };

static const struct row {
	const char *name, *effect;
	long nr;
	int dir, path, dir2, path2, flags;
} rows[] = {
#define AW_SYS(name, effect, dir, path, dir2, path2, flags, last)                      \
	{#name, #effect, SYS_##name, dir, path, dir2, path2, flags},
#include "policy/calls.def"
};

enum { FILE_KIND, FOLDER, FILE_LINK, FOLDER_LINK, PIPE, MISSING, KINDS };

static const char *const kinds[] = {
	"file", "folder", "link to file", "link to folder", "pipe", "nothing"};
static const char *const wanted[] = {"w/secret", "out", "w/frozen"};
static char lead[3][200]; /* the folders that links lead to */
static dev_t kept_dev;
static ino_t kept[3][2]; /* folder and "inner" */
static volatile sig_atomic_t stop;
static struct {
	int a, b, to;
} * now; /* shared with the other process */

static long clock_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void clear(const char *name)
{
	char netns[40];

	if (unlink(name) == 0 || errno == ENOENT)
		return;
	snprintf(netns, sizeof netns, "%s/inner", name);
	unlink(netns);
	snprintf(netns, sizeof netns, "%s/s", name);
	unlink(netns);
	rmdir(netns);
	snprintf(netns, sizeof netns, "%s/new", name);
	if (unlink(netns) < 0)
		rmdir(netns);
	rmdir(name);
}

static void make(const char *name, int kind, int to)
{
	char text[320];
	int fd;

	clear(name);
	snprintf(
		text, sizeof text, "%s%s", lead[to], kind == FILE_LINK ? "/inner" : "");
	if (kind == FILE_LINK || kind == FOLDER_LINK) {
		if (symlink(text, name) < 0)
			return;
	} else if (kind == PIPE) {
		mkfifo(name, 0600);
	} else if (kind != MISSING) {
		snprintf(text, sizeof text, "%s%s", name,
			kind == FOLDER ? "/inner" : "");
		if (kind == FOLDER)
			mkdir(name, 0700);
		fd = open(text, O_CREAT | O_WRONLY | O_NONBLOCK, 0600);
		if (fd >= 0)
			close(fd);
	}
}

/* Exchange what is there; make it anew when the calls have taken it away. */
static void swap_once(void)
{
	bool gap = now->a == MISSING || now->b == MISSING;

	if (syscall(SYS_renameat2, AT_FDCWD, "x", AT_FDCWD, "y", gap ? 1 : 2) == 0)
		return;
	if (gap && syscall(SYS_renameat2, AT_FDCWD, "y", AT_FDCWD, "x", 1) == 0)
		return;
	make("y", now->b, now->to);
	make("x", now->a, now->to);
}

static void *swapper(void *unused)
{
	while (!stop)
		swap_once();
	return unused;
}

static void escape(
	const struct row *row, const char *path, long variant, const char *what)
{
	printf("ESCAPE %s %s variant %ld, %s and %s, link to %s: %s\n", row->name, path,
		variant, kinds[now->a], kinds[now->b], wanted[now->to], what);
	fflush(stdout);
}

/* Is it one that may not be had, or not for writing? */
static void look_at(const struct row *row, const char *path, long variant, int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (fstat(fd, &st) < 0 || flags & O_PATH || st.st_dev != kept_dev)
		return;
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 2; j++)
			if (st.st_ino == kept[i][j] &&
				(i == 0 || (flags & O_ACCMODE) != O_RDONLY))
				escape(row, path, variant, "its descriptor");
}

static bool is_kept(const struct stat *st)
{
	for (int i = 0; i < 3; i++)
		if (st->st_dev == kept_dev && st->st_ino == kept[i][1])
			return true;
	return false;
}

static long bind_to(const char *path)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	long rc;

	snprintf(un.sun_path, sizeof un.sun_path, "%s", path);
	rc = syscall(SYS_bind, fd, &un, sizeof un);
	close(fd);
	return rc;
}

static const long open_flags[] = {O_RDONLY | O_NONBLOCK, O_RDWR | O_CREAT | O_NONBLOCK,
	O_WRONLY | O_TRUNC | O_NONBLOCK, O_WRONLY | O_CREAT | O_EXCL | O_NONBLOCK,
	O_RDONLY | O_NOFOLLOW | O_NONBLOCK, O_RDONLY | O_DIRECTORY | O_NONBLOCK,
	O_RDWR | O_TMPFILE, O_RDONLY | O_CREAT | O_TRUNC | O_NONBLOCK};
static const long other_flags[] = {
	0, AT_SYMLINK_NOFOLLOW, AT_SYMLINK_FOLLOW, 1, 2, AT_REMOVEDIR};

static bool is(const struct row *row, const char *part)
{
	return strstr(row->name, part) != NULL;
}

/* What stands behind the paths; a call that is not known here has zeroes there. */
static void fill(const struct row *row, long variant, long arguments[6])
{
	static struct open_how how;
	static struct {
		const char *value;
		unsigned size, flags;
	} value = {"1", 1, 0};
	int next = (row->path2 > row->path ? row->path2 : row->path) + 1;

	if (strcmp(row->effect, "OPEN") == 0 && row->nr != SYS_openat2) {
		arguments[next] = open_flags[variant % 8];
		arguments[next + 1] = 0600;
	} else if (row->nr == SYS_openat2) {
		how.flags = (unsigned long)open_flags[variant % 8];
		how.mode = how.flags & O_CREAT || variant % 8 == 6 ? 0600 : 0;
		arguments[next] = (long)&how;
		arguments[next + 1] = sizeof how;
	} else if (is(row, "xattr")) {
		if (is(row, "xattrat"))
			arguments[next++] = 0;
		arguments[next] = (long)"user.race";
		arguments[next + 1] = is(row, "xattrat") ? (long)&value : (long)"1";
		arguments[next + 2] = is(row, "xattrat") ? sizeof value : 1;
	} else if (is(row, "chown")) {
		arguments[next] = getuid();
		arguments[next + 1] = getgid();
	} else if (is(row, "chmod") || is(row, "mkdir") || is(row, "creat")) {
		arguments[next] = 0700;
	} else if (is(row, "mknod")) {
		arguments[next] = (variant & 1 ? S_IFIFO : S_IFREG) | 0600;
	} else if (is(row, "unlinkat") || row->flags >= 0) {
		arguments[row->flags >= 0 ? row->flags : next] =
			other_flags[variant % 6];
	}
}

/* One call with path as its first or second path. */
static void call(const struct row *row, bool second, const char *path, long variant)
{
	static char buffer[4096];
	const char *other = variant & 1 ? "guard" : "n";
	long arguments[6] = {0}, rc;
	struct stat st;

	if (strcmp(row->effect, "BIND") == 0) {
		rc = bind_to(path);
	} else {
		for (int i = row->path + 1; i < 6 && strcmp(row->effect, "META") == 0;
			i++)
			arguments[i] = (long)buffer;
		fill(row, variant, arguments);
		if (row->dir >= 0)
			arguments[row->dir] = AT_FDCWD;
		if (row->dir2 >= 0)
			arguments[row->dir2] = AT_FDCWD;
		arguments[row->path] = (long)(second ? other : path);
		if (row->path2 >= 0)
			arguments[row->path2] = (long)(second ? path : other);
		rc = syscall(row->nr, arguments[0], arguments[1], arguments[2],
			arguments[3], arguments[4], arguments[5]);
	}
	if (rc > 2 && (strcmp(row->effect, "OPEN") == 0 ||
			      strcmp(row->effect, "CREAT") == 0 ||
			      strcmp(row->effect, "READ") == 0)) {
		look_at(row, path, variant, (int)rc);
		close((int)rc);
	}
	if (row->path2 < 0)
		return;
	/* a link may lead to what nobody here can change, but for good */
	for (int i = 0; i < 16; i++)
		if (lstat("guard/inner", &st) == 0 && !is_kept(&st)) {
			escape(row, path, variant, "a guarded name was made");
			break;
		}
	clear("n");
	clear("guard");
}

/* What another cannot do for a process (chdir, exec), and what has no path of a file. */
static bool is_left_out(const struct row *row)
{
	static const char *const effects[] = {
		"EXEC", "CHDIR", "CONNECT", "SENDTO", "SENDMSG", "SENDMMSG"};

	for (size_t i = 0; i < sizeof effects / sizeof *effects; i++)
		if (strcmp(row->effect, effects[i]) == 0)
			return true;
	return row->path < 0 || strcmp(row->name, "inotify_add_watch") == 0;
}

/* All calls, again and again, while this pair of kinds is exchanged. */
static unsigned long go_round(long until, const char *only)
{
	static const char *const paths[] = {"x", "x/", "x/inner", "x/new"};
	static long variant;
	unsigned long count = 0;

	for (; clock_ms() < until; variant++) {
		const struct row *row =
			&rows[(unsigned long)rand() % (sizeof rows / sizeof *rows)];

		if (is_left_out(row) || (only && strcmp(only, row->name) != 0))
			continue;
		call(row, row->path2 >= 0 && rand() % 2, paths[rand() % 4],
			rand() % 48);
		count++;
	}
	return count;
}

static void prepare(const char *root)
{
	char path[400];
	struct stat st;

	for (int i = 0; i < 3; i++) {
		snprintf(lead[i], sizeof lead[i], "%s/%s", root, wanted[i]);
		if (stat(lead[i], &st) == 0)
			kept[i][0] = st.st_ino, kept_dev = st.st_dev;
		snprintf(path, sizeof path, "%s/inner", lead[i]);
		if (stat(path, &st) == 0)
			kept[i][1] = st.st_ino;
	}
}

static void wake(int number)
{
	(void)number;
}

/* A pipe without another end lets one wait: not for long. */
static void never_wait(void)
{
	const struct itimerval often = {{0, 30000}, {0, 30000}};
	struct sigaction action = {.sa_handler = wake};
	sigset_t alarm_set;

	sigemptyset(&alarm_set);
	sigaddset(&alarm_set, SIGALRM);
	sigaction(SIGALRM, &action, NULL);
	pthread_sigmask(SIG_UNBLOCK, &alarm_set, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

int main(int argc, char **argv)
{
	long each, until;
	unsigned long count = 0;
	int cell = 0;
	pthread_t thread;
	sigset_t set;
	pid_t child;

	if ((argc != 4 && argc != 7) || chdir(argv[1]) < 0 || chdir("w") < 0)
		return 2;
	prepare(argv[1]);
	srand((unsigned)atoi(argv[3]));
	each = atol(argv[2]) / (argc == 7 ? 1 : KINDS * (KINDS - 1) / 2);
	now = mmap(
		NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	child = fork();
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		swapper(NULL);
	}
	sigemptyset(&set);
	sigaddset(&set, SIGALRM);
	pthread_sigmask(SIG_BLOCK, &set, NULL); /* the thread keeps it so */
	pthread_create(&thread, NULL, swapper, NULL);
	never_wait();
	for (int a = 0; a < KINDS; a++)
		for (int b = a + 1; b < KINDS; b++, cell++) {
			if (argc == 7 && (atoi(argv[5]) != a || atoi(argv[6]) != b))
				continue;
			now->a = a, now->b = b, now->to = (cell + atoi(argv[3])) % 3;
			clear("x");
			clear("y");
			until = clock_ms() + each;
			count += go_round(until, argc == 7 ? argv[4] : NULL);
		}
	stop = 1;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	pthread_join(thread, NULL);
	clear("x");
	clear("y");
	printf("CALLS %lu\n", count);
	return 0;
}
