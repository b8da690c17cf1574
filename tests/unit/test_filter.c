/* SPDX-License-Identifier: Apache-2.0 */
/* test_filter.c - what the kernel hands over, number by number. */
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "policy/calls.h"
#include "policy/shared/page.h"
#include "supervisor/linux/calls/request.h"
#include "supervisor/linux/enter/enter.h"
#include "supervisor/linux/seccomp/filter.h"
#include "supervisor/linux/sockets/socket_option.h"
#include "tests/unit/bpf.h"
#include "tests/unit/tap.h"

#if defined(__x86_64__)
#define NATIVE AUDIT_ARCH_X86_64
#else
#define NATIVE AUDIT_ARCH_AARCH64
#endif

enum { NUMBERS = 1024, ELSEWHERE = 0x7f001234 };

static struct aw_filter filter;

static bool notified(const struct seccomp_data *data)
{
	return bpf_run(filter.code, filter.count, data) == SECCOMP_RET_USER_NOTIF;
}

static bool allowed(const struct seccomp_data *data)
{
	return bpf_run(filter.code, filter.count, data) == SECCOMP_RET_ALLOW;
}

static struct seccomp_data call(long nr, uint64_t ip)
{
	return (struct seccomp_data){
		.nr = (int)nr, .arch = NATIVE, .instruction_pointer = ip};
}

/* These change the meaning of later calls or need their order: never from the gate. */
static bool may_be_gated(enum aw_effect effect)
{
	switch (effect) {
	case AW_FX_OPEN:
	case AW_FX_CREAT:
	case AW_FX_READ:
	case AW_FX_WRITE:
	case AW_FX_CREATE:
	case AW_FX_DELETE:
	case AW_FX_LINK:
	case AW_FX_SYMLINK:
	case AW_FX_SENDMSG:
	case AW_FX_SENDMMSG:
	case AW_FX_META:
		return true;
	default:
		return false;
	}
}

/* The number by itself, all arguments zero. */
static bool is_watched(int row, bool metadata)
{
	if (row < 0 || (aw_syscalls[row].effect == AW_FX_META && !metadata) ||
		aw_syscalls[row].effect >= AW_FX_ENFORCE_ONLY)
		return false;
	return aw_syscalls[row].effect != AW_FX_SENDTO &&
	       aw_syscalls[row].effect != AW_FX_PRCTL &&
	       aw_syscalls[row].effect != AW_FX_CLONE;
}

static void every_number(bool gate, bool metadata)
{
	const char *how = gate ? "with a gate" : "without a gate";
	const char *what = metadata ? "metadata watched" : "metadata not watched";
	unsigned wrong = 0, wrong_gated = 0, wrong_near = 0;

	aw_filter_build(&(struct aw_filter_params){.gate = gate, .metadata = metadata},
		&filter);
	for (long nr = 0; nr < NUMBERS; nr++) {
		int row = aw_syscall_by_number(nr);
		bool watch = is_watched(row, metadata);
		bool pass = gate && watch &&
			    may_be_gated((enum aw_effect)aw_syscalls[row].effect);
		struct seccomp_data data = call(nr, ELSEWHERE);

		wrong += watch ? !notified(&data) : !allowed(&data);
		data.instruction_pointer = AW_GATE_RETURN;
		wrong_gated += watch && !pass ? !notified(&data) : !allowed(&data);
		data.instruction_pointer = AW_GATE_RETURN - 1;
		wrong_near += watch ? !notified(&data) : !allowed(&data);
		data.instruction_pointer = AW_GATE_RETURN | 1ull << 32;
		wrong_near += watch ? !notified(&data) : !allowed(&data);
	}
	ok(wrong == 0, "%s, %s: a watched number is notified, others pass", how, what);
	ok(wrong_gated == 0, "%s, %s: so from the gate, but for what may go through it",
		how, what);
	ok(wrong_near == 0, "%s, %s: an address near the gate is not the gate", how,
		what);
}

