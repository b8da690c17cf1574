/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup_loop.c - "serve ADDRESS": answer every question for a name there with one
 * address, until killed.  N [fresh]: ask the first server of /etc/resolv.conf for one
 * name, or each time for another, N times one after the other; prints the microseconds
 * that one took.
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 12, ROOM = 512 };

static struct sockaddr_in server_at(const char *text)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(53)};

	if (inet_pton(AF_INET, text, &at.sin_addr) != 1)
		exit(2);
	return at;
}

/* The question as it is, an answer of one address, good for five minutes. */
static int serve(const char *address)
{
	static const unsigned char answer[] = {
		0xc0, HEADER, 0, 1, 0, 1, 0, 0, 1, 44, 0, 4, 192, 0, 2, 1};
	struct sockaddr_in at = server_at(address), from;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	unsigned char m[ROOM + sizeof(answer)];

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0)
		return 1;
	for (;;) {
		socklen_t len = sizeof(from);
		ssize_t n = recvfrom(fd, m, ROOM, 0, (struct sockaddr *)&from, &len);
		size_t end = HEADER;

		if (n < HEADER + 5)
			continue;
		while (end < (size_t)n && m[end])
			end += m[end] + 1u;
		end += 5;
		if (end > (size_t)n)
			continue;
		m[2] |= 0x80;
		m[3] = 0x80;
		m[7] = 1;
		m[11] = 0;
		memcpy(m + end, answer, sizeof(answer));
		sendto(fd, m, end + sizeof(answer), 0, (struct sockaddr *)&from, len);
	}
}

static int to_server(void)
{
	FILE *file = fopen("/etc/resolv.conf", "re");
	char line[256], text[64];
	struct sockaddr_in at;
	int fd = socket(AF_INET, SOCK_DGRAM, 0);

	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "nameserver %63s", text) == 1)
			break;
	if (file)
		fclose(file);
	at = server_at(text);
	return connect(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ? -1 : fd;
}

static bool look_up(int fd, unsigned id, const char *label)
{
	unsigned char m[ROOM] = {
		(unsigned char)(id >> 8), (unsigned char)id, 1, 0, 0, 1};
	size_t len = strlen(label);
	ssize_t n;

	m[HEADER] = (unsigned char)len;
	memcpy(m + HEADER + 1, label, len);
	memcpy(m + HEADER + 1 + len, "\7example\0\0\1\0\1", 13);
	if (send(fd, m, HEADER + len + 14, 0) < 0)
		return false;
	do
		n = recv(fd, m, sizeof(m), 0);
	while (n >= HEADER && (m[0] != (id >> 8 & 0xff) || m[1] != (id & 0xff)));
	return n > HEADER && (m[3] & 0xf) == 0 && m[7] == 1;
}

int main(int argc, char **argv)
{
	struct timespec begin, end;
	char label[64] = "same";
	unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 0;
	int fd;

	if (argc > 2 && strcmp(argv[1], "serve") == 0)
		return serve(argv[2]);
	fd = to_server();
	if (fd < 0 || !look_up(fd, 0, label))
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (unsigned i = 1; i <= count; i++) {
		if (argc > 2)
			snprintf(label, sizeof(label), "n%u-%d", i, (int)getpid());
		if (!look_up(fd, i, label))
			return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	printf("%.3f\n", ((double)(end.tv_sec - begin.tv_sec) * 1e6 +
				 (double)(end.tv_nsec - begin.tv_nsec) / 1e3) /
				 count);
	return 0;
}
