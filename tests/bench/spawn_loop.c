/* SPDX-License-Identifier: Apache-2.0 */
/* spawn_loop.c - fork and exec a program N times, one after the other. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long left = argc > 2 ? atol(argv[1]) : 0;

	for (; left > 0; left--) {
		pid_t child = fork();

		if (child == 0) {
			execv(argv[2], argv + 2);
			_exit(127);
		}
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return 1;
	}
	return 0;
}
