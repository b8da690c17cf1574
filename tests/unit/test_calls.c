/* SPDX-License-Identifier: Apache-2.0 */
/* test_calls.c - the table of calls is consistent, and says what calls do. */
#include <fcntl.h>
#include <string.h>

#include "policy/calls.h"
#include "policy/numbers.h"
#include "tests/unit/tap.h"

static void rows_are_complete(void)
{
	unsigned nameless = 0, twice = 0, outside = 0;

	for (int i = 0; i < AW_SYS_COUNT; i++) {
		const struct aw_syscall *row = &aw_syscalls[i];

		nameless += !aw_call_name((unsigned)i)[0];
		outside += row->dir > 5 || row->path > 5 || row->dir2 > 5 ||
			   row->path2 > 5 || row->flags > 5 || row->last > AW_LAST_L;
		for (int j = 0; j < i; j++)
			twice += !strcmp(aw_call_name((unsigned)i),
					 aw_call_name((unsigned)j)) ||
				 (row->nr >= 0 && row->nr == aw_syscalls[j].nr);
	}
	ok(!nameless, "every system call has its name");
	ok(!outside, "no column names a seventh argument");
	ok(!twice, "no name and no number stands twice");
	for (unsigned i = AW_SYS_COUNT; i < AW_CALL_COUNT; i++)
		for (unsigned j = AW_SYS_COUNT; j < i; j++)
			twice += !strcmp(aw_call_name(i), aw_call_name(j));
	ok(!twice, "no function stands twice");
	ok(!strcmp(aw_call_name(AW_FN_open), "open") &&
			!strcmp(aw_call_name(AW_FN_getaddrinfo), "getaddrinfo") &&
			!strcmp(aw_call_name(AW_SYS_open), "open"),
		"functions come behind system calls");
	ok(!strcmp(aw_call_name(AW_CALL_COUNT), "?") && !strcmp(aw_call_name(~0u), "?"),
		"a number out of range has no name");
}

static void numbers_lead_back(void)
{
	unsigned wrong = 0;

	for (int i = 0; i < AW_SYS_COUNT; i++)
		wrong += aw_syscalls[i].nr >= 0 &&
			 aw_syscall_by_number(aw_syscalls[i].nr) != i;
	ok(!wrong, "every number leads back to its row");
	ok(aw_syscall_by_number(-1) == -1 && aw_syscall_by_number(__NR_read) == -1 &&
			aw_syscall_by_number(1 << 30) == -1,
		"other numbers lead nowhere");
	ok(aw_syscall_by_i386_number(-1) == -1 && aw_syscall_by_i386_number(0) == -1 &&
			aw_syscall_by_i386_number(3) == -1,
		"nor do other i386 numbers");
}

static void flags_tell_what_an_open_does(void)
{
	static const struct {
		uint64_t flags;
		enum aw_action want;
		const char *what;
	} cases[] = {
		{O_RDONLY, AW_READ, "reading"},
		{O_RDONLY | O_CLOEXEC | O_DIRECTORY, AW_READ, "reading a directory"},
		{O_WRONLY, AW_WRITE, "writing"},
		{O_RDWR | O_APPEND, AW_WRITE, "appending"},
		{O_ACCMODE, AW_WRITE, "access mode 3"},
		{O_RDONLY | O_TRUNC, AW_WRITE, "truncating"},
		{O_RDONLY | O_CREAT, AW_CREATE, "creating"},
		{O_RDWR | O_TMPFILE, AW_CREATE, "a file without a name"},
		{O_PATH, AW_METADATA, "O_PATH"},
		{O_PATH | O_CREAT | O_RDWR, AW_METADATA, "O_PATH, which rules"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		ok(aw_action_of_open(cases[i].flags) == cases[i].want, "%s is %s",
			cases[i].what, aw_action_name(cases[i].want));
}

static void effects_have_actions(void)
{
	static const struct {
		enum aw_effect effect;
		enum aw_action want;
	} cases[] = {
		{AW_FX_CREAT, AW_CREATE},
		{AW_FX_DELETE, AW_DELETE},
		{AW_FX_RENAME, AW_RENAME},
		{AW_FX_LINK, AW_CREATE},
		{AW_FX_SYMLINK, AW_CREATE},
		{AW_FX_CHDIR, AW_READ},
		{AW_FX_EXEC, AW_EXEC},
		{AW_FX_CONNECT, AW_CONNECT},
		{AW_FX_LOOKUP, AW_CONNECT},
		{AW_FX_BIND, AW_BIND},
		{AW_FX_SENDMMSG, AW_SEND},
		{AW_FX_META, AW_METADATA},
	};
	unsigned wrong = 0;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		wrong += aw_action_of_effect(cases[i].effect, O_RDWR) != cases[i].want;
	ok(!wrong, "effects have their actions, whatever flags say");
	ok(aw_action_of_effect(AW_FX_OPEN, O_WRONLY) == AW_WRITE &&
			aw_action_of_effect(AW_FX_HANDLE, O_RDONLY) == AW_READ,
		"but an open is told by its flags");
}

int main(void)
{
	rows_are_complete();
	numbers_lead_back();
	flags_tell_what_an_open_does();
	effects_have_actions();
	return done();
}
