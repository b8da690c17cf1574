/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arch.h - system calls made by the shim itself, and through the gate page.
 *
 * aw_raw(): from our own text; watched calls made so are notified to the supervisor.
 * aw_gated(): from the gate page at its fixed address; the filter lets these pass.
 * Both return what the kernel returns: a value, or a negative errno.
 */
#ifndef AW_PRELOAD_LINUX_ARCH_H
#define AW_PRELOAD_LINUX_ARCH_H

#include "policy/numbers.h"
#include "policy/shared/page.h"

#if defined(__x86_64__)

static inline long aw_raw6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

/* A call instruction would use the red zone's neighbour; step over it first. */
static inline long aw_gated6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret, gate = AW_GATE_ADDRESS;

	__asm__ volatile("lea -128(%%rsp), %%rsp\n\t"
			 "call *%[gate]\n\t"
			 "lea 128(%%rsp), %%rsp"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			 "r"(r9), [gate] "b"(gate)
			 : "rcx", "r11", "memory");
	return ret;
}

#elif defined(__aarch64__)

static inline long aw_raw6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc 0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
}

static inline long aw_gated6(long nr, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;
	register long gate __asm__("x9") = AW_GATE_ADDRESS;

	__asm__ volatile(
		"blr %[gate]"
		: "+r"(x0)
		: "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5), [gate] "r"(gate)
		: "x30", "memory");
	return x0;
}

#else
#error "the shim knows x86_64 and aarch64"
#endif

#define AW_SIX(nr, a, b, c, d, e, f, ...)                                              \
	(long)(nr), (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), (long)(f)
#define aw_raw(...) aw_raw_list(AW_SIX(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0))
#define aw_gated(...) aw_gated_list(AW_SIX(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0))
#define aw_raw_list(...) aw_raw6(__VA_ARGS__)
#define aw_gated_list(...) aw_gated6(__VA_ARGS__)

#endif
