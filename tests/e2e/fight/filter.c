/* SPDX-License-Identifier: Apache-2.0 */
/* filter.c - a sandbox of the program's own: openat passes, openat2 and all else kill */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ALLOW(name)                                                                    \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##name, 0, 1),                         \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		ALLOW(openat),
		ALLOW(read),
		ALLOW(write),
		ALLOW(close),
		ALLOW(exit_group),
		ALLOW(exit),
		ALLOW(rt_sigreturn),
		ALLOW(brk),
		ALLOW(fstat),
		ALLOW(newfstatat),
		ALLOW(lseek),
#ifdef SYS_mmap
		ALLOW(mmap),
		ALLOW(munmap),
#endif
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	};
	struct sock_fprog program = {sizeof code / sizeof *code, code};
	char word[64] = "";
	FILE *file;
	int fd;

	fd = open("/etc/hostname", O_RDONLY);
	printf("before: %d\n", fd);
	close(fd);
	fflush(stdout);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (argc > 1 && !strcmp(argv[1], "seccomp")
			? syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program)
			: prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		printf("no filter: %s\n", strerror(errno));
	fd = open("/etc/hostname", O_RDONLY);
	printf("after: %d\n", fd);
	close(fd);
	printf("missing: %d\n", open("/no/such/file", O_RDONLY));
	printf("%s\n", strerror(errno));
	file = fopen("/etc/passwd", "r");
	printf("fopen: %s\n", file && fgets(word, sizeof word, file) ? "ok" : "failed");
	fflush(stdout);
	if (argc > 2)
		mkdirat(AT_FDCWD, "never", 0700);
	return 0;
}
