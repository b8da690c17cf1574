/* SPDX-License-Identifier: Apache-2.0 */
/*
 * basic_i386.c - the basic attempts in a 32-bit program without a C library
 *
 *   basic open PATH | write PATH | exec PATH | connect ADDRESS PORT
 */
static int call(int nr, int a, int b, int c)
{
	int rc;

	__asm__ volatile("int $0x80"
			 : "=a"(rc)
			 : "a"(nr), "b"(a), "c"(b), "d"(c)
			 : "memory");
	return rc;
}

enum {
	READ = 3,
	WRITE = 4,
	OPEN = 5,
	EXECVE = 11,
	EXIT = 1,
	SOCKETCALL = 102,
	SOCKET = 359
};

static unsigned number(const char *text, const char **end)
{
	unsigned value = 0;

	while (*text >= '0' && *text <= '9')
		value = value * 10 + (*text++ - '0');
	*end = text + 1;
	return value;
}

static int connect_to(const char *address, const char *port)
{
	unsigned char inet[16] = {2, 0};
	int arguments[3], i;
	unsigned value;

	for (i = 4; i < 8; i++)
		inet[i] = number(address, &address);
	value = number(port, &port);
	inet[2] = value >> 8;
	inet[3] = value;
	arguments[0] = call(SOCKET, 2, 1, 0);
	if (arguments[0] < 0)
		return arguments[0];
	arguments[1] = (int)inet;
	arguments[2] = sizeof inet;
	return call(SOCKETCALL, 3, (int)arguments, 0);
}

static int work(char **argv)
{
	char text[200], *args[2] = {argv[2], 0};
	int fd, got;

	switch (argv[1][0]) {
	case 'o':
		fd = call(OPEN, (int)argv[2], 0, 0);
		got = fd < 0 ? fd : call(READ, fd, (int)text, sizeof text);
		return got < 0 ? got : call(WRITE, 1, (int)text, got);
	case 'w':
		fd = call(OPEN, (int)argv[2], 01001, 0);
		return fd < 0 ? fd : call(WRITE, fd, (int)"changed\n", 8);
	case 'e':
		return call(EXECVE, (int)argv[2], (int)args, 0);
	default:
		return connect_to(argv[2], argv[3]);
	}
}

__attribute__((used)) void begin(int *stack)
{
	int rc = work((char **)(stack + 1));

	call(EXIT, rc < 0 ? -rc : 0, 0, 0);
}

__asm__(".globl _start\n_start:\n\tmov %esp, %eax\n\tand $-16, %esp\n\tsub $12, "
	"%esp\n\tpush %eax\n\tcall begin\n");
