/* SPDX-License-Identifier: Apache-2.0 */
/* fork_loop.c - fork N children, one after the other; each opens a file when asked to
 * ("open"), which under watch is what makes it say hello. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	long left = argc > 1 ? atol(argv[1]) : 0;
	int opens = argc > 2 && strcmp(argv[2], "open") == 0;

	for (; left > 0; left--) {
		pid_t child = fork();

		if (child == 0)
			_exit(opens && open("/etc/passwd", O_RDONLY | O_CLOEXEC) < 0);
		if (child < 0 || waitpid(child, NULL, 0) != child)
			return 1;
	}
	return 0;
}
