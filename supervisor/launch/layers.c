/* SPDX-License-Identifier: Apache-2.0 */
/* layers.c - which policy files count here. */
#include "supervisor/launch/layers.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/array.h"
#include "supervisor/launch/run.h"
#include "supervisor/session/find.h"
#include "supervisor/session/folders.h"
#include "supervisor/util/cleanup.h"

static int no_memory(struct aw_error *err)
{
	return aw_fail(err, ENOMEM, "finding policy files: out of memory");
}

void aw_layers_release(struct aw_layers *layers)
{
	struct aw_policy_variables *v = &layers->variables;

	for (size_t i = 0; i < layers->count; i++)
		free((char *)layers->sources[i].file);
	free(layers->sources);
	free((char *)v->workspace);
	free((char *)v->home);
	free((char *)v->user);
	free((char *)v->tmpdir);
	free((char *)v->agentwatch_dir);
	free((char *)v->presets);
	free((char *)v->command);
	free((char *)v->state_dir);
	for (size_t i = 0; i < ARRAY_SIZE(v->programs); i++)
		free((char *)v->programs[i]);
	free((char *)v->runtime_dir);
	free((char *)v->log);
	free((char *)v->git_dir);
	free((char *)v->account_home);
	aw_trust_free(layers->trust);
	memset(layers, 0, sizeof(*layers));
}

static int add(struct aw_layers *layers, const char *file, const char *layer,
	enum aw_trust trust, struct aw_error *err)
{
	struct aw_policy_source *sources = realloc(
		layers->sources, (layers->count + 1) * sizeof(*layers->sources));
	AW_FREE char *copy = strdup(file);

	if (sources)
		layers->sources = sources;
	if (!sources || !copy)
		return no_memory(err);
	sources[layers->count++] =
		(struct aw_policy_source){aw_take_ptr(&copy), layer, trust};
	return 0;
}

/* Add directory/name when it is there; one that cannot be read is for the loader to
 * say.
 */
static int add_existing(struct aw_layers *layers, const char *folder, const char *name,
	const char *layer, enum aw_trust trust, struct aw_error *err)
{
	AW_FREE char *file = NULL;

	if (asprintf(&file, "%s/%s", folder, name) < 0)
		return no_memory(err);
	if (access(file, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
		return 0;
	return add(layers, file, layer, trust, err);
}

/* The nearest directory from the working directory up that holds a .git, else itself. */
static char *find_workspace(void)
{
	char *here = getcwd(NULL, 0), *at = here ? strdup(here) : NULL;

	while (at && at[0]) {
		AW_FREE char *git = NULL;
		char *slash;

		if (asprintf(&git, "%s/.git", at) >= 0 && !access(git, F_OK)) {
			free(here);
			return at;
		}
		slash = strrchr(at, '/');
		*(slash ? slash : at) = 0;
	}
	free(at);
	return here;
}

/* Policy is about the file that is reached: links on the way to a directory are
 * followed.
 */
static char *real_or_same(const char *path)
{
	char *real = path && path[0] == '/' ? realpath(path, NULL) : NULL;

	return real ? real : path ? strdup(path) : NULL;
}

/* The first line of a file, without its end; false when there is none. */
static bool read_line(const char *path, char *line, int size)
{
	FILE *file = fopen(path, "re");
	bool any = file && fgets(line, size, file);

	if (file)
		fclose(file);
	if (any)
		line[strcspn(line, "\r\n")] = '\0';
	return any;
}

/* The path that a file of git's says behind prefix; NULL when it is not there. */
static char *read_git_line(const char *folder, const char *name, const char *prefix)
{
	char path[4200], line[4200];
	size_t len = strlen(prefix);
	char *text = NULL;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	if (!read_line(path, line, sizeof(line)) || strncmp(line, prefix, len) != 0)
		return NULL;
	if (asprintf(&text, "%s%s%s", line[len] == '/' ? "" : folder,
		    line[len] == '/' ? "" : "/", line + len) < 0)
		return NULL;
	return text;
}

static bool is_repository(const char *folder)
{
	static const char *const parts[] = {"HEAD", "objects", "refs"};
	char path[4200];

	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, parts[i]);
		if (access(path, F_OK) < 0)
			return false;
	}
	return true;
}

