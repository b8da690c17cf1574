/* SPDX-License-Identifier: Apache-2.0 */
/* trust.c - agentwatch trust and untrust. */
#include "policy/array.h"
#include "supervisor/launch/trust.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/cli/say.h"
#include "supervisor/commands/policy/policy_command.h"
#include "supervisor/lint/permission_diff.h"
#include "supervisor/process/inside.h"
#include "supervisor/util/cleanup.h"
#include "supervisor/util/json.h"

struct trust_options {
	bool list, json;
};

/* --- trust: print, compare, record --- */

/* The bytes that are trusted, as a terminal may show them. */
static void print_bytes(const char *file, const char *bytes, size_t len)
{
	unsigned number = 0;

	printf("%s:\n", file);
	for (size_t at = 0; at < len; at++) {
		const char *end = memchr(bytes + at, '\n', len - at);
		size_t line = end ? (size_t)(end - bytes) - at : len - at;
		AW_FREE char *shown = aw_shown(bytes + at, line);

		printf("%5u  %s\n", ++number, shown ? shown : "?");
		at += line;
	}
}

/* Load these sources as if they held in enforce. */
static int load(const struct aw_layers *layers, const struct aw_policy_source *sources,
	size_t count, const struct aw_policy_judged *judged, struct aw_policy *ret)
{
	struct aw_policy_variables variables = layers->variables;
	struct aw_diagnostics found = {.count = 0};
	int r;

	variables.judged = judged;
	r = aw_policy_load(sources, count, &variables, AW_ENFORCE, false, ret, &found);
	if (r < 0)
		aw_diagnostics_print(&found, stderr);
	aw_diagnostics_free(&found);
	return r;
}

/* Print what trusting would change: the policy without the file, and with it. */
static int compare(const struct aw_layers *layers,
	const struct aw_policy_judged *judged, struct aw_error *err)
{
	AW_FREE struct aw_policy_source *sources =
		calloc(layers->count + 1, sizeof(*sources));
	struct aw_policy without = {.image = NULL}, with = {.image = NULL};
	size_t count = 0;
	int r = -1;

	if (!sources)
		return aw_fail(err, ENOMEM, "out of memory");
	for (size_t i = 0; i < layers->count; i++)
		if (strcmp(layers->sources[i].layer, "workspace") != 0)
			sources[count++] = layers->sources[i];
	sources[count] =
		(struct aw_policy_source){judged->file, "workspace", AW_TRUSTED};
	if (load(layers, sources, count, NULL, &without) < 0)
		aw_fail(err, EINVAL,
			"nothing was recorded, since the other policy files here have mistakes");
	else if (load(layers, sources, count + 1, judged, &with) < 0)
		aw_fail(err, EINVAL,
			"nothing was recorded, since the policy has mistakes");
	else {
		puts("What it would loosen in mode enforce:");
		if (!aw_permission_diff_print(&without, &with, stdout))
			puts("  nothing");
		r = 0;
	}
	aw_policy_release(&without);
	aw_policy_release(&with);
	return r;
}

static int trust(const char *folder, struct aw_error *err)
{
	const struct aw_layers_params params = {.workspace = folder};
	struct aw_policy_judged judged = {.file = NULL};
	char sha256[AW_SHA256_TEXT];
	AW_FREE char *bytes = NULL;
	struct aw_layers layers;
	uid_t owner;
	int r;

	if (aw_layers_find(&params, &layers, err) < 0)
		return -1;
	judged.file = layers.trust->file;
	r = aw_trust_read_file(judged.file, &bytes, &judged.len, &owner, err);
	if (r < 0) {
		aw_while(err, "%s", judged.file);
	} else {
		judged.bytes = bytes;
		aw_sha256(bytes, judged.len, sha256);
		print_bytes(judged.file, bytes, judged.len);
		r = compare(&layers, &judged, err);
	}
	if (!r)
		r = aw_trust_record(layers.variables.workspace, sha256, owner, err);
	if (!r)
		printf("Trusted until it changes: %s\n", judged.file);
	aw_layers_release(&layers);
	return r;
}

/* --- trust --list --- */

static void list_text(
	const struct aw_trust_record *record, const struct aw_trust_judgement *j)
{
	AW_FREE char *name = aw_shown(record->workspace, strlen(record->workspace));
	AW_FREE char *why = j->text ? aw_shown(j->text, strlen(j->text)) : NULL;

	printf("%-10s  %s  %.12s  %s\n", aw_trust_word(j->state), record->date,
		record->sha256, name ? name : "?");
	if (why)
		printf("            %s\n", why);
}

static void put(struct aw_json *json, const char *key, const char *text)
{
	aw_json_raw(json, ",", json->len > 1);
	aw_json_string(json, key, strlen(key));
	AW_JSON_LITERAL(json, ":");
	aw_json_string(json, text, strlen(text));
}

