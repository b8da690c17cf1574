/* SPDX-License-Identifier: Apache-2.0 */
/* session.c - the session itself: its files, its sockets, its memory, the terminal */
#define _GNU_SOURCE
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "policy/shared/page.h"
#include "tests/escapes/escape.h"

/* A file that makes others run or allow something, named by the attempt's sentence. */
static int precious(struct target *t, int arg)
{
	char path[600];

	(void)arg;
	snprintf(path, sizeof path, "%s/w/%s", t->root, strrchr(t->what, ' ') + 1);
	return poke(
		open(t->denied ? path : t->write, O_WRONLY | O_APPEND | O_CREAT, 0644));
}

enum { CONFIG_IN_PLACE, CONFIG_RENAME };

/* As git does it: a lock file beside it, renamed onto it. */
static int git_config(struct target *t, int how)
{
	char path[600], lock[620];
	int rc;

	snprintf(path, sizeof path, "%s/w/.git/config", t->root);
	if (!t->denied)
		snprintf(path, sizeof path, "%s", t->write);
	snprintf(lock, sizeof lock, "%s%s", path, how == CONFIG_RENAME ? ".lock" : "");
	rc = put(lock,
		"[core]\n\tfsmonitor = touch /tmp/never\n[alias]\n\tx = !touch never\n");
	return rc || how != CONFIG_RENAME ? rc : result(rename(lock, path));
}

static int run(const char *const *argv)
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		int null = open("/dev/null", O_RDWR);

		dup2(null, 1);
		dup2(null, 2);
		execv(argv[0], (char *const *)argv);
		_exit(errno);
	}
	return child_result(child);
}

enum { STOP, RELOAD };

/* The command itself, from inside. */
static int command(struct target *t, int how)
{
	const char *program = getenv("ESC_AGENTWATCH"),
		   *session = getenv("ESC_SESSION");
	const char *stop[] = {program, "stop", session, NULL},
		   *reload[] = {program, "policy", "reload", session, NULL};

	(void)t;
	if (!program || !session)
		return NOT_HERE;
	return run(how == STOP ? stop : reload);
}

/* Every socket of the session, found in its folder, as a client would. */
static int control(struct target *t, int arg)
{
	const char *runtime = getenv("XDG_RUNTIME_DIR");
	struct sockaddr_un address;
	char folder[300], path[600];
	struct dirent *entry;
	int rc = NOT_HERE;
	DIR *dir;

	(void)t;
	(void)arg;
	snprintf(
		folder, sizeof folder, "%s/agentwatch", runtime ? runtime : "/nowhere");
	dir = opendir(folder);
	if (!dir)
		return errno;
	while ((entry = readdir(dir))) {
		if (!strstr(entry->d_name, "."))
			snprintf(path, sizeof path, "%s/%s/control", folder,
				entry->d_name);
		else
			snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
		if (entry->d_name[0] == '.' || strlen(path) >= sizeof address.sun_path)
			continue;
		rc = connect_to(
			&address, unix_address(path, false, &address), SOCK_STREAM);
		if (rc == 0)
			break;
	}
	closedir(dir);
	return rc;
}

enum { MAP_PAGE, CUT_PAGE, STATE };

static int shared(struct target *t, int how)
{
	const char *state = getenv("XDG_STATE_HOME");
	char path[600];
	void *page;
	int fd;

	if (how == STATE) {
		snprintf(path, sizeof path, "%s/agentwatch/sessions/%s/session.json",
			state ? state : "", getenv("ESC_SESSION"));
		return poke(open(path, O_WRONLY | O_APPEND));
	}
	(void)t;
	fd = raw(SYS_openat, AT_FDCWD, (long)AW_REGISTER_AGAIN, O_RDWR | O_CLOEXEC, 0,
		0, 0);
	if (fd < 0)
		return NOT_HERE;
	if (how == CUT_PAGE)
		return result(ftruncate(fd, 0));
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return page == MAP_FAILED ? errno : 0;
}

enum { INJECT, LINUX_PASTE, DEV_TTY };

static int terminal(struct target *t, int how)
{
	char paste[2] = {3, 0};
	const char *text = "injected\n";

	if (!isatty(0))
		return NOT_HERE;
	if (!t->denied || how == DEV_TTY) {
		int fd = open("/dev/tty", O_RDWR | O_NOCTTY);

		return fd < 0 ? errno : result(write(fd, "\n", 1) - 1);
	}
	if (how == LINUX_PASTE) {
		if (ioctl(0, 0x541c, paste) < 0)
			return errno == ENOTTY || errno == EINVAL ? NOT_HERE : errno;
		return 0;
	}
	for (; *text; text++)
		if (ioctl(0, TIOCSTI, text) < 0)
			return errno == EIO ? NOT_HERE : errno;
	return 0;
}

#define FILE(name, path)                                                               \
	{                                                                              \
		"file_" name, "wf", "write " path, precious, 0                         \
	}

const struct attempt session_table[] = {
	FILE("bashrc", "home/.bashrc"),
	FILE("profile", "home/.profile"),
	FILE("zshrc", "home/.zshrc"),
	FILE("gitconfig", "home/.gitconfig"),
	FILE("authorized_keys", "home/.ssh/authorized_keys"),
	FILE("git_hook", ".git/hooks/pre-commit"),
	FILE("vscode_tasks", ".vscode/tasks.json"),
	FILE("mcp_json", ".mcp.json"),
	FILE("claude_settings", ".claude/settings.json"),
	FILE("workspace_policy", ".agentwatch.yaml"),
	FILE("own_policy", "policy.yaml"),
	FILE("global_policy", "home/.config/agentwatch/policy.yaml"),
	{"git_config", "wf", "set core.fsmonitor in place in .git/config", git_config,
		CONFIG_IN_PLACE},
	{"git_config_rename", "wf", "set an alias with ! by renaming onto .git/config",
		git_config, CONFIG_RENAME},
	{"session_file", "sn", "write session.json", shared, STATE},
	{"session_page", "sn", "map the session's page for writing", shared, MAP_PAGE},
	{"session_page_cut", "sn", "cut off the session's page", shared, CUT_PAGE},
	{"session_stop", "1sn", "agentwatch stop from inside", command, STOP},
	{"session_reload", "1sn", "agentwatch policy reload from inside", command,
		RELOAD},
	{"session_socket", "1sn", "connect to the session's control socket", control,
		0},
	{"tty_inject", "t1", "type into the terminal (TIOCSTI)", terminal, INJECT},
	{"tty_paste", "t1", "paste into the console (TIOCLINUX)", terminal,
		LINUX_PASTE},
	{0},
};
