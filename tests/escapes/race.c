/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race.c - the argument changes between the check and the use.
 *
 * A second thread writes good and bad in turn, eight bytes at once, so that hardly any
 * torn name is seen; the paths of the stage differ within eight bytes for that.  The
 * twin goes between two spellings that differ in one byte, and every single try must
 * succeed.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <signal.h>
#include <spawn.h>
#include <time.h>
#include <unistd.h>

#include "tests/escapes/escape.h"

extern char **environ;

struct flip {
	_Alignas(64) char text[640];
	_Atomic uint64_t *word;
	uint64_t good, bad;
	atomic_bool stop;
	pthread_t thread;
	char *path;
};

static void *flipper(void *arg)
{
	struct flip *flip = arg;

	while (!flip->stop) {
		*flip->word = flip->bad;
		*flip->word = flip->good;
	}
	return NULL;
}

/* A call that costs more is tried less often; the twin, which has to work, too. */
static int limit_of(const struct target *t, int cost)
{
	return t->denied ? tries / cost : tries / cost / 10 + 50;
}

/* ROOT/w/FOLDER/NAME/FILE, where FOLDER is good or bad, eight letters each. */
static int start(struct flip *flip, const struct target *t, const char *good,
	const char *bad, const char *file)
{
	size_t lead = strlen(t->root) + 3, more = (8 - lead % 8) % 8;

	/* slashes in front, so that whoever copies it by words copies ours as one */
	flip->path = flip->text;
	snprintf(flip->text, sizeof flip->text, "%.*s%s/w/%s/%s%s", (int)more,
		"////////", t->root, good, t->name, file);
	flip->word = (_Atomic uint64_t *)(flip->path + more + lead);
	memcpy(&flip->good, good, 8);
	memcpy(&flip->bad, bad, 8);
	flip->stop = false;
	return pthread_create(&flip->thread, NULL, flipper, flip);
}

static void finish(struct flip *flip)
{
	flip->stop = true;
	pthread_join(flip->thread, NULL);
}

enum { OPEN_READ, OPEN_WRITE, UNLINK, RENAME, TRUNCATE, CHMOD, SPAWN };

static int spawned(char *path)
{
	char *argv[] = {path, NULL};
	pid_t child;
	int rc = posix_spawn(&child, path, NULL, NULL, argv, environ);

	return rc ? rc : child_result(child);
}

static int one(struct target *t, struct flip *flip, int what)
{
	int fd, rc;

	switch (what) {
	case OPEN_READ:
		fd = raw(SYS_open, (long)flip->path, O_RDONLY, 0, 0, 0, 0);
		if (fd < 0)
			return -fd;
		rc = take(t, fd);
		/* the good file is not what was wanted */
		return rc						 ? rc
		       : strstr(t->got, t->denied ? "-deny:" : "-open:") ? 0
									 : EAGAIN;
	case OPEN_WRITE:
		fd = raw(SYS_open, (long)flip->path, O_WRONLY, 0, 0, 0, 0);
		return fd < 0 ? -fd : poke(fd);
	case UNLINK:
		rc = -raw(SYS_unlink, (long)flip->path, 0, 0, 0, 0, 0);
		if (rc == 0 && put(flip->path, "new\n") != 0)
			return EAGAIN;
		return rc;
	case RENAME:
		if ((rc = put("mine", "changed\n")) != 0)
			return rc;
		return -raw(SYS_rename, (long)"mine", (long)flip->path, 0, 0, 0, 0);
	case TRUNCATE:
		return -raw(SYS_truncate, (long)flip->path, 3, 0, 0, 0, 0);
	case CHMOD:
		return -raw(SYS_chmod, (long)flip->path, 0600, 0, 0, 0, 0);
	default:
		return spawned(flip->path);
	}
}

/* Has the denied file changed, as far as we can see? */
static bool effect(const struct target *t, int what, const struct stat *before)
{
	struct stat now;

	if (what == OPEN_READ)
		return strstr(t->got, "-deny:");
	if (what == SPAWN)
		return false; /* its marker is on stdout */
	if (stat(t->write, &now) < 0)
		return true;
	return now.st_ino != before->st_ino || now.st_size != before->st_size ||
	       now.st_mode != before->st_mode ||
	       now.st_mtim.tv_nsec != before->st_mtim.tv_nsec;
}

static const struct {
	const char *good, *bad, *twin, *file;
} pairs[] = {
	[OPEN_READ] = {"open////", "secret//", "open/.//", "/key"},
	[OPEN_WRITE] = {"free////", "frozen//", "free/.//", "/file"},
	[UNLINK] = {"free////", "frozen//", "free/.//", "/file"},
	[RENAME] = {"free////", "frozen//", "free/.//", "/file"},
	[TRUNCATE] = {"free////", "frozen//", "free/.//", "/file"},
	[CHMOD] = {"free////", "frozen//", "free/.//", "/file"},
	[SPAWN] = {"bin/////", "deny-bin", "bin/.///", ""},
};