/* Enforce: what no table here knows is not there, on any machine; audit lets it go on. */
static void newer_calls_are_not_there(void)
{
#if defined(__x86_64__)
	static const uint32_t machines[] = {NATIVE, AUDIT_ARCH_I386};
#else
	static const uint32_t machines[] = {NATIVE};
#endif
	static const int newer[] = {AW_NEWEST_CALL + 1, AW_NEWEST_CALL + 40, 1023};
	struct seccomp_data data = {0};
	unsigned wrong = 0, last = 0;

	for (size_t m = 0; m < 2 * sizeof(machines) / sizeof(machines[0]); m++) {
		bool holds = m & 1;

		aw_filter_build(
			&(struct aw_filter_params){.holds = holds, .gate = !holds},
			&filter);
		data.arch = machines[m / 2];
		for (size_t i = 0; i < sizeof(newer) / sizeof(newer[0]); i++) {
			data.nr = newer[i];
			wrong += bpf_run(filter.code, filter.count, &data) !=
				 (holds ? SECCOMP_RET_ERRNO | ENOSYS
					: SECCOMP_RET_ALLOW);
		}
		data.nr = AW_NEWEST_CALL;
		last += bpf_run(filter.code, filter.count, &data) ==
			(SECCOMP_RET_ERRNO | ENOSYS);
	}
	ok(wrong == 0, "calls newer than the table: ENOSYS in enforce alone");
	ok(last == 0, "the newest that is known is not among them");
}

/* Enforce: nothing but reading opens may ever come from the gate. */
static void enforce_watches_more(bool metadata)
{
	const struct aw_filter_params params = {
		.gate_reads = true, .holds = true, .kin = true, .metadata = metadata};
	unsigned wrong = 0, gated = 0;
	struct seccomp_data data;

	aw_filter_build(&params, &filter);
	for (long nr = 0; nr < NUMBERS; nr++) {
		int row = aw_syscall_by_number(nr);
		enum aw_effect effect =
			row < 0 ? AW_FX_META : (enum aw_effect)aw_syscalls[row].effect;
		bool some = (effect == AW_FX_META && (!metadata || row < 0)) ||
			    effect == AW_FX_SENDTO || effect == AW_FX_PRCTL ||
			    effect == AW_FX_CLONE || effect == AW_FX_IOCTL ||
			    effect == AW_FX_CLONE3 || effect == AW_FX_OPTION ||
			    effect == AW_FX_OWNER ||
			    (effect == AW_FX_PROCESS && aw_syscalls[row].dir2 == 0);

		data = call(nr, ELSEWHERE);
		wrong += !some && !notified(&data);
		data.instruction_pointer = AW_GATE_RETURN;
		gated += !some && allowed(&data);
	}
	ok(wrong == 0, "enforce: every row is notified, those of enforce alone too");
	ok(gated == 1, "enforce: one call may come from the gate");
	data = call(aw_syscalls[AW_SYS_openat].nr, AW_GATE_RETURN);
	data.args[2] = O_RDONLY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW;
	ok(allowed(&data), "and that is openat for reading");
	for (size_t i = 0; i < 6; i++) {
		static const uint64_t not_reading[] = {O_WRONLY, O_RDWR, O_CREAT,
			O_TRUNC, O_TMPFILE | O_DIRECTORY, O_PATH};

		data.args[2] = not_reading[i];
		ok(notified(&data), "openat with flags 0%lo is not for reading",
			(unsigned long)not_reading[i]);
	}
	data.args[2] = O_RDONLY;
	data.instruction_pointer = ELSEWHERE;
	ok(notified(&data), "openat for reading from elsewhere is notified");
}

static void typing_is_noticed(void)
{
	const struct aw_filter_params params = {.holds = true};
	struct seccomp_data data = call(aw_syscalls[AW_SYS_ioctl].nr, ELSEWHERE);

	aw_filter_build(&params, &filter);
	data.args[1] = TCGETS;
	ok(allowed(&data), "ioctl for something else passes");
	data.args[1] = TIOCSTI | 0x700000000;
	ok(notified(&data),
		"ioctl(TIOCSTI) is notified, whatever is in the upper half");
	data.args[1] = TIOCLINUX;
	ok(notified(&data), "ioctl(TIOCLINUX) is notified");
	for (size_t i = 0; i < AW_WATCHED_IOCTLS; i++) {
		data.args[1] = aw_watched_ioctls[i];
		ok(notified(&data), "so is ioctl 0x%x", aw_watched_ioctls[i]);
	}
	data = call(aw_syscalls[AW_SYS_socket].nr, ELSEWHERE);
	data.args[0] = AF_INET6;
	data.args[1] = SOCK_STREAM | SOCK_CLOEXEC;
	ok(allowed(&data), "socket of a family that rules can name passes");
	data.args[1] = SOCK_RAW;
	ok(notified(&data), "a raw one does not");
	data.args[0] = AF_PACKET;
	data.args[1] = SOCK_DGRAM;
	ok(notified(&data), "nor one of another family");
	data = call(aw_syscalls[AW_SYS_kill].nr, ELSEWHERE);
	ok(allowed(&data), "kill passes where the sandbox holds it");
	data = call(aw_syscalls[AW_SYS_clone3].nr, ELSEWHERE);
	ok(bpf_run(filter.code, filter.count, &data) == (SECCOMP_RET_ERRNO | ENOSYS),
		"clone3 is not there, since its flags are in memory");
}

