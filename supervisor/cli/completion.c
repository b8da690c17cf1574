/* SPDX-License-Identifier: Apache-2.0 */
/* completion.c - agentwatch completion: scripts for bash, zsh and fish. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/array.h"
#include "supervisor/cli/completion_internal.h"
#include "supervisor/cli/manual.h"
#include "supervisor/cli/say.h"

/* Write the completion script; false for a shell that is not known. */
static bool write_completion(const char *shell, FILE *out)
{
	static const struct {
		const char *shell;
		void (*write)(FILE *out);
	} writers[] = {{"bash", aw_completion_bash}, {"zsh", aw_completion_zsh},
		{"fish", aw_completion_fish}};

	for (size_t i = 0; i < ARRAY_SIZE(writers); i++) {
		if (!strcmp(writers[i].shell, shell)) {
			writers[i].write(out);
			return true;
		}
	}
	return false;
}

static int completion_main(int argc, char **argv)
{
	struct aw_error err;
	bool help;
	int first =
		aw_options_parse(&aw_command_completion, argc, argv, NULL, &help, &err);

	if (first >= 0 && help) {
		aw_options_help(&aw_command_completion);
		return 0;
	}
	if (first >= 0 && argc - first != 1)
		first = aw_fail(
			&err, EINVAL, "completion wants one shell: bash, zsh or fish");
	if (first >= 0 && !write_completion(argv[first], stdout))
		first = aw_fail(&err, EINVAL,
			"there is no completion for '%s', only for bash, zsh and fish",
			argv[first]);
	return first < 0 ? aw_say_usage(&err) : 0;
}

const struct aw_command aw_command_completion = {
	.name = "completion",
	.arguments = "bash|zsh|fish",
	.brief = "print a completion script for a shell",
	.details = "For bash: source <(agentwatch completion bash).  For zsh put the "
		   "script as _agentwatch into a directory of $fpath, for fish as "
		   "agentwatch.fish into ~/.config/fish/completions.",
	.main = completion_main,
};
