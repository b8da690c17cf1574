/* SPDX-License-Identifier: Apache-2.0 */
/* musl.c - one call of each kind, for another C library; prints what came back. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static void say(const char *what, int good)
{
	printf("%s %s\n", what, good ? "ok" : strerror(errno));
}

static void *in_a_thread(void *path)
{
	int fd = open(path, O_RDONLY);

	say("open in a thread", fd >= 0);
	close(fd);
	return NULL;
}

int main(int argc, char **argv)
{
	const char *dir = argc > 1 ? argv[1] : "/tmp";
	struct sockaddr_un address = {
		.sun_family = AF_UNIX, .sun_path = "/no/such/socket"};
	char *const program[] = {"true", NULL};
	char path[4096];
	pthread_t thread;
	pid_t pid;
	FILE *file;
	DIR *folder;
	int fd, status = -1;

	if (chdir(dir))
		return 1;
	fd = open("made", O_RDWR | O_CREAT, 0600);
	say("create", fd >= 0);
	close(fd);
	file = fopen("made", "r");
	say("fopen", file != NULL);
	if (file)
		fclose(file);
	folder = opendir(dir);
	say("opendir", folder != NULL);
	if (folder)
		closedir(folder);
	say("mkdir", mkdir("folder", 0700) == 0);
	say("rename", rename("made", "folder/moved") == 0);
	say("symlink", symlink("folder/moved", "link") == 0);
	fd = open("link", O_RDONLY);
	say("open by a link", fd >= 0);
	close(fd);
	snprintf(path, sizeof(path), "%s/link", dir);
	pthread_create(&thread, NULL, in_a_thread, path);
	pthread_join(thread, NULL);
	say("unlink", unlink("link") == 0 && unlink("folder/moved") == 0);
	say("rmdir", rmdir("folder") == 0);
	say("unlink of nothing", unlink("nothing") == 0);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	say("connect", connect(fd, (void *)&address, sizeof(address)) == 0);
	close(fd);
	say("spawn", posix_spawnp(&pid, "true", NULL, NULL, program, environ) == 0 &&
			     waitpid(pid, &status, 0) == pid && status == 0);
	say("system", system("exit 3") == 3 << 8);
	pid = fork();
	if (!pid)
		_exit(open("/etc/passwd", O_RDONLY) < 0);
	say("open in a child", waitpid(pid, &status, 0) == pid && status == 0);
	return 0;
}