/* Is it REPOSITORY/worktrees/NAME, where git keeps what belongs to a worktree? */
static bool is_kept_in(const char *folder, const char *repository)
{
	static const char between[] = "/worktrees/";
	AW_FREE char *real = realpath(folder, NULL);
	size_t len = strlen(repository);

	return real && strncmp(real, repository, len) == 0 &&
	       strncmp(real + len, between, sizeof(between) - 1) == 0 &&
	       !strchr(real + len + sizeof(between) - 1, '/');
}

/*
 * The repository of a linked worktree, which git writes to from here.  The worktree's
 * .git file may have come from anywhere, and what it leads to as well, so it counts
 * only when the repository itself knows this worktree.
 */
static char *find_git_dir(const char *workspace)
{
	AW_FREE char *own = read_git_line(workspace, ".git", "gitdir: ");
	AW_FREE char *back = own ? read_git_line(own, "gitdir", "") : NULL;
	AW_FREE char *common = back ? read_git_line(own, "commondir", "") : NULL;
	AW_FREE char *known = back ? realpath(back, NULL) : NULL;
	AW_FREE char *real = common ? realpath(common, NULL) : NULL;
	AW_FREE char *mine = NULL;

	if (!real || !known || asprintf(&mine, "%s/.git", workspace) < 0 ||
		strcmp(mine, known) != 0 || !is_kept_in(own, real) ||
		!is_repository(real))
		return NULL;
	return aw_take_ptr(&real);
}

/* The absolute name of a file that may not be there yet. */
static char *name_log(const char *log)
{
	const char *slash = strrchr(log, '/');
	AW_FREE char *folder = NULL;
	char above[4200] = ".", *path = NULL;

	/* a device or a descriptor is everybody's, and no file of ours */
	if (strcmp(log, "-") == 0 || strcmp(log, "none") == 0 ||
		strncmp(log, "/dev/", 5) == 0 || strncmp(log, "/proc/", 6) == 0)
		return NULL;
	if (slash)
		snprintf(above, sizeof(above), "%.*s", (int)(slash - log + 1), log);
	folder = realpath(above, NULL);
	if (!folder || asprintf(&path, "%s/%s", folder, slash ? slash + 1 : log) < 0)
		return NULL;
	return path;
}

/* agentwatch's own directories, and what it was started with. */
static void fill_facts(struct aw_layers *layers, const struct aw_layers_params *params)
{
	struct aw_policy_variables *v = &layers->variables;
	const char *name = params->agent ? params->agent : params->command;
	const struct passwd *account = getpwuid(geteuid());
	char *path = NULL;

	v->presets = aw_find_part("presets");
	v->programs[0] = realpath("/proc/self/exe", NULL);
	v->programs[1] = aw_find_part("agentwatch-enter");
	v->programs[2] = aw_find_part("libagentwatch.so");
	if (name)
		v->command = strdup(strrchr(name, '/') ? strrchr(name, '/') + 1 : name);
	if (!aw_sessions_directory(false, &path, NULL)) {
		*strrchr(path, '/') = '\0';
		v->state_dir = path;
	}
	path = NULL;
	if (!aw_runtime_directory(&path, NULL))
		v->runtime_dir = path;
	if (params->log)
		v->log = name_log(params->log);
	v->runner = params->runner;
	v->base = params->base;
	v->default_runner = aw_sandbox_default;
	v->git_dir = find_git_dir(v->workspace);
	if (account && (!v->home || strcmp(v->home, account->pw_dir) != 0))
		v->account_home = real_or_same(account->pw_dir);
}

static int fill_variables(struct aw_layers *layers,
	const struct aw_layers_params *params, struct aw_error *err)
{
	struct aw_policy_variables *v = &layers->variables;
	const char *home = aw_home(), *user = getenv("USER"), *tmp = getenv("TMPDIR");
	const struct passwd *account = getpwuid(geteuid());
	char *folder = NULL;

	v->workspace = params->workspace ? realpath(params->workspace, NULL)
					 : find_workspace();
	if (!v->workspace)
		return aw_fail(err, errno,
			"workspace '%s': %s; --workspace wants a directory that is there",
			params->workspace ? params->workspace : ".", strerror(errno));
	if (!user || !*user)
		user = account ? account->pw_name : NULL;
	v->home = real_or_same(home);
	v->user = user ? strdup(user) : NULL;
	v->tmpdir = real_or_same(tmp && tmp[0] == '/' ? tmp : "/tmp");
	if (!aw_config_directory(&folder, NULL))
		v->agentwatch_dir = folder;
	fill_facts(layers, params);
	return v->tmpdir ? 0 : no_memory(err);
}

