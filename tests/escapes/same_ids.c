/* SPDX-License-Identifier: Apache-2.0 */
/* same_ids.c - what is made belongs to the one who made it; rights that were given up
 * are gone */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <stdio.h>
#include <string.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/escapes/escape.h"
#include "tests/escapes/same.h"

enum { USER = 1001, GROUP = 1002, OTHER_GROUP = 1003 };

/* Take capabilities out of the effective set. */
static int without(unsigned long caps)
{
	struct __user_cap_header_struct head = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data) < 0)
		return -1;
	data[0].effective &= ~caps;
	return syscall(SYS_capset, &head, data);
}

static void make(const char *what)
{
	char name[64];

	snprintf(name, sizeof name, "open/%s.file", what);
	say(name, open(name, O_CREAT | O_EXCL | O_WRONLY, 0666));
	show(name);
	snprintf(name, sizeof name, "open/%s.dir", what);
	say(name, mkdir(name, 0777));
	show(name);
	snprintf(name, sizeof name, "open/%s.link", what);
	say(name, symlink("nowhere", name));
	show(name);
	snprintf(name, sizeof name, "open/%s.fifo", what);
	say(name, mkfifo(name, 0666));
	show(name);
}

static void look(const char *what)
{
	puts(what);
	say("  read a file of mode 0", open("secret", O_RDONLY));
	say("  read a file of the group's", open("grouped", O_RDONLY));
	say("  read a file of the other group's", open("grouped2", O_RDONLY));
	say("  create in a folder of root's",
		open("rooted/new", O_CREAT | O_WRONLY, 0600));
	say("  unlink in a folder of root's", unlink("rooted/file"));
	say("  unlink in a sticky folder", unlink("sticky/file"));
	say("  chmod of a file of root's", chmod("rooted/kept", 0644));
	say("  chown of a file of root's", chown("rooted/kept", USER, USER));
	say("  utimensat of a file of root's",
		utimensat(AT_FDCWD, "rooted/kept", NULL, 0));
	say("  link to a file of root's", link("rooted/kept", "open/kept"));
	say("  look into a folder of mode 0", open("closed/file", O_RDONLY));
	say("  enter it", chdir("closed"));
	say("  a device", mknod("open/device", S_IFCHR | 0600, 0x103));
	say("  chroot", syscall(SYS_access, "rooted/kept", R_OK));
	remove("open/device");
	remove("open/kept");
}

static void user(void)
{
	gid_t groups[] = {OTHER_GROUP};

	if (setgroups(1, groups) || setresgid(GROUP, GROUP, GROUP) ||
		setresuid(USER, USER, USER))
		puts("cannot change the user");
	make("user");
	look("as a user");
}

/* As in a large directory; the one that counts is the last, and numbers are long. */
static void many_groups(void)
{
	enum { MANY = 1000, FIRST = 100000 };
	static gid_t groups[MANY];

	for (int i = 0; i < MANY - 1; i++)
		groups[i] = FIRST + i;
	groups[MANY - 1] = OTHER_GROUP;
	if (setgroups(MANY, groups) || setresgid(GROUP, GROUP, GROUP) ||
		setresuid(USER, USER, USER))
		puts("cannot change the user");
	puts("in a thousand groups");
	say("  read a file of the group's", open("grouped", O_RDONLY));
	say("  read a file of the other group's", open("grouped2", O_RDONLY));
	say("  create", open("open/many", O_CREAT | O_WRONLY, 0600));
}

static void effective(void)
{
	if (setegid(GROUP) || seteuid(USER))
		puts("cannot change the user");
	make("effective");
	look("as a user for a while");
	if (seteuid(0) || setegid(0))
		puts("cannot change back");
	make("again");
}

static void for_files(void)
{
	setfsgid(GROUP);
	setfsuid(USER);
	make("fsuid");
	look("as a user for files");
}

static void no_override(void)
{
	say("capability given up",
		without(1 << CAP_DAC_OVERRIDE | 1 << CAP_DAC_READ_SEARCH));
	look("without CAP_DAC_OVERRIDE");
	make("capless");
}

static void no_owner(void)
{
	if (without(1 << CAP_FOWNER | 1 << CAP_CHOWN | 1 << CAP_MKNOD |
		    1 << CAP_DAC_OVERRIDE | 1 << CAP_DAC_READ_SEARCH))
		puts("cannot give up");
	look("without CAP_FOWNER, CAP_CHOWN, CAP_MKNOD");
}

/* A folder with the set-group bit gives its group on. */
static void set_group(void)
{
	if (mkdir("open/sg", 0755) || chown("open/sg", USER, GROUP) ||
		chmod("open/sg", 02777))
		puts("cannot make the folder");
	say("in a set-group folder", open("open/sg/f", O_CREAT | O_WRONLY, 0666));
	show("open/sg/f");
	mkdir("open/sg/d", 0777);
	show("open/sg/d");
}

static void apart(void (*what)(void))
{
	pid_t child;

	fflush(stdout);
	child = fork();
	if (child == 0) {
		what();
		fflush(stdout);
		_exit(0);
	}
	child_result(child);
}

static void ground(void)
{
	mkdir("open", 0777);
	chmod("open", 0777);
	mkdir("rooted", 0755);
	file("rooted/file", "x\n");
	file("rooted/kept", "x\n");
	mkdir("sticky", 0755);
	file("sticky/file", "x\n");
	chmod("sticky", 01777);
	file("secret", "x\n");
	chmod("secret", 0);
	file("grouped", "x\n");
	chmod("grouped", 0640);
	file("grouped2", "x\n");
	chmod("grouped2", 0640);
	mkdir("closed", 0755);
	file("closed/file", "x\n");
	chmod("closed", 0);
}

void same_ids(void)
{
	ground();
	make("self");
	look("as we are");
	if (geteuid() != 0)
		return;
	if (chown("grouped", 0, GROUP) || chown("grouped2", 0, OTHER_GROUP))
		puts("cannot give files away");
	file("rooted/file", "x\n");
	file("sticky/file", "x\n");
	apart(user);
	apart(many_groups);
	apart(effective);
	apart(for_files);
	apart(no_override);
	apart(no_owner);
	apart(set_group);
}
