/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls_page.c - docs/CALLS.md, from the table of calls and from the filter itself.
 *
 * Usage: calls_page FUNCTION...: the functions whose wrappers can use the gate page.
 */
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>

#include "policy/calls.h"
#include "policy/shared/page.h"
#include "supervisor/linux/seccomp/filter.h"
#include "tests/unit/bpf.h"

static const struct {
	const char *name, *of;
} aliases[] = {
#define AW_ALIAS(name, of) {#name, #of},
#include "policy/calls.def"
};

/* Functions: the system calls that each ends in. */
static const struct {
	const char *name, *calls;
	bool by_hand;
} functions[] = {
#define AW_FN(ret, name, params, args, sys, sysargs) {#name, #sys, false},
#define AW_HAND(name, effect, sys) {#name, sys, true},
#include "policy/calls.def"
};

static const char *effect_name(enum aw_effect effect)
{
	static const char *const names[] = {
		[AW_FX_OPEN] = "opens",
		[AW_FX_CREAT] = "creates a file",
		[AW_FX_HANDLE] = "opens by handle",
		[AW_FX_READ] = "reads",
		[AW_FX_WRITE] = "changes",
		[AW_FX_CREATE] = "creates",
		[AW_FX_DELETE] = "deletes",
		[AW_FX_RENAME] = "renames",
		[AW_FX_LINK] = "links",
		[AW_FX_SYMLINK] = "links",
		[AW_FX_CHDIR] = "where paths start",
		[AW_FX_EXEC] = "program",
		[AW_FX_CONNECT] = "connects",
		[AW_FX_BIND] = "binds",
		[AW_FX_SENDTO] = "sends",
		[AW_FX_SENDMSG] = "sends",
		[AW_FX_SENDMMSG] = "sends",
		[AW_FX_LOOKUP] = "looks a name up",
		[AW_FX_META] = "metadata",
		[AW_FX_URING] = "io_uring",
		[AW_FX_SECCOMP] = "filter of its own",
		[AW_FX_PRCTL] = "filter of its own",
		[AW_FX_NAMESPACE] = "another view of files",
		[AW_FX_CLONE] = "another view of files",
		[AW_FX_MEMORY] = "not watched",
		[AW_FX_SOCKET] = "socket of another family",
		[AW_FX_LISTEN] = "listens",
		[AW_FX_OPTION] = "sends elsewhere, joins a group",
		[AW_FX_PROCESS] = "another process",
		[AW_FX_OWNER] = "signals of a descriptor",
		[AW_FX_LANDLOCK] = "sandbox of its own",
		[AW_FX_UMASK] = "rights",
		[AW_FX_CREDS] = "rights",
		[AW_FX_IOCTL] = "types into a terminal",
		[AW_FX_CLONE3] = "another view of files",
		[AW_FX_MACHINE] = "the whole machine",
		[AW_FX_REFUSE] = "refused",
	};

	return effect < sizeof(names) / sizeof(names[0]) && names[effect]
		       ? names[effect]
		       : "is watched";
}

static bool held; /* mode enforce */

static uint32_t ask(
	bool gate, bool metadata, long nr, uint64_t ip, int arg, uint64_t value)
{
	const struct aw_filter_params params = {
		.gate = gate, .metadata = metadata, .holds = held, .kin = held};
	static struct aw_filter filter;
	struct seccomp_data data = {
		.nr = (int)nr, .arch = AUDIT_ARCH_X86_64, .instruction_pointer = ip};

	if (arg >= 0)
		data.args[arg] = value;
	aw_filter_build(&params, &filter);
	return bpf_run(filter.code, filter.count, &data);
}