/* Nothing that is asked about may be let go on, nothing else is asked about. */
static void sockets_are_told_apart(void)
{
	static const int families[] = {
		AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, AF_PACKET, 40};
	struct seccomp_data data = call(aw_syscalls[AW_SYS_socket].nr, ELSEWHERE);
	unsigned wrong = 0;

	aw_filter_build(&(struct aw_filter_params){.holds = true}, &filter);
	for (size_t f = 0; f < sizeof(families) / sizeof(families[0]); f++)
		for (int type = 0; type < 16; type++)
			for (int protocol = 0; protocol < 300; protocol++) {
				bool one = type == SOCK_STREAM || type == SOCK_DGRAM;
				bool common =
					one && aw_socket_option_is_common(
						       families[f], type, protocol);

				data.args[0] = (uint64_t)families[f];
				data.args[1] = (uint64_t)type | SOCK_CLOEXEC;
				data.args[2] = (uint64_t)protocol;
				wrong += common ? !allowed(&data) : !notified(&data);
			}
	ok(!wrong, "sockets that rules can judge are made without being asked about");
	data.nr = aw_syscalls[AW_SYS_socketpair].nr;
	data.args[0] = AF_UNIX;
	data.args[1] = SOCK_STREAM;
	ok(allowed(&data), "so are pairs of them");
	data.args[0] = AF_TIPC;
	ok(notified(&data), "and no others");
	ok(!aw_socket_option_is_common(AF_INET, SOCK_STREAM, 132) &&
			!aw_socket_option_is_common(AF_INET, SOCK_DGRAM, 115) &&
			!aw_socket_option_is_common(AF_INET, 10, 0) &&
			!aw_socket_option_is_common(AF_INET6, SOCK_RAW, 0) &&
			aw_socket_option_is_common(AF_INET6, SOCK_STREAM, 262) &&
			aw_socket_option_is_common(AF_INET, SOCK_DGRAM, IPPROTO_ICMP),
		"SCTP, L2TP, packets and raw sockets are others");
}

static void options_are_told_apart(void)
{
	struct seccomp_data data = call(aw_syscalls[AW_SYS_setsockopt].nr, ELSEWHERE);
	unsigned wrong = 0, found = 0;

	aw_filter_build(&(struct aw_filter_params){.holds = true}, &filter);
	for (int level = 0; level < 300; level++)
		for (int name = 0; name < 256; name++) {
			bool watch = aw_socket_option_find(level, name) != NULL;

			data.args[1] = (uint64_t)level | 0x500000000;
			data.args[2] = (uint64_t)name | 0x700000000;
			found += watch;
			wrong += watch ? !notified(&data) : !allowed(&data);
		}
	ok(!wrong, "options that lead round the rules are asked about, and no others");
	ok(found == aw_socket_option_count, "every one of the table has a place in it");
	aw_filter_build(&(struct aw_filter_params){.gate = true}, &filter);
	data.args[1] = IPPROTO_IP;
	data.args[2] = IP_OPTIONS;
	ok(allowed(&data), "in mode audit none is");
	ok(aw_socket_option_of_message(IPPROTO_IP, IP_RETOPTS) &&
			aw_socket_option_of_message(IPPROTO_IPV6, IPV6_RTHDR) &&
			!aw_socket_option_of_message(IPPROTO_IP, IP_TTL) &&
			!aw_socket_option_of_message(SOL_SOCKET, SCM_RIGHTS),
		"as control messages routes are refused, and what goes along is not");
}

/* Who a descriptor's signals are sent to. */
static void owners_are_noticed(void)
{
	struct seccomp_data data = call(aw_syscalls[AW_SYS_fcntl].nr, ELSEWHERE);
	unsigned wrong = 0;

	aw_filter_build(
		&(struct aw_filter_params){.holds = true, .kin = true}, &filter);
	for (int command = 0; command < 2048; command++) {
		bool watch = command == F_SETOWN || command == F_SETSIG ||
			     command == F_SETOWN_EX || command == 1024; /* a lease */

		data.args[1] = (uint64_t)command | 0x500000000;
		wrong += watch ? !notified(&data) : !allowed(&data);
	}
	ok(!wrong, "fcntl that says who gets a signal, or that makes others wait, is "
		   "notified, and no other");
	data.args[1] = F_SETFL;
	data.args[2] = O_ASYNC | O_NONBLOCK;
	ok(notified(&data), "flags are, where they ask for signals");
	data.args[1] = F_SETSIG;
	aw_filter_build(&(struct aw_filter_params){.holds = true}, &filter);
	ok(notified(&data),
		"also where a sandbox has pids of its own: somebody outside "
		"may be the owner already");
}

