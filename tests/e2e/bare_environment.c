/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bare_environment.c PROGRAM ARGUMENT... - linked statically: runs a program with PATH
 * and nothing else in its environment, as programs without libc do all the time.
 */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char *env[] = {"PATH=/usr/bin:/bin", NULL};
	int status = 0;
	pid_t pid;

	if (argc < 2)
		return 2;
	pid = fork();
	if (pid == 0) {
		execve(argv[1], argv + 1, env);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	printf("status %x\n", status);
	return 0;
}
