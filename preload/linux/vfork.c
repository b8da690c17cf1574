/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vfork.c - vfork that leaves a mark in the thread, and dlopen that keeps its caller.
 *
 * A vfork child runs in our memory under another pid, so the shim must not take it for
 * this process.  The parent is suspended until the child is gone, so a counter in the
 * thread is enough: up before, down when the parent comes back.  The return address
 * waits in a register, since the child may overwrite the stack (as glibc's own vfork
 * does).
 */
#include "preload/gate.h"
#include "preload/linux/symbol.h"

int *aw_vfork_depth(void);

#if defined(__x86_64__)
__asm__(".text\n"
	".globl vfork\n"
	".type vfork, @function\n"
	"vfork:\n"
	"	pushq %rbx\n"
	"	call aw_vfork_depth\n"
	"	popq %rbx\n"
	"	movq %rax, %rsi\n"
	"	popq %rdi\n"
	"	incl (%rsi)\n"
	"	movl $58, %eax\n"
	"	syscall\n"
	"	pushq %rdi\n"
	"	testq %rax, %rax\n"
	"	jz 1f\n"
	"	decl (%rsi)\n"
	"	cmpq $-4095, %rax\n"
	"	jae 2f\n"
	"1:	ret\n"
	"2:	movq %rax, %rdi\n"
	"	jmp aw_answer\n"
	".size vfork, .-vfork\n"
	".globl __vfork\n"
	".set __vfork, vfork\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl vfork\n"
	".type vfork, %function\n"
	"vfork:\n"
	"	stp x29, x30, [sp, #-16]!\n"
	"	bl aw_vfork_depth\n"
	"	ldp x29, x30, [sp], #16\n"
	"	mov x9, x0\n"
	"	ldr w10, [x9]\n"
	"	add w10, w10, #1\n"
	"	str w10, [x9]\n"
	"	mov x0, #0x4111\n" /* CLONE_VM | CLONE_VFORK | SIGCHLD */
	"	mov x1, #0\n"
	"	mov x8, #220\n"
	"	svc 0\n"
	"	cbz x0, 1f\n"
	"	ldr w10, [x9]\n"
	"	sub w10, w10, #1\n"
	"	str w10, [x9]\n"
	"	cmn x0, #4095\n"
	"	b.hs aw_answer\n"
	"1:	ret\n"
	".size vfork, .-vfork\n"
	".globl __vfork\n"
	".set __vfork, vfork\n");
#endif

/*
 * dlopen finds a library by its caller's RUNPATH, and knows the caller by the return
 * address: note the name, then jump, so that the caller stays who it was.
 */
__attribute__((used)) void *aw_dlopen_target(const char *path)
{
	const long a[6] = {-100, (long)path, 0};
	struct aw_passage passage;
	bool named = false;

	for (const char *c = path; c && *c; c++)
		named |= *c == '/';
	if (named && aw_enter(AW_FN_dlopen, AW_SYS_openat, a, &passage))
		aw_leave(&passage, false);
	return aw_real(AW_FN_dlopen);
}

#if defined(__x86_64__)
__asm__(".text\n"
	".globl dlopen\n"
	".type dlopen, @function\n"
	"dlopen:\n"
	"	pushq %rdi\n"
	"	pushq %rsi\n"
	"	subq $8, %rsp\n"
	"	call aw_dlopen_target\n"
	"	addq $8, %rsp\n"
	"	popq %rsi\n"
	"	popq %rdi\n"
	"	jmp *%rax\n"
	".size dlopen, .-dlopen\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl dlopen\n"
	".type dlopen, %function\n"
	"dlopen:\n"
	"	stp x0, x1, [sp, #-32]!\n"
	"	str x30, [sp, #16]\n"
	"	bl aw_dlopen_target\n"
	"	mov x16, x0\n"
	"	ldr x30, [sp, #16]\n"
	"	ldp x0, x1, [sp], #32\n"
	"	br x16\n"
	".size dlopen, .-dlopen\n");
#endif
