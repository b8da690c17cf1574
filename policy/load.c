/* SPDX-License-Identifier: Apache-2.0 */
/* load.c - reading all sources, then one image. */
#include "policy/load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/load_internal.h"

#define FILE_MAX (1024 * 1024)

static void cannot_read(struct aw_loader *l)
{
	aw_report_at(l, 1, 1, false, "cannot be read: %s", strerror(errno));
}

/* A file that somebody else put there must not make us wait or read a device. */
static int open_source(struct aw_loader *l)
{
	bool untrusted = l->source->trust == AW_UNTRUSTED;
	int fd = open(l->source->file,
		O_RDONLY | O_CLOEXEC | O_NOCTTY | (untrusted ? O_NONBLOCK : 0));
	struct stat st;

	if (fd < 0) {
		cannot_read(l);
		return -1;
	}
	if (untrusted && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))) {
		aw_report_at(l, 1, 1, false, "is not a regular file");
		close(fd);
		return -1;
	}
	return fd;
}

static char *read_source(struct aw_loader *l, size_t *ret_len)
{
	char *bytes = malloc(FILE_MAX + 1);
	int fd = open_source(l);
	size_t len = 0;
	ssize_t n = 1;

	if (!bytes)
		l->failed = true;
	while (bytes && fd >= 0 && len <= FILE_MAX && n > 0) {
		n = read(fd, bytes + len, FILE_MAX + 1 - len);
		if (n > 0)
			len += (size_t)n;
		else if (n < 0 && errno == EINTR)
			n = 1;
	}
	if (n < 0)
		cannot_read(l);
	if (len > FILE_MAX)
		aw_report_at(l, 1, 1, false, "is larger than 1 MiB");
	if (fd >= 0)
		close(fd);
	if (fd < 0 || n < 0 || len > FILE_MAX) {
		free(bytes);
		return NULL;
	}
	*ret_len = len;
	return bytes;
}

void aw_source_load(struct aw_loader *l, const struct aw_policy_source *source,
	enum aw_stratum stratum)
{
	struct aw_tree_error err;
	struct aw_tree tree;
	size_t len;
	char *bytes;

	l->source = source;
	l->stratum = stratum;
	bytes = read_source(l, &len);
	if (!bytes)
		return;
	if (aw_tree_read(&tree, bytes, len, &err) < 0) {
		aw_report_at(l, err.line, err.column, false, "%s", err.text);
	} else {
		aw_document_read(l, tree.root);
		aw_tree_free(&tree);
	}
	free(bytes);
}

static enum aw_stratum stratum_of(enum aw_trust trust)
{
	return trust == AW_SYSTEM      ? AW_STRATUM_SYSTEM
	       : trust == AW_UNTRUSTED ? AW_STRATUM_UNTRUSTED
				       : AW_STRATUM_TRUSTED;
}

/* Lists that admit change nothing where everything is admitted anyway. */
static void warn_about_idle_lists(struct aw_loader *l)
{
	static const struct {
		enum aw_list list;
		unsigned rules;
		const char *key, *section;
	} lists[] = {
		{AW_LIST_WRITE, 0, "filesystem.write", "filesystem"},
		{AW_LIST_EXEC_ALLOW, 1, "exec.allow", "exec"},
		{AW_LIST_NET_ALLOW, 2, "network.allow", "network"},
	};
	bool told[AW_STRATA_MAX][3] = {{false}};
	struct aw_policy_source source = {NULL, NULL, AW_TRUSTED};
	size_t i, j;

	for (i = 0; i < l->draft.count; i++) {
		const struct aw_draft_entry *e = &l->draft.entries[i];

		for (j = 0; j < 3; j++) {
			if (e->list != lists[j].list || told[e->stratum][j] ||
				e->rank != AW_RANK_FILE ||
				(e->stratum == AW_STRATUM_TRUSTED &&
					aw_default_built_in(l, lists[j].rules)) ||
				l->default_set[e->stratum][lists[j].rules])
				continue;
			told[e->stratum][j] = true;
			source.file = e->file;
			/* read by the report below, and by nobody after it */
			l->source = &source; /* cppcheck-suppress autoVariables */
			aw_report_at(l, e->line, e->column, true,
				"'%s' restricts nothing: '%s.default' is not set, "
				"which means allow",
				lists[j].key, lists[j].section);
		}
	}
}

static int compile(struct aw_loader *l)
{
	static const struct aw_policy_source none = {"policy", "built-in", AW_TRUSTED};
	struct aw_error err;
	unsigned i;

	l->source = &none;
	l->draft.mode = l->policy.mode;
	for (i = 0; i < l->policy.profile_count; i++)
		l->draft.profiles[i] = l->policy.profiles[i].name;
	l->draft.profile_count = l->policy.profile_count;
	if (aw_draft_compile(&l->draft, &l->policy.image, &l->policy.image_size, &err) <
		0)
		aw_report_at(l, 1, 1, false, "%s", err.text);
	return l->policy.image ? 0 : -1;
}

int aw_policy_load(const struct aw_policy_source *sources, size_t count,
	const struct aw_policy_variables *variables, enum aw_mode mode, bool force_mode,
	struct aw_policy *ret, struct aw_diagnostics *diagnostics)
{
	struct aw_loader l = {.variables = variables, .diagnostics = diagnostics};
	int result = -1;
	size_t i;

	memset(diagnostics, 0, sizeof(*diagnostics));
	l.policy.mode = mode;
	l.policy.environment.inherit_all = true;
	aw_profiles_keep(&l);
	for (i = 0; i < count; i++)
		aw_source_load(&l, &sources[i], stratum_of(sources[i].trust));
	if (force_mode)
		l.policy.mode = mode;
	aw_preset_pick(&l);
	warn_about_idle_lists(&l);
	aw_limits_settle(&l);
	aw_builtin_add(&l);
	aw_protections_add(&l, sources, count);
	if (!diagnostics->errors && !l.failed)
		result = compile(&l);
	if (l.failed)
		diagnostics->errors++;
	aw_draft_release(&l.draft);
	aw_presets_free(&l);
	if (result < 0)
		aw_policy_release(&l.policy);
	else
		*ret = l.policy;
	return result;
}
