/* SPDX-License-Identifier: Apache-2.0 */
/* mcp.c - recognising MCP servers as they are started. */
#include "supervisor/process/mcp.h"

#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "policy/glob.h"
#include "supervisor/linux/procfs.h"
#include "supervisor/process/mcp_internal.h"
#include "supervisor/util/cleanup.h"

enum { READ_AGAIN_S = 1, DESCRIPTORS_MAX = 4096 };

struct aw_mcp {
	pthread_mutex_t lock;
	char *workspace, *home; /* owned, or NULL */
	struct aw_mcp_servers servers;
	time_t read_at; /* the monotonic clock's seconds */
};

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static void read_files(struct aw_mcp *mcp)
{
	aw_mcp_servers_free(&mcp->servers);
	aw_mcp_config_read(&mcp->servers, mcp->workspace, mcp->home);
	mcp->read_at = now();
}

struct aw_mcp *aw_mcp_create(const char *workspace, const char *home)
{
	struct aw_mcp *mcp = calloc(1, sizeof(*mcp));

	if (!mcp)
		return NULL;
	pthread_mutex_init(&mcp->lock, NULL);
	mcp->workspace = workspace ? strdup(workspace) : NULL;
	mcp->home = home ? strdup(home) : NULL;
	read_files(mcp);
	return mcp;
}

void aw_mcp_free(struct aw_mcp *mcp)
{
	if (!mcp)
		return;
	aw_mcp_servers_free(&mcp->servers);
	free(mcp->workspace);
	free(mcp->home);
	pthread_mutex_destroy(&mcp->lock);
	free(mcp);
}

size_t aw_mcp_count(struct aw_mcp *mcp)
{
	size_t count;

	pthread_mutex_lock(&mcp->lock);
	count = mcp->servers.count;
	pthread_mutex_unlock(&mcp->lock);
	return count;
}

static bool fits(const char *pattern, const char *text)
{
	return text && aw_glob_match(pattern, strlen(pattern), text, strlen(text));
}

static const char *base_of(const char *text)
{
	const char *slash = text ? strrchr(text, '/') : NULL;

	return slash ? slash + 1 : text;
}

/* A name is looked for in PATH by the agent; a path is meant as it stands. */
static bool is_program(const char *pattern, const struct aw_started *s)
{
	AW_FREE char *real = NULL;

	if (pattern[0] == '/') {
		real = realpath(pattern, NULL);
		return fits(pattern, s->path) || fits(pattern, s->raw) ||
		       (real && strcmp(real, s->path) == 0);
	}
	pattern = base_of(pattern);
	return fits(pattern, base_of(s->raw)) || fits(pattern, base_of(s->path)) ||
	       (s->argc && fits(pattern, base_of(s->argv[0])));
}

static bool is_server(const struct aw_mcp_server *server, const struct aw_started *s)
{
	if (!server->count || server->count != (s->argc ? s->argc : 1))
		return false;
	for (size_t i = 1; i < server->count; i++)
		if (!fits(server->words[i], s->argv[i]))
			return false;
	return is_program(server->words[0], s);
}

static bool find(struct aw_mcp *mcp, const struct aw_started *s, char name[AW_MCP_NAME])
{
	for (size_t i = 0; i < mcp->servers.count; i++)
		if (is_server(&mcp->servers.items[i], s)) {
			snprintf(name, AW_MCP_NAME, "%s", mcp->servers.items[i].name);
			return true;
		}
	return false;
}

bool aw_mcp_configured(
	struct aw_mcp *mcp, const struct aw_started *started, char name[AW_MCP_NAME])
{
	char guess[AW_MCP_NAME];
	bool found;

	pthread_mutex_lock(&mcp->lock);
	found = find(mcp, started, name);
	if (!found && now() - mcp->read_at >= READ_AGAIN_S &&
		aw_mcp_says_so(started, guess)) {
		read_files(mcp);
		found = find(mcp, started, name);
	}
	pthread_mutex_unlock(&mcp->lock);
	return found;
}

/* What descriptor 0 or 1 is: "pipe:[4711]" or "socket:[4711]"; false: something else. */
static bool talks_over(pid_t pid, const char *descriptor, char to[64])
{
	return aw_proc_link(pid, descriptor, to, 64) > 0 &&
	       (strncmp(to, "pipe:", 5) == 0 || strncmp(to, "socket:", 7) == 0);
}

/* Has a process this pipe open?  When that cannot be looked at, it may. */
static bool holds(pid_t pid, const char *pipe)
{
	char path[64], link[64], name[32];
	AW_CLOSEDIR DIR *dir = NULL;
	struct dirent *entry;
	int seen = 0;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	dir = opendir(path);
	if (!dir)
		return true;
	while ((entry = readdir(dir)) && seen++ < DESCRIPTORS_MAX) {
		snprintf(name, sizeof(name), "fd/%.20s", entry->d_name);
		if (aw_proc_link(pid, name, link, sizeof(link)) > 0 &&
			strcmp(link, pipe) == 0)
			return true;
	}
	return entry != NULL;
}

/*
 * The two ends of a socket pair have different numbers, so a socket is believed; a pipe
 * is also held by the process that speaks through it, but not by a shell that only
 * puts two programs together.
 */
static bool talks_with_parent(const struct aw_started *s)
{
	char in[64], out[64];

	if (!talks_over(s->pid, "fd/0", in) || !talks_over(s->pid, "fd/1", out))
		return false;
	return !s->parent || ((in[0] == 's' || holds(s->parent, in)) &&
				     (out[0] == 's' || holds(s->parent, out)));
}

bool aw_mcp_looks_like(const struct aw_started *started, char name[AW_MCP_NAME])
{
	return aw_mcp_says_so(started, name) && talks_with_parent(started);
}