static int add_agent(struct aw_layers *layers, const char *agent, struct aw_error *err)
{
	AW_FREE char *name = NULL;

	if (!*agent || strchr(agent, '/') || agent[0] == '.')
		return aw_fail(err, EINVAL,
			"'%s' is not the name of an agent: --agent takes a word "
			"without slashes, such as claude",
			agent);
	if (asprintf(&name, "agents/%s.yaml", agent) < 0)
		return no_memory(err);
	return add_existing(layers, layers->variables.agentwatch_dir, name, "agent",
		AW_TRUSTED, err);
}

/* A command may be called anything. */
static bool is_agent_name(const char *name)
{
	return name && name[0] && name[0] != '.';
}

static int judge_workspace(struct aw_layers *layers, struct aw_error *err)
{
	struct aw_trust_judgement *fresh;

	if (aw_trust_judge(layers->variables.workspace, &fresh, err) < 0)
		return -1;
	aw_trust_free(layers->trust);
	layers->trust = fresh;
	layers->variables.judged = &fresh->judged;
	return 0;
}

/* The bytes of a file that is trusted were read with the judgement. */
static int add_workspace(struct aw_layers *layers, struct aw_error *err)
{
	if (judge_workspace(layers, err) < 0)
		return -1;
	if (layers->trust->state == AW_TRUST_HOLDS)
		return add(layers, layers->trust->file, "workspace", AW_TRUSTED, err);
	return add_existing(layers, layers->variables.workspace, AW_TRUST_FILE,
		"workspace", AW_UNTRUSTED, err);
}

static int find(struct aw_layers *layers, const struct aw_layers_params *params,
	struct aw_error *err)
{
	const char *config;

	if (fill_variables(layers, params, err) < 0)
		return -1;
	config = layers->variables.agentwatch_dir;
	if (add_existing(layers, "/etc/agentwatch", "policy.yaml", "system", AW_SYSTEM,
		    err) < 0)
		return -1;
	if (config && add_existing(layers, config, "policy.yaml", "global", AW_TRUSTED,
			      err) < 0)
		return -1;
	if (config && params->agent && add_agent(layers, params->agent, err) < 0)
		return -1;
	if (config && !params->agent && is_agent_name(layers->variables.command) &&
		add_agent(layers, layers->variables.command, err) < 0)
		return -1;
	if (add_workspace(layers, err) < 0)
		return -1;
	for (size_t i = 0; params->policies && i < params->policies->count; i++)
		if (add(layers, params->policies->items[i], "policy", AW_TRUSTED, err) <
			0)
			return -1;
	return 0;
}

int aw_layers_find(const struct aw_layers_params *params, struct aw_layers *ret,
	struct aw_error *err)
{
	struct aw_layers layers = {0};

	if (find(&layers, params, err) < 0) {
		aw_layers_release(&layers);
		return -1;
	}
	*ret = layers;
	return 0;
}

static bool has_file(const struct aw_layers *layers, const char *file)
{
	for (size_t i = 0; i < layers->count; i++)
		if (strcmp(layers->sources[i].file, file) == 0)
			return true;
	return false;
}

int aw_layers_again(const struct aw_layers_params *params, struct aw_layers *layers,
	struct aw_error *err)
{
	struct aw_policy_source *sources = layers->sources;
	struct aw_trust_judgement *trust;
	size_t count = layers->count;
	struct aw_layers now;

	if (aw_layers_find(params, &now, err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (!has_file(&now, sources[i].file)) {
			aw_layers_release(&now);
			return aw_fail(err, ENOENT, "%s is gone", sources[i].file);
		}
	trust = layers->trust;
	layers->trust = now.trust;
	layers->variables.judged = &layers->trust->judged;
	layers->sources = now.sources;
	layers->count = now.count;
	now.trust = trust;
	now.sources = sources;
	now.count = count;
	aw_layers_release(&now);
	return 0;
}
