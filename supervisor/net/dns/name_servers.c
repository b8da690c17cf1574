/* SPDX-License-Identifier: Apache-2.0 */
/* name_servers.c - a small reader of /etc/resolv.conf. */
#include "supervisor/net/dns/name_servers.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "supervisor/util/cleanup.h"

enum { LINES_MAX = 1000, DOMAINS_MAX = 32 };

struct aw_name_servers {
	pthread_mutex_t lock;
	char *path; /* owned */
	struct timespec read;
	ino_t inode;
	struct aw_address list[AW_NAME_SERVERS];
	size_t count;
	char domains[DOMAINS_MAX][AW_DNS_NAME];
	size_t domain_count;
	char skipped[64];
};

struct aw_name_servers *aw_name_servers_new(const char *path)
{
	struct aw_name_servers *servers = calloc(1, sizeof(*servers));

	if (!servers || !(servers->path = strdup(path))) {
		free(servers);
		return NULL;
	}
	pthread_mutex_init(&servers->lock, NULL);
	return servers;
}

void aw_name_servers_free(struct aw_name_servers *servers)
{
	if (!servers)
		return;
	pthread_mutex_destroy(&servers->lock);
	free(servers->path);
	free(servers);
}

static bool is_same(const struct aw_address *a, const struct aw_address *b)
{
	return a->family == b->family &&
	       memcmp(a->bytes, b->bytes, a->family == AF_INET ? 4 : 16) == 0;
}

static void add_server(struct aw_name_servers *servers, const char *text)
{
	struct aw_address address = {.family = AF_INET, .port = AW_NAME_PORT};

	if (strchr(text, '%')) {
		snprintf(servers->skipped, sizeof(servers->skipped), "%.60s", text);
		return;
	}
	if (inet_pton(AF_INET, text, address.bytes) != 1) {
		address.family = AF_INET6;
		if (inet_pton(AF_INET6, text, address.bytes) != 1)
			return;
	}
	for (size_t i = 0; i < servers->count; i++)
		if (is_same(&servers->list[i], &address))
			return;
	if (servers->count < AW_NAME_SERVERS)
		servers->list[servers->count++] = address;
}

static void add_domains(struct aw_name_servers *servers, char *text)
{
	char *rest;

	servers->domain_count = 0; /* the last line counts */
	for (char *word = strtok_r(text, " \t\r\n", &rest);
		word && servers->domain_count < DOMAINS_MAX;
		word = strtok_r(NULL, " \t\r\n", &rest))
		if (aw_dns_plain_name(word, strlen(word),
			    servers->domains[servers->domain_count]))
			servers->domain_count++;
}

static void read_line(struct aw_name_servers *servers, char *line)
{
	char *rest, *word = strtok_r(line, " \t\r\n", &rest);

	if (!word)
		return;
	if (strcmp(word, "nameserver") == 0) {
		word = strtok_r(NULL, " \t\r\n", &rest);
		if (word)
			add_server(servers, word);
	} else if (strcmp(word, "search") == 0 || strcmp(word, "domain") == 0) {
		add_domains(servers, rest);
	}
}

/* With the lock held. */
static void look_again(struct aw_name_servers *servers)
{
	AW_FCLOSE FILE *file = NULL;
	struct stat st = {.st_ino = 0};
	char line[512];
	int n = 0;

	if (stat(servers->path, &st) < 0 && servers->count)
		return;
	if (servers->count && st.st_ino == servers->inode &&
		memcmp(&st.st_mtim, &servers->read, sizeof(servers->read)) == 0)
		return;
	servers->inode = st.st_ino;
	servers->read = st.st_mtim;
	file = fopen(servers->path, "re");
	while (file && n++ < LINES_MAX && fgets(line, sizeof(line), file))
		read_line(servers, line);
	if (!servers->count) {
		char home[] = "127.0.0.1";

		add_server(servers, home);
	}
}

size_t aw_name_servers_list(struct aw_name_servers *servers,
	struct aw_address ret[AW_NAME_SERVERS], char ret_skipped[64])
{
	size_t count;

	pthread_mutex_lock(&servers->lock);
	look_again(servers);
	count = servers->count;
	memcpy(ret, servers->list, count * sizeof(*ret));
	memcpy(ret_skipped, servers->skipped, sizeof(servers->skipped));
	pthread_mutex_unlock(&servers->lock);
	return count;
}

bool aw_name_servers_has(
	struct aw_name_servers *servers, const struct aw_address *address)
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};
	struct aw_address plain = *address;
	bool found = false;

	if (address->family == AF_INET6 && memcmp(address->bytes, mapped, 12) == 0) {
		plain.family = AF_INET;
		memcpy(plain.bytes, address->bytes + 12, 4);
	}
	pthread_mutex_lock(&servers->lock);
	look_again(servers);
	for (size_t i = 0; i < servers->count && !found; i++)
		found = is_same(&servers->list[i], &plain);
	pthread_mutex_unlock(&servers->lock);
	return found;
}

bool aw_name_servers_unsearched(struct aw_name_servers *servers, const char *name,
	size_t nth, char ret[AW_DNS_NAME])
{
	size_t len = strlen(name), end;
	bool found = false;

	pthread_mutex_lock(&servers->lock);
	for (size_t i = 0; i < servers->domain_count && !found; i++) {
		end = strlen(servers->domains[i]);
		if (len < end + 2 || name[len - end - 1] != '.' ||
			strcmp(name + len - end, servers->domains[i]) != 0 || nth--)
			continue;
		memcpy(ret, name, len - end - 1);
		ret[len - end - 1] = '\0';
		found = true;
	}
	pthread_mutex_unlock(&servers->lock);
	return found;
}