static int path_race(struct target *t, int what)
{
	static struct flip flip;
	int i, rc = 0, limit = limit_of(t, what == SPAWN ? 20 : 1);
	struct stat before = {0};
	long until =
		now() + (t->denied ? 100 : 0); /* the thread has to get going first */

	stat(t->write, &before);
	if (start(&flip, t, pairs[what].good,
		    t->denied ? pairs[what].bad : pairs[what].twin,
		    pairs[what].file) != 0)
		return EAGAIN;
	for (i = 0; i < limit || now() < until; i++) {
		rc = one(t, &flip, what);
		if (t->denied ? effect(t, what, &before) : rc != 0)
			break;
	}
	finish(&flip);
	if (!t->denied)
		return rc;
	if (effect(t, what, &before))
		return 0;
	t->got[0] = 0;
	return EACCES;
}

enum { CONNECT, BIND, SENDTO, SENDMSG, SENDMMSG, FASTOPEN };

/* 0 or errno of one message to an address that changes. */
static int send_by(int fd, int what, struct sockaddr_in *address)
{
	struct iovec text = {(void *)"x", 1};
	struct mmsghdr one = {{.msg_name = address,
				      .msg_namelen = sizeof *address,
				      .msg_iov = &text,
				      .msg_iovlen = 1},
		0};
	int flags = what == FASTOPEN ? MSG_FASTOPEN : 0;
	long rc;

	if (what == SENDMSG)
		rc = raw(SYS_sendmsg, fd, (long)&one.msg_hdr, 0, 0, 0, 0);
	else if (what == SENDMMSG)
		rc = raw(SYS_sendmmsg, fd, (long)&one, 1, 0, 0, 0);
	else
		rc = raw(SYS_sendto, fd, (long)"x", 1, flags, (long)address,
			sizeof *address);
	return rc == 1 ? 0 : EACCES;
}

static int address_race(struct target *t, int what)
{
	static _Alignas(64) struct sockaddr_in address, server, other;
	static struct flip flip;
	long until = now() + (t->denied ? 100 : 0);
	int i, fd, rc = 0;

	server = other = address = t->inet;
	if (t->denied) /* the good one of this attempt: only the address counts */
		other.sin_addr.s_addr = htonl(0x7f010001);
	if (what == BIND)
		other.sin_port = address.sin_port = 0;
	address.sin_addr = other.sin_addr;
	memcpy(&flip.good, &other, 8);
	memcpy(&flip.bad, &t->inet, 8);
	if (what == BIND)
		((unsigned char *)&flip.bad)[2] = ((unsigned char *)&flip.bad)[3] = 0;
	flip.word = (_Atomic uint64_t *)&address;
	flip.stop = false;
	if (pthread_create(&flip.thread, NULL, flipper, &flip) != 0)
		return EAGAIN;
	for (i = 0; i < limit_of(t, 1) || now() < until; i++) {
		fd = socket(AF_INET,
			what == CONNECT || what == FASTOPEN ? SOCK_STREAM : SOCK_DGRAM,
			0);
		if (what == CONNECT)
			rc = -raw(SYS_connect, fd, (long)&address, sizeof address, 0, 0,
				0);
		else if (what == BIND)
			rc = -raw(
				SYS_bind, fd, (long)&address, sizeof address, 0, 0, 0);
		else
			rc = send_by(fd, what, &address);
		if (what == BIND && rc == 0) { /* to where the harness sees from whom */
			server.sin_addr.s_addr = htonl(0x7f010001);
			sendto(fd, "x", 1, 0, (struct sockaddr *)&server,
				sizeof server);
		}
		close(fd);
		if (rc != 0 && !t->denied)
			break;
	}
	finish(&flip);
	return t->denied ? EACCES : rc; /* only the server knows */
}

enum { SWAP_LINK, SWAP_FOLDER, SWAP_OUTER };