static void a_send_needs_an_address(void)
{
	struct seccomp_data data = call(aw_syscalls[AW_SYS_sendto].nr, AW_GATE_RETURN);

	aw_filter_build(&(struct aw_filter_params){.gate = true}, &filter);
	ok(allowed(&data), "sendto without an address passes");
	data.args[4] = 0x1000;
	ok(notified(&data), "sendto to an address is notified, from the gate too");
	data.args[4] = 0x100000000;
	ok(notified(&data), "also when the lower half of the pointer is zero");
}

static void filters_are_noticed(void)
{
	struct seccomp_data data = call(aw_syscalls[AW_SYS_prctl].nr, ELSEWHERE);

	data.args[0] = PR_SET_NAME;
	ok(allowed(&data), "prctl for something else passes");
	data.args[0] = PR_SET_SECCOMP;
	ok(notified(&data), "prctl(PR_SET_SECCOMP) is notified");
	data = call(aw_syscalls[AW_SYS_seccomp].nr, AW_GATE_RETURN);
	ok(notified(&data), "seccomp is notified, from the gate too");
}

#if defined(__x86_64__)
static void clone_counts_with_new_mounts(void)
{
	struct seccomp_data data = call(aw_syscalls[AW_SYS_clone].nr, ELSEWHERE);

	aw_filter_build(&(struct aw_filter_params){.gate = true}, &filter);
	data.args[0] = 0x01200011; /* what fork makes of it */
	ok(allowed(&data), "clone as fork does it passes");
	data.args[0] |= 0x00020000; /* CLONE_NEWNS */
	ok(notified(&data), "clone(CLONE_NEWNS) is notified");
}

static void foreign_calls_are_never_gated(void)
{
	struct seccomp_data data = {
		.arch = AUDIT_ARCH_I386, .instruction_pointer = AW_GATE_RETURN};
	unsigned wrong = 0;

	for (data.nr = 0; data.nr < NUMBERS; data.nr++) {
		int row = aw_syscall_by_i386_number(data.nr);
		bool watch = row >= 0 && aw_syscalls[row].effect != AW_FX_META &&
			     aw_syscalls[row].effect != AW_FX_PRCTL &&
			     aw_syscalls[row].effect != AW_FX_CLONE &&
			     aw_syscalls[row].effect < AW_FX_ENFORCE_ONLY;

		watch |= data.nr == 102; /* socketcall */
		wrong += watch ? !notified(&data) : !allowed(&data);
	}
	ok(wrong == 0, "i386: the same rows under their numbers, gate or not");

	wrong = 0;
	for (long nr = 0; nr < NUMBERS; nr++) {
		data = call(nr | 0x40000000, AW_GATE_RETURN);
		wrong += !notified(&data);
	}
	ok(wrong == 0, "x32: every call is notified");
}
#else
static void foreign_calls_are_never_gated(void)
{
	struct seccomp_data data = {
		.arch = AUDIT_ARCH_ARM, .instruction_pointer = AW_GATE_RETURN};
	unsigned wrong = 0;

	for (data.nr = 0; data.nr < NUMBERS; data.nr++)
		wrong += !notified(&data);
	ok(wrong == 0, "32-bit ARM: every call is notified");
}
#endif

int main(void)
{
	ok(AW_FILTER_MAX <= AW_ENTER_FILTER_MAX, "agentwatch-enter takes any filter");
	for (int i = 0; i < 4; i++)
		every_number(i & 1, i & 2);
	aw_filter_build(&(struct aw_filter_params){.gate_reads = true,
				.metadata = true,
				.holds = true,
				.kin = true},
		&filter);
	ok(filter.count < AW_FILTER_MAX, "the longest filter fits (%u of %d)",
		filter.count, AW_FILTER_MAX);
	enforce_watches_more(false);
	enforce_watches_more(true);
	typing_is_noticed();
	sockets_are_told_apart();
	options_are_told_apart();
	owners_are_noticed();
	a_send_needs_an_address();
	filters_are_noticed();
#if defined(__x86_64__)
	clone_counts_with_new_mounts();
#endif
	foreign_calls_are_never_gated();
	newer_calls_are_not_there();
	return done();
}
