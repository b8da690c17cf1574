/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_signal.c - sending signals: the kernel layer watches it in enforce, and a call
 * that waits to be taken may be interrupted, which kill(2) never is.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "preload/gate.h"
#include "preload/linux/arch.h"
#include "preload/linux/symbol.h"

AW_EXPORT int kill(pid_t pid, int number)
{
	const struct aw_before before = aw_before();
	int ret;

	do
		ret = (int)aw_answer(aw_raw(__NR_kill, pid, number));
	while (ret == -1 && aw_interrupted(before));
	aw_made_again(ret == -1, before);
	return ret;
}

AW_EXPORT int raise(int number)
{
	int (*real)(int);
	const struct aw_before before = aw_before();
	int ret;

	*(void **)&real = aw_real(AW_FN_raise);
	do
		ret = real(number);
	while (ret != 0 && (ret == EINTR || aw_interrupted(before)));
	aw_made_again(ret != 0, before);
	return ret;
}

AW_EXPORT int sigqueue(pid_t pid, int number, const union sigval value)
{
	int (*real)(pid_t, int, const union sigval);
	const struct aw_before before = aw_before();
	int ret;

	*(void **)&real = aw_real(AW_FN_sigqueue);
	do
		ret = real(pid, number, value);
	while (ret == -1 && aw_interrupted(before));
	aw_made_again(ret == -1, before);
	return ret;
}

/* The error is what it returns. */
AW_EXPORT int pthread_kill(pthread_t thread, int number)
{
	int (*real)(pthread_t, int);
	int ret;

	*(void **)&real = aw_real(AW_FN_pthread_kill);
	do
		ret = real(thread, number);
	while (ret == EINTR);
	return ret;
}
