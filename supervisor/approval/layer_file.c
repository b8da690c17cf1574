/* SPDX-License-Identifier: Apache-2.0 */
/* layer_file.c - a policy file is read, tried anew, and replaced as a whole. */
#include "supervisor/approval/layer_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/load/text/load_edit.h"
#include "supervisor/util/cleanup.h"

enum { TEXT_MAX = 1024 * 1024 };

static const char *const order[] = {"system", "global", "agent", "workspace", "policy"};

static int rank_of(const char *layer)
{
	int i = 0;

	while (i < 4 && strcmp(order[i], layer) != 0)
		i++;
	return i;
}

static int name_file(const struct aw_run *run, const char *layer,
	struct aw_layer_file *ret, struct aw_error *err)
{
	const struct aw_policy_variables *v = &run->layers.variables;
	const char *agent = run->options.agent ? run->options.agent : v->command;
	int n = -1;

	if (strcmp(layer, "workspace") == 0) {
		n = asprintf(&ret->path, "%s/.agentwatch.yaml", v->workspace);
	} else if (strcmp(layer, "global") != 0 && strcmp(layer, "agent") != 0) {
		return aw_fail(err, EINVAL,
			"'%s' is not a layer that can be written to: global, agent or workspace",
			layer);
	} else if (!v->agentwatch_dir) {
		return aw_fail(
			err, ENOENT, "there is no directory for policies: set HOME");
	} else if (strcmp(layer, "global") == 0) {
		n = asprintf(&ret->path, "%s/policy.yaml", v->agentwatch_dir);
	} else if (!agent || !agent[0] || strchr(agent, '/') || agent[0] == '.') {
		return aw_fail(err, EINVAL,
			"this session has no agent's name; start it with --agent");
	} else {
		n = asprintf(&ret->path, "%s/agents/%s.yaml", v->agentwatch_dir, agent);
	}
	return n < 0 ? aw_fail(err, ENOMEM, "out of memory") : 0;
}

/* The source that the session reads for it, or NULL. */
static struct aw_policy_source *source_of(
	const struct aw_run *run, const struct aw_layer_file *file)
{
	for (size_t i = 0; i < run->layers.count; i++)
		if (strcmp(run->layers.sources[i].layer, file->layer) == 0 &&
			strcmp(run->layers.sources[i].file, file->path) == 0)
			return &run->layers.sources[i];
	return NULL;
}

static int read_text(struct aw_layer_file *file, int fd, struct aw_error *err)
{
	size_t len = 0;
	ssize_t n = 1;

	if (fstat(fd, &file->st) < 0 || !S_ISREG(file->st.st_mode))
		return aw_fail(err, EINVAL, "%s is not a regular file", file->path);
	file->text = calloc(1, TEXT_MAX + 1);
	while (file->text && len < TEXT_MAX && n > 0) {
		n = read(fd, file->text + len, TEXT_MAX - len);
		if (n > 0)
			len += (size_t)n;
	}
	if (n < 0 || !file->text || len == TEXT_MAX || memchr(file->text, 0, len))
		return aw_fail(
			err, n < 0 ? errno : EINVAL, "%s cannot be read", file->path);
	return 0;
}

static int open_target(struct aw_layer_file *file, struct aw_error *err)
{
	/* a repository could lead us anywhere */
	bool links = file->trust != AW_UNTRUSTED;
	AW_CLOSE int fd = -1;

	file->target = links ? realpath(file->path, NULL) : strdup(file->path);
	if (!file->target && errno == ENOENT)
		file->target = strdup(file->path);
	if (!file->target)
		return aw_fail(err, errno, "%s: %s", file->path, strerror(errno));
	fd = open(file->target,
		O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0)
		return read_text(file, fd, err);
	if (errno == ELOOP)
		return aw_fail(err, ELOOP,
			"%s is a symbolic link, which is not written through",
			file->path);
	if (errno != ENOENT)
		return aw_fail(err, errno, "%s: %s", file->path, strerror(errno));
	file->text = strdup("version: 1\n");
	return file->text ? 0 : aw_fail(err, ENOMEM, "out of memory");
}

int aw_layer_file_find(const struct aw_run *run, const char *layer,
	struct aw_layer_file *ret, struct aw_error *err)
{
	const struct aw_policy_source *source;

	*ret = (struct aw_layer_file){.trust = AW_TRUSTED};
	if (!layer[0])
		layer = "global";
	ret->layer = order[rank_of(layer)];
	if (name_file(run, layer, ret, err) < 0)
		return -1;
	source = source_of(run, ret);
	if (source)
		ret->trust = source->trust;
	else if (strcmp(layer, "workspace") == 0)
		ret->trust = AW_UNTRUSTED;
	if (open_target(ret, err) == 0)
		return 0;
	aw_layer_file_release(ret);
	return -1;
}

static char *with_entries(const struct aw_layer_file *file,
	const struct aw_rule_entries *entries, const char *comment,
	struct aw_error *err)
{
	char *text = strdup(file->text);

	for (size_t i = 0; text && i < entries->count; i++) {
		const struct aw_edit edit = {entries->items[i].section,
			entries->items[i].list, entries->items[i].text, comment};
		char *next = NULL;

		if (aw_edit_add(text, strlen(text), &edit, &next, err) < 0) {
			aw_while(err,
				"%s: an entry cannot be added to it safely; write "
				"%s.%s: \"%s\" by hand",
				file->path, edit.section, edit.list, edit.entry);
			free(text);
			return NULL;
		}
		free(text);
		text = next;
	}
	if (!text)
		aw_fail(err, ENOMEM, "out of memory");
	return text;
}