/* What the filter, run, does with a number. */
static const char *kernel_layer(long nr)
{
	const uint32_t yes = SECCOMP_RET_USER_NOTIF;
	const struct aw_syscall *row = &aw_syscalls[aw_syscall_by_number(nr)];

	if (row->effect == AW_FX_IOCTL)
		return "in `enforce`: `TIOCSTI`, `TIOCLINUX`, flags of inodes";
	if (row->effect == AW_FX_PROCESS && row->dir2 == 0)
		return "in `enforce`: of another process";
	if (row->effect == AW_FX_CLONE3)
		return "in `enforce`: ENOSYS";
	if (row->effect == AW_FX_CLONE)
		return "`CLONE_NEWNS`; in `enforce`: any new namespace";
	if (row->effect == AW_FX_SOCKET)
		return "in `enforce`: `SOCK_RAW`, other families than Unix, IPv4 and "
		       "IPv6, other protocols than TCP, UDP and ICMP";
	if (row->effect == AW_FX_OPTION)
		return "in `enforce`: source routes, interfaces, marks; groups";
	held = row->effect >= AW_FX_ENFORCE_ONLY;
	if (held && ask(false, true, nr, 0, -1, 0) == yes) {
		held = false;
		return "in `enforce`";
	}
	if (ask(false, true, nr, 0, -1, 0) != yes)
		return ask(false, true, nr, 0, 4, 1) == yes ? "with an address"
		       : ask(false, true, nr, 0, 0, PR_SET_SECCOMP) == yes
			       ? "`PR_SET_SECCOMP`"
			       : "no";
	if (ask(true, false, nr, 0, -1, 0) != yes)
		return "when a policy hides";
	return ask(true, true, nr, AW_GATE_RETURN, -1, 0) == yes ? "always"
								 : "but for the gate";
}

static void put_systems(void)
{
	puts("| system call | it | kernel layer | i386 |\n|---|---|---|---|");
	for (int i = 0; i < AW_SYS_COUNT; i++) {
		const struct aw_syscall *row = &aw_syscalls[i];
		bool i386 = false;

		for (long nr = 0; nr < 512; nr++)
			i386 |= aw_syscall_by_i386_number(nr) == i &&
				row->effect != AW_FX_PRCTL;
		printf("| `%s` | %s | %s | %s |\n", aw_call_name((unsigned)i),
			effect_name((enum aw_effect)row->effect), kernel_layer(row->nr),
			i386 ? "yes" : "no");
	}
}

/* "mkdir" for "mkdir, rmdir" and the like: is it a name of the list? */
static bool named(const char *name, int count, char **list)
{
	for (int i = 0; i < count; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

static void put_functions(int count, char **fast)
{
	puts("| function | other names | ends in | fast path |\n|---|---|---|---|");
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		const char *before = "";

		printf("| `%s` | ", functions[i].name);
		for (size_t j = 0; j < sizeof(aliases) / sizeof(aliases[0]); j++) {
			if (strcmp(aliases[j].of, functions[i].name) != 0)
				continue;
			printf("%s`%s`", before, aliases[j].name);
			before = ", ";
		}
		printf(" | %s | %s |\n", functions[i].calls,
			named(functions[i].name, count, fast) ? "yes" : "");
	}
}

int main(int argc, char **argv)
{
	puts("# Which calls are watched\n\n"
	     "Made from `policy/calls.def` and the filter by `make docs/CALLS.md`; for x86_64.\n");
	puts("## System calls: the kernel layer\n\n"
	     "In the engines `hybrid` and `kernel` the kernel hands these to the supervisor,\n"
	     "whoever makes them: libc, a static program, a raw `syscall` instruction. *But for\n"
	     "the gate*: in mode audit with `verdicts: local` a call made from the gate page\n"
	     "passes, since the shim has decided and logged it. *i386*: also under its 32-bit\n"
	     "number; 32-bit socket calls are watched through `socketcall` as well. Every x32\n"
	     "call is notified and reported as a warning. In mode enforce the gate lets only "
	     "`openat`\n"
	     "for reading pass, and only behind a sandbox that holds every denied read.\n");
	put_systems();
	puts("\n## Functions: the shim\n\n"
	     "The shim stands in front of these in dynamic programs. In the engine `preload` it\n"
	     "judges and logs each of them itself. In `hybrid` those on the *fast path* are\n"
	     "decided in the process and made from the gate page when they can be (`sendmsg`:\n"
	     "when the message has no address); all others go to libc and are seen by the\n"
	     "kernel layer, so that each call is logged once. Exec functions carry the shim on\n"
	     "into the new program in both engines. `vfork` is wrapped too, to tell parent\n"
	     "from child.\n");
	put_functions(argc - 1, argv + 1);
	return 0;
}
