/* SPDX-License-Identifier: Apache-2.0 */
/* reason.c - why something was refused, in words. */
#include "supervisor/decide/reason.h"

#include <stdio.h>
#include <string.h>

#include "policy/image/mask.h"
#include "policy/image/profile.h"
#include "policy/load/load.h"

static const char *const keys[] = {
	[AW_RULE_FILES] = "filesystem.default",
	[AW_RULE_EXEC] = "exec.default",
	[AW_RULE_NETWORK] = "network.default",
};

static enum aw_rule_section section_of(const struct aw_event *event)
{
	if (event->family || event->host.len)
		return AW_RULE_NETWORK;
	return event->action == AW_EXEC ? AW_RULE_EXEC : AW_RULE_FILES;
}

/* A default that refuses this; "read-only" refuses changes. */
static bool refuses(const char *value, enum aw_action action)
{
	if (strcmp(value, "read-only") == 0)
		return action != AW_READ && action != AW_EXEC && action != AW_METADATA;
	return strcmp(value, "allow") != 0;
}

static bool by_profile(const struct aw_image *image, const struct aw_event *event,
	enum aw_rule_section section, char *out)
{
	for (unsigned i = 0; i < aw_image_profiles(image); i++) {
		const char *value = aw_image_default(
			image, (enum aw_rules_of)(AW_RULES_OF + i), section);

		if (!(event->profiles >> i & 1) || !refuses(value, event->action))
			continue;
		snprintf(out, AW_REASON_SIZE, "profiles.%s.%s: %s",
			aw_image_profile_name(image, i), keys[section], value);
		return true;
	}
	return false;
}

static bool by_default(const struct aw_watch *watch, const struct aw_image *image,
	const struct aw_event *event, enum aw_rule_section section, char *out)
{
	const struct aw_origin *origins = atomic_load(&watch->origins);
	struct aw_given given = {.line = 0};

	for (int of = 0; of < AW_RULES_PROTECTIONS; of++) {
		const char *value =
			aw_image_default(image, (enum aw_rules_of)of, section);

		if (!refuses(value, event->action))
			continue;
		for (size_t n = 0; aw_origin_given(origins, keys[section], n, &given);
			n++)
			if (strcmp(given.value, value) == 0)
				break;
		if (given.line)
			snprintf(out, AW_REASON_SIZE, "%s: %s (%.300s:%u)",
				keys[section], value, given.file, given.line);
		else
			snprintf(out, AW_REASON_SIZE, "%s: %s (built-in)",
				keys[section], value);
		return true;
	}
	return false;
}

/* Programs and sockets are files, too: where their own default is no reason. */
static void of_default(
	const struct aw_watch *watch, const struct aw_event *event, char *out)
{
	const struct aw_image *image = atomic_load(&watch->image);
	enum aw_rule_section section = section_of(event);

	if (by_default(watch, image, event, section, out) ||
		by_profile(image, event, section, out))
		return;
	if (event->action == AW_BIND)
		snprintf(out, AW_REASON_SIZE, "network.listen has no such entry");
	else if (section != AW_RULE_FILES &&
		 !by_default(watch, image, event, AW_RULE_FILES, out))
		by_profile(image, event, AW_RULE_FILES, out);
}

/* A place in git's configuration and what stands there; of a long name, the end. */
static void of_key(const struct aw_rule *rule, char *out)
{
	enum { FILE_MOST = 200 };
	size_t len = strlen(rule->file);

	snprintf(out, AW_REASON_SIZE, "%s%s:%u: %.280s", len > FILE_MOST ? "..." : "",
		rule->file + (len > FILE_MOST ? len - FILE_MOST : 0), rule->line,
		rule->text + strlen(AW_GIT_CONFIG_RULE));
}

/* A configuration that is not renamed onto: what would come cannot be judged. */
static bool is_judged_by_keys(
	const struct aw_watch *watch, const struct aw_event *event)
{
	const struct aw_image *image = atomic_load(&watch->image);
	uint32_t rule;

	return (event->action == AW_WRITE || event->action == AW_CREATE) &&
	       !event->path2.len && event->path.len &&
	       aw_image_keyed(image, event->path.bytes, event->path.len, &rule);
}

static void of_rule(
	const struct aw_watch *watch, const struct aw_event *event, char *out)
{
	const struct aw_rule *rule = event->rule;
	const char *text = rule->text ? rule->text : "";

	if (aw_reason_is_key(rule->file, text))
		of_key(rule, out);
	else if (rule->file && strcmp(rule->file, "protections") == 0)
		snprintf(out, AW_REASON_SIZE, "protections: %.300s%s", text,
			is_judged_by_keys(watch, event)
				? ": only a new file may be renamed onto it, whose "
				  "keys are judged"
				: "");
	else
		snprintf(out, AW_REASON_SIZE, "rule '%.300s' of %.100s:%u", text,
			rule->file ? rule->file : "?", rule->line);
}

bool aw_reason_is_key(const char *file, const char *text)
{
	return file && text && file[0] == '/' &&
	       strncmp(text, AW_GIT_CONFIG_RULE, strlen(AW_GIT_CONFIG_RULE)) == 0;
}

void aw_reason(const struct aw_watch *watch, const struct aw_event *event,
	char out[AW_REASON_SIZE])
{
	out[0] = '\0';
	if (event->verdict == AW_ALLOW)
		return;
	if (event->verdict == AW_ASK && !event->ask_denied)
		return;
	if (event->why)
		snprintf(out, AW_REASON_SIZE, "%s", event->why);
	else if (event->rule)
		of_rule(watch, event, out);
	else if (event->judged)
		of_default(watch, event, out);
}