static void list_json(
	const struct aw_trust_record *record, const struct aw_trust_judgement *j)
{
	struct aw_json json = {.bytes = NULL};

	AW_JSON_LITERAL(&json, "{");
	put(&json, "workspace", record->workspace);
	put(&json, "file", j->file);
	put(&json, "sha256", record->sha256);
	put(&json, "date", record->date);
	put(&json, "state", aw_trust_word(j->state));
	if (j->text)
		put(&json, "text", j->text);
	AW_JSON_LITERAL(&json, ",\"owner\":");
	aw_json_unsigned(&json, record->owner);
	AW_JSON_LITERAL(&json, "}\n");
	fwrite(json.bytes, 1, json.failed ? 0 : json.len, stdout);
	aw_json_free(&json);
}

static int list_all(bool as_json, struct aw_error *err)
{
	struct aw_trust_records records;
	int r = aw_trust_read(&records, err);

	for (size_t i = 0; !r && i < records.count; i++) {
		struct aw_trust_judgement *j;

		r = aw_trust_judge(records.items[i].workspace, &j, err);
		if (r < 0)
			break;
		(as_json ? list_json : list_text)(&records.items[i], j);
		aw_trust_free(j);
	}
	aw_trust_records_release(&records);
	return r;
}

/* --- untrust --- */

/* A directory that is gone still has a record. */
static char *workspace_of(const char *folder, struct aw_error *err)
{
	const struct aw_layers_params params = {.workspace = folder};
	struct aw_layers layers;
	char *name;

	if (folder && folder[0] == '/' && access(folder, F_OK) < 0)
		return strdup(folder);
	if (aw_layers_find(&params, &layers, err) < 0)
		return NULL;
	name = strdup(layers.variables.workspace);
	aw_layers_release(&layers);
	return name;
}

static int untrust(const char *folder, struct aw_error *err)
{
	AW_FREE char *workspace = workspace_of(folder, err);
	bool found;

	if (!workspace || aw_trust_forget(workspace, &found, err) < 0)
		return -1;
	if (!found)
		return aw_fail(err, ENOENT,
			"%s was not trusted; agentwatch trust --list says what is",
			workspace);
	printf("Not trusted any more: %s/" AW_TRUST_FILE "\n", workspace);
	return 0;
}

/* --- both commands --- */

static int main_of(const struct aw_command *command, int argc, char **argv)
{
	struct trust_options values = {false, false};
	struct aw_error err;
	bool help = false;
	int first = aw_options_parse(command, argc, argv, &values, &help, &err), r;

	if (first >= 0 && help) {
		aw_options_help(command);
		return 0;
	}
	if (first >= 0 && argc > first + !values.list)
		first = aw_fail(&err, EINVAL, "%s takes %s, but '%s' was given, too",
			command->name,
			values.list ? "no directory with --list" : "one directory",
			argv[first + !values.list]);
	if (first >= 0 && values.json && !values.list)
		first = aw_fail(&err, EINVAL, "--json belongs to --list");
	if (first < 0)
		return aw_say_usage(&err);
	if (values.list)
		r = list_all(values.json, &err);
	else if ((r = aw_refuse_inside(command->name, &err)) == 0)
		r = (command == &aw_command_trust ? trust : untrust)(argv[first], &err);
	return r < 0 ? aw_say_failed(&err) : 0;
}

static int trust_main(int argc, char **argv)
{
	return main_of(&aw_command_trust, argc, argv);
}

static int untrust_main(int argc, char **argv)
{
	return main_of(&aw_command_untrust, argc, argv);
}

#define AT(field) offsetof(struct trust_options, field)

static const struct aw_option trust_options[] = {
	{"list", 'l', AW_OPT_FLAG, AT(list), NULL, NULL,
		"print what is trusted, and whether it still holds"},
	{"json", 0, AW_OPT_FLAG, AT(json), NULL, NULL,
		"with --list: one JSON object a line"},
};

const struct aw_command aw_command_trust = {
	.name = "trust",
	.arguments = "[DIR]",
	.brief = "let a workspace's policy count as a whole",
	.details =
		"A workspace's .agentwatch.yaml comes with the repository, so it can only tighten "
		"until you have read it and trust it.  This prints the file and what it would "
		"loosen, then records the SHA-256 of its bytes outside the workspace.  DIR is the "
		"workspace; default: the git repository, else the working directory.\n\n"
		"A file whose bytes change is not trusted any more, nor one that is a symbolic "
		"link, belongs to neither you nor root, or can be written by others.  When a "
		"trusted file is not there any more, run refuses to start in mode enforce.",
	.options = trust_options,
	.option_count = ARRAY_SIZE(trust_options),
	.mixed = true,
	.main = trust_main,
};

const struct aw_command aw_command_untrust = {
	.name = "untrust",
	.arguments = "[DIR]",
	.brief = "take the trust in a workspace's policy back",
	.details = "From then on the workspace's .agentwatch.yaml can only tighten.  "
		   "DIR is as for agentwatch trust; it need not be there any more.",
	.mixed = true,
	.main = untrust_main,
};
