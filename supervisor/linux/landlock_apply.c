/* SPDX-License-Identifier: Apache-2.0 */
/* landlock_apply.c - the calls that put a process behind Landlock. */
#include "supervisor/linux/landlock_apply.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervisor/linux/landlock_rights.h"

/* The same numbers on every architecture. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

enum { VERSION = 1, RULE_PATH = 1, RULE_PORT = 2 };

/* As the kernel has them. */
struct ruleset {
	uint64_t files, network, scopes;
};

struct path_rule {
	uint64_t access;
	int32_t folder;
} __attribute__((packed));

struct port_rule {
	uint64_t access, port;
};

int aw_landlock_version(void)
{
	return (int)syscall(SYS_landlock_create_ruleset, NULL, (size_t)0, VERSION);
}

/* An older kernel takes the longer struct as long as what it does not know is 0. */
int aw_landlock_begin(uint64_t files, uint64_t network, uint64_t scopes)
{
	struct ruleset rules = {files, network, scopes};

	return (int)syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0);
}

/* A link that took the place of something on the way leads to what nobody looked at. */
static int open_place(const char *path)
{
	const struct open_how how = {.flags = O_PATH | O_CLOEXEC,
		.resolve = RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};

	return (int)syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof(how));
}

int aw_landlock_add_path(int ruleset, const char *path, uint64_t access)
{
	int fd = open_place(path);
	struct path_rule rule = {access, fd};
	struct stat st;
	int failed, why;

	if (fd < 0)
		return errno == EMFILE || errno == ENFILE || errno == ENOMEM ? -1 : 0;
	failed = fstat(fd, &st);
	if (!failed && !S_ISDIR(st.st_mode))
		rule.access &= AW_LL_OF_FILES;
	else if (!failed && !(access & AW_LL_READ_DIR))
		rule.access &= ~AW_LL_READS; /* it was a file, not all of this */
	if (!failed && rule.access)
		failed = (int)syscall(
			SYS_landlock_add_rule, ruleset, RULE_PATH, &rule, 0);
	why = errno;
	close(fd);
	errno = why;
	/* a pipe or an object without a place in the tree cannot be ruled, nor is it */
	return failed && why != EBADFD ? -1 : 0;
}

int aw_landlock_add_directory(int ruleset, int folder, uint64_t access)
{
	struct path_rule rule = {access, folder};

	return (int)syscall(SYS_landlock_add_rule, ruleset, RULE_PATH, &rule, 0);
}

int aw_landlock_add_port(int ruleset, uint64_t port, uint64_t access)
{
	struct port_rule rule = {access, port};

	return (int)syscall(SYS_landlock_add_rule, ruleset, RULE_PORT, &rule, 0);
}

int aw_landlock_restrict(int ruleset)
{
	int failed = (int)syscall(SYS_landlock_restrict_self, ruleset, 0);

	if (!failed || errno != EPERM)
		return failed;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return (int)syscall(SYS_landlock_restrict_self, ruleset, 0);
}
