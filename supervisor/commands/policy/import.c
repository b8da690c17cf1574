/* SPDX-License-Identifier: Apache-2.0 */
/* import.c - agentwatch policy import. */
#include "policy/array.h"
#include "supervisor/import/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/cli/say.h"
#include "supervisor/commands/policy/policy_command.h"
#include "supervisor/util/cleanup.h"

enum { FILES_MAX = 2 };

struct values {
	const char *from, *agent, *type, *output;
};

static const struct aw_import_format formats[] = {
	{"mitto", false, 2, aw_import_mitto, NULL},
	{"picoclaw", false, 1, aw_import_picoclaw, NULL},
	{"miclaw", false, 1, aw_import_miclaw, NULL},
	{"podbot", true, 1, aw_import_podbot, NULL},
	{"srt", false, 1, aw_import_srt, NULL},
	{"claude-code", false, 1, aw_import_claude, NULL},
	{"codex", true, 1, aw_import_codex, NULL},
	{"firejail", false, 1, NULL, aw_import_firejail},
};

static int read_document(const struct aw_import_format *format, const char *file,
	struct aw_import_document *ret, struct aw_error *err)
{
	struct aw_tree_error where = {0};
	size_t len;
	AW_FREE char *bytes = aw_import_read_file(file, &len, err);

	if (!bytes)
		return -1;
	ret->file = file;
	if ((format->toml ? aw_toml_read : aw_tree_read)(
		    &ret->tree, bytes, len, &where) < 0)
		return aw_fail(err, EINVAL, "%s:%u:%u: %s", file, where.line,
			where.column, where.text);
	if (!ret->tree.root || ret->tree.root->kind != AW_NODE_MAP) {
		aw_tree_free(&ret->tree);
		return aw_fail(err, EINVAL, "%s:1:1: expected a map of settings", file);
	}
	return 0;
}

static int read_documents(const struct aw_import_format *format, char **files,
	size_t count, struct aw_import *import, struct aw_error *err)
{
	struct aw_import_document documents[FILES_MAX] = {{0}};
	size_t done = 0;
	int r = 0;

	while (!r && done < count)
		r = read_document(format, files[done], &documents[done], err) < 0
			    ? -1
			    : (done++, 0);
	if (!r)
		r = format->read(import, documents, count, err);
	while (done > 0)
		aw_tree_free(&documents[--done].tree);
	return r;
}

static int read_text(const struct aw_import_format *format, const char *file,
	struct aw_import *import, struct aw_error *err)
{
	size_t len;
	AW_FREE char *text = aw_import_read_file(file, &len, err);

	if (!text)
		return -1;
	if (strlen(text) != len)
		return aw_fail(err, EINVAL, "%s: is not a text", file);
	return format->read_text(import, text, err);
}

/* A new file of the user's own; one that is there already is not touched. */
static int write_to(
	const char *path, const struct aw_import *import, struct aw_error *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	FILE *out = fd < 0 ? NULL : fdopen(fd, "w");
	bool failed;

	if (!out)
		return aw_fail(err, errno, "%s: %s%s", path, strerror(errno),
			errno == EEXIST ? "; --output writes new files only" : "");
	aw_import_print(import, out);
	failed = ferror(out);
	failed |= fclose(out) != 0;
	if (!failed)
		return 0;
	aw_fail(err, errno, "%s: %s", path, strerror(errno));
	unlink(path);
	return -1;
}

static int import_files(
	const struct values *values, char **files, size_t count, struct aw_error *err)
{
	const struct aw_import_format *format = formats;
	struct aw_import import = {
		.file = files[0], .agent = values->agent, .type = values->type};
	int r;

	while (strcmp(format->name, values->from) != 0)
		format++;
	import.format = format->name;
	if (count > format->files_max)
		return aw_fail(err, E2BIG, "--from %s takes %s, not %zu", format->name,
			format->files_max > 1 ? "one or two files" : "one file", count);
	r = format->read ? read_documents(format, files, count, &import, err)
			 : read_text(format, files[0], &import, err);
	if (!r)
		aw_import_complete(&import);
	if (!r && import.failed)
		r = aw_fail(err, ENOMEM, "out of memory");
	if (!r && values->output)
		r = write_to(values->output, &import, err);
	else if (!r)
		aw_import_print(&import, stdout);
	if (!r)
		aw_import_say_notes(&import);
	aw_import_release(&import);
	return r;
}

static int import_main(int argc, char **argv)
{
	struct values values = {0};
	struct aw_error err;
	bool help = false;
	int first = aw_options_parse(
		&aw_command_policy_import, argc, argv, &values, &help, &err);

	if (first >= 0 && help) {
		aw_options_help(&aw_command_policy_import);
		return 0;
	}
	if (first >= 0 && !values.from)
		first = aw_fail(&err, EINVAL,
			"policy import wants --from and the format of the file");
	if (first >= 0 && first == argc)
		first = aw_fail(&err, EINVAL, "policy import wants a file");
	if (first < 0)
		return aw_say_usage(&err);
	if (import_files(&values, argv + first, (size_t)(argc - first), &err) < 0)
		return aw_say_failed(&err);
	return 0;
}

#define AT(field) offsetof(struct values, field)

static const struct aw_option import_options[] = {
	{"from", 'f', AW_OPT_CHOICE, AT(from), NULL,
		"mitto|picoclaw|miclaw|podbot|srt|claude-code|codex|firejail",
		"whose settings the file holds"},
	{"agent", 'a', AW_OPT_STRING, AT(agent), "NAME", NULL,
		"mitto: with the restrictions of this agent"},
	{"type", 0, AW_OPT_STRING, AT(type), "RUNNER", NULL,
		"mitto: resolved for this type of runner"},
	{"output", 'o', AW_OPT_STRING, AT(output), "FILE", NULL,
		"write to a new file instead of to stdout"},
};

const struct aw_command aw_command_policy_import = {
	.name = "policy import",
	.arguments = "FILE [WORKSPACE-FILE]",
	.brief = "make a policy from another tool's settings",
	.details = "The policy names the line that each entry came from.  What has no "
		   "equivalent is listed on stderr, line by line, and again at the end "
		   "of the policy.  Read it before you use it: tools differ in what is "
		   "allowed when nothing is said.\n\n"
		   "mitto takes settings.json, and a workspace's .mittorc behind it.",
	.options = import_options,
	.option_count = ARRAY_SIZE(import_options),
	.mixed = true,
	.main = import_main,
};
