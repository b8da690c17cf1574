/* SPDX-License-Identifier: Apache-2.0 */
/* environment.c - the command's environment: the policy's section, then the shim. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "supervisor/launch/run.h"
#include "supervisor/util/cleanup.h"

extern char **environ;

struct vector {
	char **items; /* owned */
	size_t count, room;
};

/* text becomes owned, and is freed when there is no room for it. */
static bool push(struct vector *v, char *text)
{
	AW_FREE char *item = text;

	if (!item)
		return false;
	if (v->count + 1 >= v->room) {
		size_t room = v->room ? v->room * 2 : 64;
		char **items = realloc(v->items, room * sizeof(*items));

		if (!items)
			return false;
		v->items = items;
		v->room = room;
	}
	v->items[v->count++] = aw_take_ptr(&item);
	v->items[v->count] = NULL;
	return true;
}

static char *text_of(const char *name, const char *value, const char *more)
{
	char *text;

	if (asprintf(&text, "%s=%s%s%s", name, value, more ? ":" : "",
		    more ? more : "") < 0)
		return NULL;
	return text;
}

/* Replace or append NAME=...; text becomes owned. */
static bool put(struct vector *v, const char *name, char *text)
{
	size_t len = strlen(name);

	for (size_t i = 0; i < v->count && text; i++) {
		if (strncmp(v->items[i], name, len) == 0 && v->items[i][len] == '=') {
			free(v->items[i]);
			v->items[i] = text;
			return true;
		}
	}
	return push(v, text);
}

static bool keep(const struct aw_policy *policy, const char *entry)
{
	AW_FREE char *name = strdup(entry);

	if (!name)
		return false;
	name[strcspn(name, "=")] = '\0';
	/* ours, for this command alone: an outer session's socket is not for us */
	return strcmp(name, "AGENTWATCH_SOCKET") != 0 &&
	       aw_policy_keeps_variable(policy, name);
}

/* What the policy sets comes after. */
static bool name_proxy(const struct aw_run *run, struct vector *v)
{
	bool ok = true;

	for (size_t i = 0; ok; i++) {
		AW_FREE char *value = NULL;
		const char *name = aw_listeners_variable(&run->listeners, i, &value);

		if (!name)
			break;
		ok = value && put(v, name, text_of(name, value, NULL));
	}
	return ok;
}

/* HOME and its kin in the directory that is the command's own. */
static bool redirect(const struct aw_run *run, struct vector *v)
{
	static const struct {
		const char *name, *folder;
	} folders[] = {
		{"HOME", "/home"},
		{"TMPDIR", "/tmp"},
		{"XDG_CONFIG_HOME", "/config"},
		{"XDG_CACHE_HOME", "/cache"},
		{"XDG_STATE_HOME", "/state"},
	};
	bool ok = true;

	for (size_t i = 0; ok && run->instance && i < ARRAY_SIZE(folders); i++) {
		AW_FREE char *path = NULL;

		if (asprintf(&path, "%s%s", run->instance, folders[i].folder) < 0)
			return false;
		ok = put(v, folders[i].name, text_of(folders[i].name, path, NULL));
	}
	return ok;
}

static bool add_shim(const struct aw_run *run, struct vector *v)
{
	const char *old = NULL;

	if (!run->shim || run->engine == AW_KERNEL)
		return true;
	for (size_t i = 0; i < v->count; i++)
		if (strncmp(v->items[i], "LD_PRELOAD=", 11) == 0 && v->items[i][11])
			old = v->items[i] + 11;
	if (old && strncmp(old, run->shim, strlen(run->shim)) == 0)
		old = old[strlen(run->shim)] == ':' ? old + strlen(run->shim) + 1
						    : NULL;
	if (!put(v, "LD_PRELOAD", text_of("LD_PRELOAD", run->shim, old)))
		return false;
	return run->engine != AW_PRELOAD ||
	       put(v, "AGENTWATCH_SOCKET",
		       text_of("AGENTWATCH_SOCKET", run->socket, NULL));
}

char **aw_run_environment(const struct aw_run *run, struct aw_error *err)
{
	const struct aw_policy *policy = &run->policy;
	struct vector v = {.items = calloc(1, sizeof(char *))};
	bool ok = v.items != NULL;

	for (char **e = environ; ok && *e; e++)
		if (keep(policy, *e))
			ok = push(&v, strdup(*e));
	ok = ok && redirect(run, &v) && name_proxy(run, &v);
	for (size_t i = 0; ok && i < policy->environment.set_count; i++) {
		const struct aw_setting *s = &policy->environment.set[i];

		ok = put(&v, s->name, text_of(s->name, s->value, NULL));
	}
	if (ok && add_shim(run, &v))
		return v.items;
	for (size_t i = 0; i < v.count; i++)
		free(v.items[i]);
	free(v.items);
	aw_fail(err, ENOMEM, "building the command's environment");
	return NULL;
}

static bool is_set(const struct aw_policy *policy, const char *name, size_t len)
{
	for (size_t i = 0; i < policy->environment.set_count; i++) {
		const char *set = policy->environment.set[i].name;

		if (strncmp(set, name, len) == 0 && !set[len])
			return true;
	}
	return false;
}

void aw_run_withheld(const struct aw_run *run, char *text, size_t size)
{
	static const char own[] = "AGENTWATCH_SOCKET=";
	size_t at = 0, more = 0, room = size - 32;

	text[0] = '\0';
	for (char **e = environ; *e; e++) {
		size_t len = strcspn(*e, "=");

		if (keep(&run->policy, *e) || is_set(&run->policy, *e, len) ||
			strncmp(*e, own, sizeof(own) - 1) == 0)
			continue;
		if (at + len + 2 < room)
			at += (size_t)snprintf(text + at, room - at, "%s%.*s",
				at ? ", " : "", (int)len, *e);
		else
			more++;
	}
	if (more)
		snprintf(text + at, size - at, " and %zu more", more);
}
