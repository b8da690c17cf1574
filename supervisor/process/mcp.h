/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp.h - which programs are MCP servers, and what they are called.
 *
 * A server is known by the agents' own configuration files (its command line stands
 * there under a name), or else by how it is started: it talks over pipes with the
 * process that started it, and its command line says that it is one.  The files are
 * anybody's, so they are bounded, and what cannot be read or understood is left out.
 *
 * One aw_mcp for a session; any thread may ask.  Names are cut at AW_MCP_NAME bytes.
 */
#ifndef AW_SUPERVISOR_PROCESS_MCP_H
#define AW_SUPERVISOR_PROCESS_MCP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define AW_MCP_NAME 128

struct aw_mcp;

/* A program that is about to be started, or has been; all borrowed. */
struct aw_started {
	const char *path; /* the file itself, links resolved */
	const char *raw;  /* as it was asked for, or NULL: the same */
	const char *file; /* where this process can read it, or NULL: path */
	const char *const *argv;
	size_t argc;
	pid_t pid;    /* the process: its descriptors 0 and 1 are looked at */
	pid_t parent; /* the one that started it, 0 when that is not watched */
};

/* Read the configuration of these directories (NULL: none); NULL when out of memory. */
struct aw_mcp *aw_mcp_create(const char *workspace, const char *home);
void aw_mcp_free(struct aw_mcp *mcp);

/* How many servers the files name. */
size_t aw_mcp_count(struct aw_mcp *mcp);

/*
 * Is it a server of one of the files?  When it only looks like one, the files are read
 * once more, since the agent may have added it meanwhile.
 */
bool aw_mcp_configured(
	struct aw_mcp *mcp, const struct aw_started *started, char name[AW_MCP_NAME]);

/* Is it started as a server is, whatever the files say? */
bool aw_mcp_looks_like(const struct aw_started *started, char name[AW_MCP_NAME]);

/* The second half of that: does the command line alone say so? */
bool aw_mcp_says_so(const struct aw_started *started, char name[AW_MCP_NAME]);

#endif