/* Like mkdir -p for the one directory that may be missing. */
static void make_folder(const char *target)
{
	AW_FREE char *folder = strdup(target);

	if (!folder)
		return;
	*strrchr(folder, '/') = '\0';
	for (char *slash = strchr(folder + 1, '/'); slash;
		slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(folder, 0700);
		*slash = '/';
	}
	mkdir(folder, 0700);
}

static int open_fresh(struct aw_layer_file *file, struct aw_error *err)
{
	const char *slash = strrchr(file->target, '/');
	int fd;

	if (!file->st.st_ino && file->trust != AW_UNTRUSTED)
		make_folder(file->target);
	if (asprintf(&file->fresh, "%.*s/.agentwatch-%s-XXXXXX",
		    (int)(slash - file->target), file->target, file->layer) < 0) {
		file->fresh = NULL;
		return aw_fail(err, ENOMEM, "out of memory");
	}
	fd = mkostemp(file->fresh, O_CLOEXEC);
	if (fd < 0) {
		aw_fail(err, errno, "%s cannot be written: %s", file->path,
			strerror(errno));
		free(file->fresh);
		file->fresh = NULL;
	}
	return fd;
}

int aw_layer_file_edit(struct aw_layer_file *file,
	const struct aw_rule_entries *entries, const char *comment,
	struct aw_error *err)
{
	AW_FREE char *text = with_entries(file, entries, comment, err);
	AW_CLOSE int fd = -1;
	size_t len;

	if (!text)
		return -1;
	if (file->fresh) {
		unlink(file->fresh);
		free(file->fresh);
		file->fresh = NULL;
	}
	fd = open_fresh(file, err);
	if (fd < 0)
		return -1;
	len = strlen(text);
	if (write(fd, text, len) != (ssize_t)len || fsync(fd) < 0 ||
		fchmod(fd, file->st.st_ino ? file->st.st_mode & 07777 : 0600) < 0)
		return aw_fail(err, errno, "%s cannot be written: %s", file->path,
			strerror(errno));
	return 0;
}

/* The sources with the new file where the old one is, or would be. */
static struct aw_policy_source *sources_with(const struct aw_run *run,
	const struct aw_layer_file *file, const char *name, size_t *ret_count)
{
	const struct aw_policy_source *own = source_of(run, file);
	const struct aw_policy_source fresh = {name, file->layer, file->trust};
	struct aw_policy_source *all = calloc(run->layers.count + 1, sizeof(*all));
	bool placed = own != NULL;
	size_t count = 0;

	for (size_t i = 0; all && i < run->layers.count; i++) {
		const struct aw_policy_source *source = &run->layers.sources[i];

		if (!placed && rank_of(source->layer) > rank_of(file->layer)) {
			all[count++] = fresh;
			placed = true;
		}
		all[count++] = source == own ? fresh : *source;
	}
	if (all && !placed)
		all[count++] = fresh;
	*ret_count = count;
	return all;
}

int aw_layer_file_load(const struct aw_layer_file *file, const struct aw_run *run,
	struct aw_policy *ret, struct aw_error *err)
{
	struct aw_diagnostics problems = {.count = 0};
	AW_FREE struct aw_policy_source *sources = NULL;
	struct aw_policy_variables variables = run->layers.variables;
	size_t count;
	int failed;

	if (!variables.before) /* profiles keep the numbers that processes have */
		variables.before = &run->policy;
	sources = sources_with(run, file, file->fresh, &count);
	if (!sources)
		return aw_fail(err, ENOMEM, "out of memory");
	failed = aw_policy_load(
		sources, count, &variables, AW_ENFORCE, true, ret, &problems);
	for (size_t i = 0; failed && i < problems.count; i++)
		if (!problems.items[i].warning) {
			aw_fail(err, EINVAL,
				"with the rule %s would not load (line %u: %s); write it by hand",
				file->path, problems.items[i].line,
				problems.items[i].text);
			break;
		}
	aw_diagnostics_free(&problems);
	return failed;
}

static bool is_unchanged(const struct aw_layer_file *file)
{
	struct stat now;

	if (lstat(file->target, &now) < 0)
		return errno == ENOENT && !file->st.st_ino;
	return file->st.st_ino == now.st_ino && file->st.st_dev == now.st_dev &&
	       file->st.st_size == now.st_size &&
	       file->st.st_mtim.tv_sec == now.st_mtim.tv_sec &&
	       file->st.st_mtim.tv_nsec == now.st_mtim.tv_nsec;
}

/* The session reads a file from now on that was not there when it began. */
static int adopt(
	const struct aw_layer_file *file, struct aw_run *run, struct aw_error *err)
{
	struct aw_policy_source *all;
	AW_FREE char *name = NULL;
	size_t count;

	if (source_of(run, file))
		return 0;
	name = strdup(file->path);
	all = name ? sources_with(run, file, name, &count) : NULL;
	if (!all)
		return aw_fail(err, ENOMEM, "out of memory");
	aw_take_ptr(&name); /* it is in one of them */
	free(run->layers.sources);
	run->layers.sources = all;
	run->layers.count = count;
	return 0;
}

int aw_layer_file_replace(
	struct aw_layer_file *file, struct aw_run *run, struct aw_error *err)
{
	if (!is_unchanged(file))
		return aw_fail(err, EAGAIN,
			"%s was changed by somebody else meanwhile; answer again",
			file->path);
	if (adopt(file, run, err) < 0)
		return -1;
	if (rename(file->fresh, file->target) < 0)
		return aw_fail(err, errno, "%s cannot be replaced: %s", file->path,
			strerror(errno));
	free(file->fresh);
	file->fresh = NULL;
	return 0;
}

void aw_layer_file_release(struct aw_layer_file *file)
{
	if (file->fresh)
		unlink(file->fresh);
	free(file->fresh);
	free(file->path);
	free(file->target);
	free(file->text);
}
