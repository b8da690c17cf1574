/* SPDX-License-Identifier: Apache-2.0 */
/* options_environment.c - variables that look like options and are none. */
#include "policy/array.h"
#include "supervisor/cli/options.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/cli/say.h"
#include "supervisor/cli/suggest.h"

enum { VARIABLE_MAX = 96, UNKNOWN_MAX = 400, KNOWN_MAX = 1200 };

static const char prefix[] = "AGENTWATCH_";

/* Of our own making: the library's, in the engine preload. */
static const char *const ours[] = {"AGENTWATCH_SOCKET"};

/* Is it an option of any command?  If not, the nearest of them, or "". */
static bool is_known(const char *variable, char near[VARIABLE_MAX])
{
	char names[VARIABLE_MAX];
	struct aw_suggestion best;

	near[0] = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		if (strcmp(variable, ours[i]) == 0)
			return true;
	for (size_t c = 0; c < aw_command_count; c++) {
		for (size_t i = 0; i < aw_commands[c]->option_count; i++) {
			aw_option_variable(
				&aw_commands[c]->options[i], names, sizeof(names));
			if (strcmp(names, variable) == 0)
				return true;
			if (near[0])
				continue;
			aw_suggest_init(&best, variable + sizeof(prefix) - 1);
			aw_suggest_offer(&best, names + sizeof(prefix) - 1);
			if (aw_suggest_best(&best))
				snprintf(near, VARIABLE_MAX, "%s", names);
		}
	}
	return false;
}

static void list_known(const struct aw_command *command, char *to, size_t size)
{
	size_t used = 0;

	to[0] = '\0';
	for (size_t i = 0; i < command->option_count && used < size; i++) {
		char name[VARIABLE_MAX];

		aw_option_variable(&command->options[i], name, sizeof(name));
		used += (size_t)snprintf(
			to + used, size - used, "%s%s", i ? ", " : "", name);
	}
}

void aw_options_check_environment(const struct aw_command *command)
{
	char unknown[UNKNOWN_MAX] = "", known[KNOWN_MAX], near[VARIABLE_MAX];
	size_t used = 0;

	if (!command->option_count)
		return;
	for (char **e = environ; *e && used < sizeof(unknown); e++) {
		char variable[VARIABLE_MAX];

		if (strncmp(*e, prefix, sizeof(prefix) - 1) != 0)
			continue;
		snprintf(variable, sizeof(variable), "%.*s", (int)strcspn(*e, "="), *e);
		if (is_known(variable, near))
			continue;
		used += (size_t)snprintf(unknown + used, sizeof(unknown) - used,
			"%s%s%s%s%s", used ? ", " : "", variable,
			near[0] ? " (did you mean " : "", near, near[0] ? "?)" : "");
	}
	if (!used)
		return;
	list_known(command, known, sizeof(known));
	aw_say("warning: in the environment and without effect, since no option has "
	       "that name: %s; agentwatch %s knows %s",
		unknown, command->name, known);
}
