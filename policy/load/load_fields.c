/* SPDX-License-Identifier: Apache-2.0 */
/* load_fields.c - keys of the document that are one word each. */
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"

const char *const aw_base_words[] = {[AW_BASE_WORKSPACE] = "workspace",
	[AW_BASE_READ_ONLY] = "read-only",
	[AW_BASE_OPEN] = "open",
	NULL};

const char *const aw_runner_words[] = {"exec", "landlock", "bwrap", "firejail",
	"docker", "podman", "user", "sandbox-exec", "restricted-token", NULL};
static const char *const engines[] = {"auto", "hybrid", "kernel", "preload", NULL};
static const char *const verdicts[] = {"local", "ask", NULL};
static const char *const missing[] = {"fail", "exec", NULL};
static const char *const strengths[] = {"kernel", "supervisor", NULL};
const char *const aw_switch_words[] = {"false", "true", NULL};

static const struct {
	const char *key;
	const char *const *words; /* NULL: the name of a log */
	size_t field;		  /* of struct aw_policy */
} fields[AW_FIELDS] = {
	[AW_FIELD_BASE] = {"base", aw_base_words, offsetof(struct aw_policy, base)},
	[AW_FIELD_RUNNER] = {"runner", aw_runner_words,
		offsetof(struct aw_policy, runner)},
	[AW_FIELD_ENGINE] = {"engine", engines, offsetof(struct aw_policy, engine)},
	[AW_FIELD_VERDICTS] = {"verdicts", verdicts,
		offsetof(struct aw_policy, verdicts)},
	[AW_FIELD_MISSING] = {"on_missing_runner", missing,
		offsetof(struct aw_policy, on_missing_runner)},
	[AW_FIELD_REQUIRE] = {"require", strengths,
		offsetof(struct aw_policy, require)},
	[AW_FIELD_QUIET] = {"quiet", aw_switch_words,
		offsetof(struct aw_policy, quiet)},
	[AW_FIELD_KEEP] = {"keep_descendants", aw_switch_words,
		offsetof(struct aw_policy, keep_descendants)},
	[AW_FIELD_LOG] = {"log", NULL, offsetof(struct aw_policy, log_text)},
};

const struct aw_shape aw_field_shapes[AW_FIELDS] = {
	[AW_FIELD_BASE] = {.kind = AW_SHAPE_WORD, .words = aw_base_words},
	[AW_FIELD_RUNNER] = {.kind = AW_SHAPE_WORD, .words = aw_runner_words},
	[AW_FIELD_ENGINE] = {.kind = AW_SHAPE_WORD, .words = engines},
	[AW_FIELD_VERDICTS] = {.kind = AW_SHAPE_WORD, .words = verdicts},
	[AW_FIELD_MISSING] = {.kind = AW_SHAPE_WORD, .words = missing},
	[AW_FIELD_REQUIRE] = {.kind = AW_SHAPE_WORD, .words = strengths},
	[AW_FIELD_QUIET] = {.kind = AW_SHAPE_SWITCH},
	[AW_FIELD_KEEP] = {.kind = AW_SHAPE_SWITCH},
	[AW_FIELD_LOG] = {.kind = AW_SHAPE_TEXT, .entry = "a path, `-` or `none`"},
};

const char *aw_base_name(enum aw_base_kind base)
{
	return aw_base_words[base];
}

char **aw_field_of(struct aw_policy *policy, int field)
{
	return (char **)(void *)((char *)policy + fields[field].field);
}

const char *aw_field_key(int field)
{
	return fields[field].key;
}

const char *aw_policy_fixed(const struct aw_policy *policy, const char *key)
{
	int i;

	if (strcmp(key, "mode") == 0 && policy->fixed & (1u << AW_FIELD_MODE))
		return "enforce";
	for (i = 0; i < AW_FIELDS; i++)
		if (strcmp(fields[i].key, key) == 0 && policy->fixed & (1u << i))
			return *aw_field_of((struct aw_policy *)policy, i);
	return NULL;
}

/* A path with its variables expanded, or a word instead of one. */
static char *log_name(struct aw_loader *l, const struct aw_node *value)
{
	return aw_expand(l, value, value->text, AW_EXPAND_PLAIN);
}

/* A word of those that may stand there, or the name of a log; NULL after an error. */
static char *field_text(struct aw_loader *l, const struct aw_node *value, int field)
{
	char *text, *copy;

	if (fields[field].words)
		return aw_word_read(l, value, fields[field].words) < 0
			       ? NULL
			       : aw_copy(l, value->text);
	if (value->kind != AW_NODE_TEXT || !value->text[0]) {
		aw_report(l, value, "expected the path of a file, '-' or 'none'");
		return NULL;
	}
	text = log_name(l, value);
	copy = text ? aw_copy(l, value->text) : NULL;
	if (text && text[0] != '/' && strcmp(text, "-") != 0 &&
		strcmp(text, "none") != 0) {
		aw_report(l, value,
			"'%.100s' is not absolute; did you mean '$HOME/%.100s'?",
			value->text, text);
		free(copy);
		copy = NULL;
	}
	free(text);
	return copy;
}

void aw_log_complete(struct aw_loader *l)
{
	static const struct aw_policy_source none = {"policy", "built-in", AW_TRUSTED};
	const struct aw_node at = {.kind = AW_NODE_TEXT,
		.line = 1,
		.column = 1,
		.text = l->policy.log_text};

	l->source = &none;
	if (at.text)
		l->policy.log = log_name(l, &at);
}

void aw_field_read(struct aw_loader *l, const struct aw_node *value, int field)
{
	char **to = aw_field_of(&l->policy, field);
	char *text = field_text(l, value, field);

	if (!text)
		return;
	if ((l->policy.fixed & (1u << field)) && l->source->trust != AW_SYSTEM) {
		if (strcmp(*to, text) != 0)
			aw_warn(l, value,
				"'%s: %s' is ignored: the system policy says %s",
				fields[field].key, value->text, *to);
		free(text);
		return;
	}
	if (l->source->trust == AW_SYSTEM)
		l->policy.fixed |= 1u << field;
	free(*to);
	*to = text;
	if (field == AW_FIELD_BASE)
		l->replaced = false; /* said again, above what was replaced */
	aw_origin_add(l, value, fields[field].key, text);
}

void aw_runner_read(struct aw_loader *l, const struct aw_node *value)
{
	aw_field_read(l, value, AW_FIELD_RUNNER);
}
