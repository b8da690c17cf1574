/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mcp_internal.h - the MCP servers that agents' configuration files name; for the
 * mcp*.c files alone.
 */
#ifndef AW_SUPERVISOR_PROCESS_MCP_INTERNAL_H
#define AW_SUPERVISOR_PROCESS_MCP_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>

enum { AW_MCP_SERVERS = 256, AW_MCP_WORDS = 64 };

/* One server: its name, and its command line as patterns of policy/glob.h. */
struct aw_mcp_server {
	char *name;		   /* owned */
	char *words[AW_MCP_WORDS]; /* owned; the first is the program */
	size_t count;
};

struct aw_mcp_servers {
	struct aw_mcp_server *items; /* owned */
	size_t count;
};

/* Add what the files of these directories say; NULL: no such directory. */
void aw_mcp_config_read(
	struct aw_mcp_servers *servers, const char *workspace, const char *home);

/* Add what a text says: JSON, where the server lists hang below `key`, or TOML. */
void aw_mcp_json_read(struct aw_mcp_servers *servers, char *text, const char *key);
void aw_mcp_toml_read(struct aw_mcp_servers *servers, const char *text);

/* A new server without words; NULL when there are too many, or no memory is left. */
struct aw_mcp_server *aw_mcp_server_add(
	struct aw_mcp_servers *servers, const char *name, size_t len);
/* One more word; what an agent fills in itself, ${...}, may be anything. */
void aw_mcp_word_add(struct aw_mcp_server *server, const char *text, size_t len);

void aw_mcp_servers_free(struct aw_mcp_servers *servers);

#endif
