/* SPDX-License-Identifier: Apache-2.0 */
/* hosts.c - a small reader of /etc/hosts: two sorted lists. */
#include "supervisor/decide/hosts.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "supervisor/util/cleanup.h"

enum { HOSTS_MAX = 500000 }; /* names; some block half the world in this file */

struct row {
	unsigned char address[16];
	uint32_t order; /* in the file */
	char *name;	/* in text */
};

struct aw_hosts {
	pthread_mutex_t lock;
	char *path;		 /* owned */
	struct stat st;		 /* as it was read */
	char *text;		 /* owned */
	struct row *by_name;	 /* owned */
	struct row **by_address; /* owned; in by_name */
	size_t count;
};

struct aw_hosts *aw_hosts_new(const char *path)
{
	struct aw_hosts *hosts = calloc(1, sizeof(*hosts));

	if (!hosts || !(hosts->path = strdup(path))) {
		free(hosts);
		return NULL;
	}
	pthread_mutex_init(&hosts->lock, NULL);
	return hosts;
}

static void clear(struct aw_hosts *hosts)
{
	free(hosts->text);
	free(hosts->by_name);
	free(hosts->by_address);
	hosts->text = NULL;
	hosts->by_name = NULL;
	hosts->by_address = NULL;
	hosts->count = 0;
}

void aw_hosts_free(struct aw_hosts *hosts)
{
	if (!hosts)
		return;
	clear(hosts);
	free(hosts->path);
	pthread_mutex_destroy(&hosts->lock);
	free(hosts);
}

static int compare_names(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int names = strcmp(x->name, y->name);

	return names ? names : (x->order > y->order) - (x->order < y->order);
}

static int compare_addresses(const void *a, const void *b)
{
	const struct row *x = *(struct row *const *)a, *y = *(struct row *const *)b;
	int addresses = memcmp(x->address, y->address, 16);

	return addresses ? addresses : (x->order > y->order) - (x->order < y->order);
}

static bool read_address(char *text, unsigned char ret[16])
{
	static const unsigned char mapped[12] = {[10] = 0xff, [11] = 0xff};

	text[strcspn(text, "%")] = '\0';
	memcpy(ret, mapped, 12);
	return inet_pton(AF_INET, text, ret + 12) == 1 ||
	       inet_pton(AF_INET6, text, ret) == 1;
}

static bool add_row(struct aw_hosts *hosts, const unsigned char address[16], char *name)
{
	char plain[AW_DNS_NAME];
	struct row *grown;

	if (!aw_dns_plain_name(name, strlen(name), plain))
		return true;
	strcpy(name, plain); /* never longer */
	if ((hosts->count & (hosts->count - 1)) == 0) {
		grown = reallocarray(hosts->by_name,
			hosts->count ? 2 * hosts->count : 1, sizeof(*grown));
		if (!grown)
			return false;
		hosts->by_name = grown;
	}
	grown = &hosts->by_name[hosts->count];
	memcpy(grown->address, address, 16);
	grown->order = (uint32_t)hosts->count++;
	grown->name = name;
	return hosts->count < HOSTS_MAX;
}

static void read_text(struct aw_hosts *hosts)
{
	static const char blanks[] = " \t\r\f\v";
	char *lines, *words;

	for (char *line = strtok_r(hosts->text, "\n", &lines); line;
		line = strtok_r(NULL, "\n", &lines)) {
		unsigned char address[16];
		char *word;

		line[strcspn(line, "#")] = '\0';
		word = strtok_r(line, blanks, &words);
		if (!word || !read_address(word, address))
			continue;
		while ((word = strtok_r(NULL, blanks, &words)))
			if (!add_row(hosts, address, word))
				return;
	}
}

static void read_file(struct aw_hosts *hosts)
{
	AW_FCLOSE FILE *file = fopen(hosts->path, "re");
	size_t size = 0;

	clear(hosts);
	/* a NUL ends it: no name has one */
	if (!file || getdelim(&hosts->text, &size, '\0', file) < 0)
		return;
	read_text(hosts);
	hosts->by_address = calloc(hosts->count + 1, sizeof(*hosts->by_address));
	if (!hosts->by_address) {
		clear(hosts);
		return;
	}
	if (hosts->count)
		qsort(hosts->by_name, hosts->count, sizeof(*hosts->by_name),
			compare_names);
	for (size_t i = 0; i < hosts->count; i++)
		hosts->by_address[i] = &hosts->by_name[i];
	qsort(hosts->by_address, hosts->count, sizeof(*hosts->by_address),
		compare_addresses);
}

/* With the lock held. */
static void look_again(struct aw_hosts *hosts)
{
	struct stat st;

	if (stat(hosts->path, &st) < 0)
		memset(&st, 0, sizeof(st));
	if (st.st_ino == hosts->st.st_ino && st.st_dev == hosts->st.st_dev &&
		st.st_size == hosts->st.st_size &&
		memcmp(&st.st_mtim, &hosts->st.st_mtim, sizeof(st.st_mtim)) == 0 &&
		memcmp(&st.st_ctim, &hosts->st.st_ctim, sizeof(st.st_ctim)) == 0)
		return;
	hosts->st = st;
	read_file(hosts);
}

static int order_of(const struct aw_hosts *hosts, size_t i, const char *name,
	const unsigned char *address)
{
	if (name)
		return strcmp(hosts->by_name[i].name, name);
	return address ? memcmp(hosts->by_address[i]->address, address, 16) : 0;
}

/* The first one that is not before: by a name, or else by an address. */
static size_t first(
	const struct aw_hosts *hosts, const char *name, const unsigned char address[16])
{
	size_t low = 0, high = hosts->count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (order_of(hosts, middle, name, address) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t aw_hosts_names(struct aw_hosts *hosts, const unsigned char address[16],
	char (*ret)[AW_DNS_NAME], size_t max)
{
	size_t count = 0;

	pthread_mutex_lock(&hosts->lock);
	look_again(hosts);
	for (size_t i = first(hosts, NULL, address); i < hosts->count && count < max;
		i++) {
		if (memcmp(hosts->by_address[i]->address, address, 16) != 0)
			break;
		strcpy(ret[count++], hosts->by_address[i]->name);
	}
	pthread_mutex_unlock(&hosts->lock);
	return count;
}

size_t aw_hosts_addresses(
	struct aw_hosts *hosts, const char *name, unsigned char (*ret)[16], size_t max)
{
	size_t count = 0;

	pthread_mutex_lock(&hosts->lock);
	look_again(hosts);
	for (size_t i = first(hosts, name, NULL); i < hosts->count && count < max;
		i++) {
		if (strcmp(hosts->by_name[i].name, name) != 0)
			break;
		memcpy(ret[count++], hosts->by_name[i].address, 16);
	}
	pthread_mutex_unlock(&hosts->lock);
	return count;
}
