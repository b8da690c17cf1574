/* SPDX-License-Identifier: Apache-2.0 */
/* load_vars.c - $NAME, ${NAME}, $env:NAME and "~". */
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"

#define NAME_MAX_LEN 128

static const char *const names[] = {
	"WORKSPACE", "HOME", "USER", "TMPDIR", "AGENTWATCH_DIR", NULL};

struct expansion {
	struct aw_loader *l;
	const struct aw_node *at;
	enum aw_expand how;
	struct aw_bytes out;
	bool wrong; /* reported */
};

const char *aw_environment(const char *name, size_t len)
{
	char text[NAME_MAX_LEN];
	const char *value;

	if (len >= sizeof(text))
		return NULL;
	memcpy(text, name, len);
	text[len] = '\0';
	value = getenv(text);
	return value && value[0] ? value : NULL;
}

static const char *variable(const struct aw_policy_variables *v, size_t index)
{
	const char *const values[] = {
		v->workspace, v->home, v->user, v->tmpdir, v->agentwatch_dir};

	return values[index];
}

static void put_value(struct expansion *x, const char *value)
{
	for (; *value; value++) {
		if (x->how == AW_EXPAND_PATTERN && strchr("*?[]\\ \t", *value))
			aw_bytes_add(&x->out, "\\", 1);
		aw_bytes_add(&x->out, value, 1);
	}
}

static size_t name_length(const char *text)
{
	size_t len = 0;

	while ((text[len] >= 'A' && text[len] <= 'Z') ||
		(text[len] >= 'a' && text[len] <= 'z') || text[len] == '_' ||
		(len > 0 && text[len] >= '0' && text[len] <= '9'))
		len++;
	return len;
}

static void put_environment(struct expansion *x, const char *name, size_t len)
{
	const char *value = aw_environment(name, len);

	if (x->l->source->trust == AW_UNTRUSTED)
		aw_report(x->l, x->at,
			"'$env:' has no meaning in a file that is not trusted");
	else if (!value && !x->l->idle) /* what does not count needs none */
		aw_report(x->l, x->at, "the environment has no '%.*s'", (int)len, name);
	else if (value)
		put_value(x, value);
	x->wrong |= !value || x->l->source->trust == AW_UNTRUSTED;
}

static void unknown_variable(struct expansion *x, const char *name, size_t len)
{
	char text[NAME_MAX_LEN] = "";
	const char *nearest;

	snprintf(text, sizeof(text), "%.*s", (int)(len > 64 ? 64 : len), name);
	nearest = aw_nearest(text, names);
	if (nearest)
		aw_report(x->l, x->at, "unknown variable '$%s'; did you mean '$%s'?",
			text, nearest);
	else
		aw_report(x->l, x->at,
			"unknown variable '$%s'; an environment variable is written '$env:%s'",
			text, text);
	x->wrong = true;
}

static void put_variable(struct expansion *x, const char *name, size_t len)
{
	size_t i;

	if (len > 4 && strncmp(name, "env:", 4) == 0) {
		put_environment(x, name + 4, len - 4);
		return;
	}
	for (i = 0; names[i]; i++)
		if (strlen(names[i]) == len && strncmp(names[i], name, len) == 0)
			break;
	if (!names[i]) {
		unknown_variable(x, name, len);
	} else if (!variable(x->l->variables, i)) {
		aw_report(x->l, x->at, "'$%s' has no value here", names[i]);
		x->wrong = true;
	} else {
		put_value(x, variable(x->l->variables, i));
	}
}

/* What is wrong with a "$" that no variable follows; text stands behind it. */
static void no_variable(struct expansion *x, const char *text, const char *end)
{
	size_t len = strcspn(text, "}");
	int shown = (int)(len < 60 ? len + strspn(text + len, "}") : 60);

	if (*text == '{' && *end == '$')
		aw_report(x->l, x->at,
			"'$%.*s' has a variable inside the name of another, which "
			"means nothing; write one behind the other",
			shown, text);
	else if (*text == '{' && !strchr(text, '}'))
		aw_report(
			x->l, x->at, "'$%.60s' is never closed; '}' is missing", text);
	else
		aw_report(x->l, x->at,
			"'$' without the name of a variable; the sign itself is written '\\$'");
	x->wrong = true;
}

/* text stands behind a "$"; returns what follows the variable. */
static const char *take_variable(struct expansion *x, const char *text)
{
	bool braces = *text == '{';
	const char *name = text + braces;
	size_t prefix = strncmp(name, "env:", 4) == 0 ? 4 : 0;
	size_t len = name_length(name + prefix);

	if (len == 0 || (braces && name[prefix + len] != '}')) {
		no_variable(x, text, name + prefix + len);
		return text + strlen(text);
	}
	put_variable(x, name, prefix + len);
	return name + prefix + len + braces;
}

static const char *take_home(struct expansion *x, const char *text)
{
	if (*text != '~')
		return text;
	if (x->how == AW_EXPAND_PLAIN && text[1] != '/')
		return text;
	if (text[1] != '\0' && text[1] != '/') {
		aw_report(x->l, x->at,
			"'~' is your own home only; write the path of another user's");
		x->wrong = true;
		return text + strlen(text);
	}
	put_variable(x, "HOME", 4);
	return text + 1;
}

char *aw_expand(struct aw_loader *l, const struct aw_node *at, const char *text,
	enum aw_expand how)
{
	struct expansion x = {.l = l, .at = at, .how = how};

	text = take_home(&x, text);
	while (*text) {
		if (*text == '$') {
			text = take_variable(&x, text + 1);
		} else if (*text == '\\' && text[1]) {
			if (how == AW_EXPAND_PATTERN || !strchr("\\$", text[1]))
				aw_bytes_add(&x.out, text, 1);
			aw_bytes_add(&x.out, text + 1, 1);
			text += 2;
		} else {
			aw_bytes_add(&x.out, text++, 1);
		}
	}
	aw_bytes_add(&x.out, "", 1);
	l->failed |= x.out.failed;
	if (x.wrong || x.out.failed) {
		aw_bytes_free(&x.out);
		return NULL;
	}
	return x.out.data;
}
