/* SPDX-License-Identifier: Apache-2.0 */
/*
 * low_memory.c WAY - takes, bars or gives back memory low in the address space, where
 * the gate may be, and opens files before and after. Prints what a run without
 * agentwatch prints.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define LOW ((char *)0x10000)
#define SIZE (0x100000000ul - 0x10000)
#define PLAIN (MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE)

static void say(const char *what, long result)
{
	printf("%s: %s\n", what, result < 0 ? strerror(errno) : "done");
}

static void *take(int flags)
{
	return mmap(LOW, SIZE, PROT_NONE, PLAIN | flags, -1, 0);
}

/* Before any library is initialised, as allocators that reserve memory do. */
static void early(int argc, char **argv, char **env)
{
	(void)env;
	if (argc > 1 && strcmp(argv[1], "early") == 0)
		take(MAP_FIXED);
}

__attribute__((section(".preinit_array"), used)) static void (*const first)(
	int, char **, char **) = early;

static void look(const char *when)
{
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	struct stat st;
	FILE *file = fopen("/etc/group", "re");

	say(when, fd);
	say("fopen", file ? 0 : -1);
	say("stat", stat("/etc/hosts", &st));
	if (file)
		fclose(file);
	close(fd);
}

static void *open_on(void *stop)
{
	long *failed = calloc(1, sizeof(*failed));

	while (!__atomic_load_n((int *)stop, __ATOMIC_ACQUIRE)) {
		int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

		*failed += fd < 0;
		close(fd);
	}
	return failed;
}

static void with_threads(void)
{
	pthread_t threads[4];
	int stop = 0;
	void *failed;

	for (int i = 0; i < 4; i++)
		pthread_create(&threads[i], NULL, open_on, &stop);
	usleep(20000);
	say("mmap", take(MAP_FIXED) == LOW ? 0 : -1);
	usleep(20000);
	__atomic_store_n(&stop, 1, __ATOMIC_RELEASE);
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &failed);
		printf("failed opens: %ld\n", *(long *)failed);
		free(failed);
	}
}

static void in_child(void)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		take(MAP_FIXED);
		look("open in the child");
		fflush(stdout);
		_exit(system("exec cat /etc/passwd >/dev/null"));
	}
	waitpid(pid, &status, 0);
	printf("child: %x\n", status);
}

static void change(const char *way)
{
	char *elsewhere = mmap(NULL, 1 << 21, PROT_READ, PLAIN, -1, 0);

	if (strcmp(way, "fixed") == 0)
		say("mmap", take(MAP_FIXED) == LOW ? 0 : -1);
	else if (strcmp(way, "hint") == 0)
		say("mmap", take(0) == LOW ? 0 : -1);
	else if (strcmp(way, "free") == 0)
		say("mmap", take(MAP_FIXED_NOREPLACE) == LOW ? 0 : -1);
	else if (strcmp(way, "unmap") == 0)
		say("munmap", munmap(LOW, SIZE));
	else if (strcmp(way, "bar") == 0)
		say("mprotect", mprotect(LOW + 0x1c0000, 4096, PROT_NONE));
	else if (strcmp(way, "move") == 0)
		say("mremap", mremap(elsewhere, 1 << 21, 1 << 21,
				      MREMAP_MAYMOVE | MREMAP_FIXED, LOW) == LOW
				      ? 0
				      : -1);
	else if (strcmp(way, "number") == 0)
		say("mmap", syscall(SYS_mmap, LOW, SIZE, PROT_NONE, PLAIN | MAP_FIXED,
				    -1, 0) == (long)LOW
				    ? 0
				    : -1);
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";

	look("open before");
	if (strcmp(way, "threads") == 0)
		with_threads();
	else if (strcmp(way, "child") == 0)
		in_child();
	else
		change(way);
	look("open after");
	printf("cat: %x\n", system("exec cat /etc/passwd >/dev/null"));
	look("open behind a child");
	return 0;
}
