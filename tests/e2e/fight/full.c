/* SPDX-License-Identifier: Apache-2.0 */
/* full.c - sixteen descriptors at most and all of them used */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static void try(const char *what, long result)
{
	printf("%s: %ld%s%s\n", what, result, result < 0 ? " " : "",
		result < 0 ? strerror(errno) : "");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	struct rlimit few = {16, 16};
	int fd, last = -1, status;
	pid_t child;

	if (argc > 1 && strcmp(argv[1], "there") != 0)
		return printf("%s after exec\n", argv[1]) < 0;
	setrlimit(RLIMIT_NOFILE, &few);
	while ((fd = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		last = fd;
	try("one more", fd);
	printf("last: %d\n", last);
	try("fopen", fopen("/etc/passwd", "r") ? 0 : -1);
	try("mkdir", mkdir("full.dir", 0700));
	try("rename", rename("full.dir", "full.moved"));
	try("rmdir", rmdir("full.moved"));
	try("chdir", chdir("/"));
	if (argc < 2)
		try("missing", open("/no/such/file", O_RDONLY));
	child = fork();
	if (child == 0) {
		try("in a child", open("/etc/passwd", O_RDONLY));
		execl("/proc/self/exe", argv[0], "alive", (char *)NULL);
		_exit(9);
	}
	waitpid(child, &status, 0);
	printf("child: %x\n", (unsigned)status);
	close(last);
	try("after one close", open("/etc/passwd", O_RDONLY));
	return 0;
}