/* Another process exchanges a name with a link to the denied place. */
static int name_race(struct target *t, int what)
{
	int i, fd, rc = EACCES, limit = limit_of(t, 4);
	long until = now() + 400; /* the other process has to get going first */
	bool found = false;
	char good[600], bad[600];
	pid_t child;

	snprintf(good, sizeof good, "%s/w/open/%s", t->root, t->name);
	snprintf(bad, sizeof bad, "%s/w/%s/%s", t->root, t->denied ? "secret" : "open",
		t->name);
	if (what == SWAP_LINK)
		strcat(good, "/key"), strcat(bad, "/key");
	if (what == SWAP_FOLDER ? mkdir("a", 0755) < 0 || put("a/key", "mine\n") != 0
				: symlink(good, "a") < 0)
		return errno;
	if (symlink(bad, "b") < 0)
		return errno;
	child = fork();
	while (child == 0)
		syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", 2);
	for (i = 0; i < limit || now() < until; i++) {
		fd = open(what == SWAP_LINK ? "a" : "a/key", O_RDONLY);
		rc = take(t, fd);
		found = t->denied && rc == 0 && strstr(t->got, "-deny:");
		if (found)
			break;
		if (!t->denied && rc != 0 && what != SWAP_FOLDER)
			break;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	if (t->denied)
		return found ? 0 : EACCES;
	if (what != SWAP_FOLDER)
		return rc;
	return take_path(t, t->read); /* refusals are the race's own affair */
}

enum { FOLDER_CREAT, FOLDER_WRITE, FILE_SLASH };

/* One try, while "a" is now a folder or file and now a link to what is wanted. */
static int swapped(struct target *t, int what)
{
	int fd, netns, rc;

	switch (what) {
	case FOLDER_CREAT:
		return take(t, open("a", O_RDONLY | O_CREAT, 0600));
	case FOLDER_WRITE:
		fd = open("a", O_WRONLY | O_CREAT, 0600);
		return fd < 0 ? errno : poke(fd);
	default:
		fd = open("a/", O_RDONLY);
		if (fd < 0)
			return errno;
		/* a descriptor of a denied folder may lead where a name does not */
		netns = openat(fd, "key", O_RDONLY);
		rc = take(t, netns);
		if (rc != 0 && t->denied)
			snprintf(t->got, sizeof t->got, "%s", ""), rc = 0;
		close(fd);
		return rc;
	}
}

/* Wait until the other process is at it: what is there has changed twice. */
static void see_it_change(void)
{
	struct stat first = {0}, st;
	long until = now() + 5000;

	lstat("a", &first);
	for (int seen = 0; seen < 4 && now() < until;) {
		if (lstat("a", &st) == 0 && st.st_ino != first.st_ino)
			seen++, first = st;
	}
}

/* What is there when it is judged is of another type when it is opened. */
static int type_race(struct target *t, int what)
{
	int i, rc = EACCES, limit = limit_of(t, 1);
	char there[600];
	long until;
	pid_t child;

	snprintf(there, sizeof there, "%s", what == FOLDER_WRITE ? t->write : t->read);
	if (what == FILE_SLASH)
		*strrchr(there, '/') = '\0';
	if (what == FILE_SLASH ? put("a", "mine\n") != 0 : mkdir("a", 0755) < 0)
		return errno;
	if (symlink(there, "b") < 0)
		return errno;
	child = fork();
	while (child == 0)
		syscall(SYS_renameat2, AT_FDCWD, "a", AT_FDCWD, "b", 2);
	see_it_change();
	until = now() + 1000;
	for (i = 0; i < limit || now() < until; i++) {
		rc = swapped(t, what);
		if (rc == 0)
			break;
	}
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	return rc;
}

const struct attempt race_table[] = {
	{"race_open", "r", "the path of open for reading", path_race, OPEN_READ},
	{"race_open_write", "w", "the path of open for writing", path_race, OPEN_WRITE},
	{"race_unlink", "w", "the path of unlink", path_race, UNLINK},
	{"race_rename", "w", "the target of rename", path_race, RENAME},
	{"race_truncate", "w", "the path of truncate", path_race, TRUNCATE},
	{"race_chmod", "w", "the path of chmod", path_race, CHMOD},
	{"race_exec", "x", "the path of a program", path_race, SPAWN},
	{"race_connect", "c", "the address of connect", address_race, CONNECT},
	{"race_bind", "b", "the address of bind", address_race, BIND},
	{"race_sendto", "c", "the address of sendto", address_race, SENDTO},
	{"race_sendmsg", "c", "the address of sendmsg", address_race, SENDMSG},
	{"race_sendmmsg", "c", "the address of sendmmsg", address_race, SENDMMSG},
	{"race_fastopen", "c", "the address of sendto with MSG_FASTOPEN", address_race,
		FASTOPEN},
	{"race_symlink", "r", "a symbolic link that changes under way", name_race,
		SWAP_LINK},
	{"race_folder", "r", "a folder that becomes a symbolic link", name_race,
		SWAP_FOLDER},
	{"race_outer", "r", "a symbolic link to a folder that changes under way",
		name_race, SWAP_OUTER},
	{"race_type_creat", "r", "a folder that becomes a link, by O_CREAT", type_race,
		FOLDER_CREAT},
	{"race_type_write", "w", "a folder that becomes a link, written by O_CREAT",
		type_race, FOLDER_WRITE},
	{"race_type_slash", "s", "a file that becomes a link to a folder, by a slash",
		type_race, FILE_SLASH},
	{0},
};
