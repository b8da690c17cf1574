/* SPDX-License-Identifier: Apache-2.0 */
/* image_exec.c - may this program run, with these arguments? */
#include <string.h>

#include "policy/glob.h"
#include "policy/image/image_layout.h"

struct run {
	const char *path, *base;
	size_t len, base_len;
	const char *const *argv;
	size_t argc;
};

static bool name_matches(const struct aw_image *image,
	const struct aw_image_command *command, const struct run *run)
{
	const char *name = aw_image_bytes(image, command->name);

	if (command->flags & AW_COMMAND_PATH)
		return aw_glob_covers(name, command->name_len, run->path, run->len);
	return aw_glob_match(name, command->name_len, run->base, run->base_len);
}

static bool words_match(const struct aw_image *image,
	const struct aw_image_command *command, const struct run *run)
{
	const struct aw_image_word *words = aw_part_at(image, AW_PART_WORDS);
	size_t given = run->argc > 0 ? run->argc - 1 : 0, want = command->word_count, i;

	if (command->flags & AW_COMMAND_ANY)
		return true;
	if (!run->argv || run->argc == 0)
		return false;
	if (given > want && !(command->flags & AW_COMMAND_OPEN))
		return false;
	if (given < want &&
		(!(command->flags & AW_COMMAND_OPTIONAL) || given + 1 < want))
		return false;
	for (i = 0; i < want && i < given; i++) {
		const struct aw_image_word *word = &words[command->word_first + i];
		const char *arg = run->argv[i + 1];

		if (!arg || !aw_glob_match(aw_image_bytes(image, word->text), word->len,
				    arg, strlen(arg)))
			return false;
	}
	return true;
}

static void try_commands(const struct aw_image *image, uint32_t first, uint32_t end,
	const struct run *run, struct aw_matches *m)
{
	const struct aw_image_command *commands = aw_part_at(image, AW_PART_COMMANDS);
	const struct aw_image_entry *entries = aw_part_at(image, AW_PART_ENTRIES);

	for (; first < end; first++)
		if (name_matches(image, &commands[first], run) &&
			words_match(image, &commands[first], run))
			aw_matches_add(m, entries, commands[first].entry);
}

static struct run run_of(
	const char *path, size_t len, const char *const *argv, size_t argc)
{
	struct run run = {path, path, len, len, argv, argc};
	size_t i;

	for (i = 0; i < len; i++)
		if (path[i] == '/') {
			run.base = path + i + 1;
			run.base_len = len - i - 1;
		}
	return run;
}

void aw_image_match_programs(const struct aw_image *image, const char *path, size_t len,
	const char *const *argv, size_t argc, struct aw_matches *m)
{
	const struct run run_ = run_of(path, len, argv, argc), *run = &run_;
	const struct aw_part *buckets = &image->parts[AW_PART_COMMAND_BUCKETS];
	const uint32_t *starts = aw_part_at(image, AW_PART_COMMAND_BUCKETS);
	uint32_t first, end;

	aw_bucket(image, AW_PART_COMMAND_BUCKETS,
		aw_hash_end(aw_hash_bytes(image->seed, run->base, run->base_len), 0),
		&first, &end);
	try_commands(image, first, end, run, m);
	try_commands(image, starts[buckets->count - 1],
		image->parts[AW_PART_COMMANDS].count, run, m);
}

static void judge_exec(const struct aw_image *image, unsigned s,
	const struct aw_matches *m, struct aw_decision *ret)
{
	uint32_t rule;

	if (aw_matches_hold(image, m, s, AW_LIST_EXEC_DENY, &rule))
		aw_decision_add(ret, AW_DENY, rule);
	else if (aw_matches_hold(image, m, s, AW_LIST_EXEC_ASK, &rule))
		aw_decision_add(ret, AW_ASK, rule);
	else if (aw_matches_hold(image, m, s, AW_LIST_EXEC_ALLOW, &rule))
		aw_decision_add(ret, AW_ALLOW, rule);
	else if (image->strata[s].exec != AW_DEFAULT_ALLOW)
		aw_decision_add(ret, AW_DENY, AW_NO_RULE);
}

void aw_image_decide_exec(const struct aw_image *image, const char *path, size_t len,
	const char *const *argv, size_t argc, struct aw_decision *ret)
{
	aw_image_decide_exec_in(image, 0, path, len, argv, argc, ret);
}

void aw_image_decide_exec_in(const struct aw_image *image, uint32_t profiles,
	const char *path, size_t len, const char *const *argv, size_t argc,
	struct aw_decision *ret)
{
	struct aw_decision files = {AW_ALLOW, AW_NO_RULE};
	uint32_t windows = aw_windows_of(profiles);
	struct aw_window w;
	struct aw_matches m;
	unsigned s;

	ret->verdict = AW_ALLOW;
	ret->rule = AW_NO_RULE;
	while (aw_window_next(image, &windows, &w)) {
		aw_image_walk(image, AW_WALK_READS, &w, path, len, &m);
		aw_image_match_programs(image, path, len, argv, argc, &m);
		for (s = w.first; s < w.end; s++) {
			if (!aw_stratum_speaks(image, s))
				continue;
			aw_image_judge_files(image, s, AW_READ, &m, &files);
			judge_exec(image, s, &m, ret);
		}
	}
	aw_decision_add(ret, files.verdict, files.rule);
}
