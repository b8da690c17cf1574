/* SPDX-License-Identifier: Apache-2.0 */
/* refused.c - io_uring_setup and a notification listener: print what came of each */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct sock_filter pass = BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	struct sock_fprog program = {1, &pass};
	struct io_uring_params params;
	long got;

	memset(&params, 0, sizeof params);
	if (argc > 1 && !strcmp(argv[1], "listener")) {
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		got = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
			SECCOMP_FILTER_FLAG_NEW_LISTENER, &program);
	} else {
		got = syscall(SYS_io_uring_setup, 8, &params);
	}
	printf("%s\n", got < 0 ? strerrorname_np(errno) : "ok");
	return 0;
}
