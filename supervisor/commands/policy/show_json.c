/* SPDX-License-Identifier: Apache-2.0 */
/* show_json.c - the effective policy as JSON. */
#include "supervisor/commands/policy/show_json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/util/cleanup.h"

enum { DEPTH_MAX = 8 };

/* Two trees of the same shape, and where they have got to. */
struct trees {
	cJSON *policy[DEPTH_MAX], *origins[DEPTH_MAX];
	unsigned depth;
	bool failed;
};

/* Hand item over to the tree; key is NULL in a list. */
static void put(struct trees *t, cJSON *parent, const char *key, cJSON *item)
{
	bool good = item && (key ? cJSON_AddItemToObject(parent, key, item)
				 : cJSON_AddItemToArray(parent, item));

	if (good)
		return;
	t->failed = true;
	cJSON_Delete(item);
}

/* With the escapes that YAML takes too, since policies are read by it. */
static cJSON *make_text(const char *text)
{
	AW_FREE char *quoted = NULL;
	size_t size;
	FILE *out = open_memstream(&quoted, &size);

	if (!out)
		return NULL;
	aw_policy_print_quoted(text, out);
	return fclose(out) == 0 ? cJSON_CreateRaw(quoted) : NULL;
}

static cJSON *make_value(const char *text, bool plain)
{
	if (plain && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0))
		return cJSON_CreateBool(text[0] == 't');
	if (plain && text[0] && text[strspn(text, "0123456789.")] == '\0')
		return cJSON_CreateRaw(text);
	return make_text(text);
}

static void on_open(void *to, const char *key, bool list)
{
	struct trees *t = to;
	unsigned level = t->depth;

	if (t->failed || level == DEPTH_MAX) {
		t->failed = true;
		return;
	}
	t->policy[level] = list ? cJSON_CreateArray() : cJSON_CreateObject();
	t->origins[level] = list ? cJSON_CreateArray() : cJSON_CreateObject();
	if (level) {
		put(t, t->policy[level - 1], key, t->policy[level]);
		put(t, t->origins[level - 1], key, t->origins[level]);
	}
	t->failed |= !t->policy[level] || !t->origins[level];
	t->depth++;
}

static void on_close(void *to)
{
	struct trees *t = to;

	if (!t->failed)
		t->depth--;
}

static cJSON *make_origin(struct trees *t, const struct aw_where *where)
{
	cJSON *origin = where->layer ? cJSON_CreateObject() : cJSON_CreateNull();

	if (!origin || !where->layer)
		return origin;
	put(t, origin, "file", make_text(where->file));
	put(t, origin, "line", cJSON_CreateNumber(where->line));
	put(t, origin, "layer", make_text(where->layer));
	return origin;
}

static void on_value(void *to, const char *key, const char *text, bool plain,
	const struct aw_where *where)
{
	struct trees *t = to;

	if (t->failed)
		return;
	put(t, t->policy[t->depth - 1], key, make_value(text, plain));
	put(t, t->origins[t->depth - 1], key, make_origin(t, where));
}

static void on_remark(void *to, const char *text)
{
	(void)to;
	(void)text;
}

int aw_show_json(const struct aw_policy *policy, FILE *out, struct aw_error *err)
{
	static const struct aw_policy_teller teller = {
		on_open, on_close, on_value, on_remark};
	struct trees t = {.depth = 0};
	cJSON *both = cJSON_CreateObject();
	char *text = NULL;

	aw_policy_tell(policy, &teller, &t);
	if (both && !t.failed) {
		put(&t, both, "policy", t.policy[0]);
		put(&t, both, "origins", t.origins[0]);
		text = cJSON_Print(both);
	} else {
		cJSON_Delete(t.policy[0]);
		cJSON_Delete(t.origins[0]);
	}
	cJSON_Delete(both);
	if (!text || t.failed) {
		free(text);
		return aw_fail(err, ENOMEM, "writing the policy: out of memory");
	}
	fprintf(out, "%s\n", text);
	free(text);
	return 0;
}
