/* SPDX-License-Identifier: Apache-2.0 */
/* schema.c - agentwatch policy schema: the keys of a policy as JSON Schema or a page. */
#include <cjson/cJSON.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "policy/array.h"
#include "policy/load/load_shape.h"
#include "supervisor/cli/say.h"
#include "supervisor/commands/policy/policy_command.h"

struct schema_options {
	const char *format;
};

/* --- JSON Schema, draft 2020-12 --- */

/* Any sign that is no blank, behind a "!". */
#define ENTRY_PATTERN "^(?!!?[ \\t\\r\\n]*$)"

/* The name of a variable. */
#define NAME_PATTERN "^[^=!$][^=]*$"

static cJSON *typed(const char *type)
{
	cJSON *schema = cJSON_CreateObject();

	cJSON_AddStringToObject(schema, "type", type);
	return schema;
}

static cJSON *text_schema(const char *pattern)
{
	cJSON *schema = typed("string");

	cJSON_AddStringToObject(schema, "pattern", pattern);
	return schema;
}

static cJSON *word_schema(const struct aw_shape *shape)
{
	cJSON *schema = cJSON_CreateObject();
	cJSON *words = cJSON_AddArrayToObject(schema, "enum");

	for (size_t i = 0; shape->words[i]; i++)
		cJSON_AddItemToArray(words, cJSON_CreateString(shape->words[i]));
	return schema;
}

static cJSON *any_of(cJSON *first, cJSON *second)
{
	cJSON *schema = cJSON_CreateObject();
	cJSON *of = cJSON_AddArrayToObject(schema, "anyOf");

	cJSON_AddItemToArray(of, first);
	cJSON_AddItemToArray(of, second);
	return schema;
}

static cJSON *amount_schema(const struct aw_shape *shape)
{
	cJSON *number = typed(shape->whole ? "integer" : "number");

	cJSON_AddNumberToObject(number, "minimum", shape->least);
	if (shape->most > 0)
		cJSON_AddNumberToObject(number, "maximum", shape->most);
	return any_of(number, text_schema(shape->pattern));
}

static cJSON *value_schema(void)
{
	static const char *const types[] = {"string", "number", "boolean", "null"};
	cJSON *schema = typed("object"), *value;
	cJSON *any = cJSON_CreateStringArray(types, 4);

	value = cJSON_AddObjectToObject(schema, "additionalProperties");
	cJSON_AddItemToObject(value, "type", any);
	value = cJSON_AddObjectToObject(schema, "propertyNames");
	cJSON_AddStringToObject(value, "pattern", NAME_PATTERN);
	return schema;
}

static cJSON *shape_schema(const struct aw_shape *shape);

/* Free names, which may be some of words only, and what each stands for. */
static cJSON *named_schema(const struct aw_shape *shape, cJSON *value)
{
	cJSON *schema = typed("object");

	if (shape->words)
		cJSON_AddItemToObject(schema, "propertyNames", word_schema(shape));
	cJSON_AddItemToObject(schema, "additionalProperties", value);
	return schema;
}

static cJSON *entry_schema(void)
{
	cJSON *schema = cJSON_CreateObject();

	cJSON_AddStringToObject(schema, "$ref", "#/$defs/entry");
	return schema;
}

/* What a map may hold, but for keys with one of the flags, into its schema. */
static void add_keys(cJSON *schema, const struct aw_key *keys, unsigned without)
{
	cJSON *required = cJSON_CreateArray();
	cJSON *properties = cJSON_AddObjectToObject(schema, "properties");

	for (; keys->name; keys++) {
		cJSON *value;

		if (keys->flags & (AW_KEY_LATER | without))
			continue;
		/* a row without a shape admits anything; the tests want both */
		value = keys->shape ? shape_schema(keys->shape) : cJSON_CreateObject();
		if (keys->about)
			cJSON_AddStringToObject(value, "description", keys->about);
		cJSON_AddItemToObject(properties, keys->name, value);
		if (keys->flags & AW_KEY_REQUIRED)
			cJSON_AddItemToArray(required, cJSON_CreateString(keys->name));
	}
	if (cJSON_GetArraySize(required))
		cJSON_AddItemToObject(schema, "required", required);
	else
		cJSON_Delete(required);
	cJSON_AddFalseToObject(schema, "additionalProperties");
}

static cJSON *shape_schema(const struct aw_shape *shape)
{
	cJSON *schema;

	switch (shape->kind) {
	case AW_SHAPE_WORD:
		return word_schema(shape);
	case AW_SHAPE_SWITCH:
		return typed("boolean");
	case AW_SHAPE_TEXT:
		return text_schema(ENTRY_PATTERN);
	case AW_SHAPE_AMOUNT:
		return amount_schema(shape);
	case AW_SHAPE_LIST:
		schema = typed("array");
		cJSON_AddItemToObject(schema, "items",
			shape->first ? shape_schema(shape->first)
				     : text_schema(ENTRY_PATTERN));
		return schema;
	case AW_SHAPE_MAP:
		schema = typed("object");
		add_keys(schema, shape->keys, 0);
		return schema;
	case AW_SHAPE_NAMED:
		return shape->first ? named_schema(shape, shape_schema(shape->first))
				    : value_schema();
	case AW_SHAPE_ENTRIES:
		return named_schema(shape, entry_schema());
	case AW_SHAPE_EITHER:
		return any_of(shape_schema(shape->first), shape_schema(shape->second));
	}
	return cJSON_CreateObject();
}

static int print_schema(struct aw_error *err)
{
	cJSON *root = cJSON_CreateObject(), *entry;
	char *text;

	cJSON_AddStringToObject(
		root, "$schema", "https://json-schema.org/draft/2020-12/schema");
	cJSON_AddStringToObject(root, "$id", "urn:agentwatch:policy:1");
	cJSON_AddStringToObject(root, "title", "agentwatch policy");
	cJSON_AddStringToObject(root, "description",
		"What a command run by agentwatch and all its descendants may do.");
	cJSON_AddStringToObject(root, "type", "object");
	add_keys(root, aw_document_shape.keys, 0);
	entry = typed("object");
	add_keys(entry, aw_document_shape.keys, AW_KEY_TOP);
	cJSON_AddItemToObject(cJSON_AddObjectToObject(root, "$defs"), "entry", entry);
	text = cJSON_Print(root);
	cJSON_Delete(root);
	if (!text)
		return aw_fail(err, ENOMEM, "out of memory");
	puts(text);
	cJSON_free(text);
	return 0;
}

/* --- the page of keys --- */

static void put_words(const char *const *words)
{
	for (size_t i = 0; words[i]; i++)
		printf("%s`%s`", i ? ", " : "", words[i]);
}

static void put_value(const struct aw_shape *shape)
{
	if (!shape)
		return;
	switch (shape->kind) {
	case AW_SHAPE_WORD:
		put_words(shape->words);
		break;
	case AW_SHAPE_SWITCH:
		printf("`true`, `false`");
		break;
	case AW_SHAPE_TEXT:
	case AW_SHAPE_AMOUNT:
		printf("%s", shape->entry);
		break;
	case AW_SHAPE_LIST:
		printf("list of %s", shape->first ? "maps" : shape->entry);
		break;
	case AW_SHAPE_MAP:
		printf("map");
		break;
	case AW_SHAPE_NAMED:
		printf(shape->first ? "map of names and maps"
				    : "map of names and values");
		break;
	case AW_SHAPE_ENTRIES:
		printf("map of names and policies");
		break;
	case AW_SHAPE_EITHER:
		put_value(shape->first);
		printf(", or a ");
		put_value(shape->second);
		break;
	}
}

static const struct aw_key *keys_within(const struct aw_shape *shape)
{
	if (!shape)
		return NULL;
	if ((shape->kind == AW_SHAPE_LIST || shape->kind == AW_SHAPE_NAMED) &&
		shape->first)
		return shape->first->keys;
	if (shape->kind == AW_SHAPE_EITHER)
		return shape->second->keys;
	return shape->keys;
}

/* The keys of a map, each followed by those within it. */
static void put_keys(const char *prefix, const struct aw_key *keys, unsigned inherited)
{
	for (; keys->name; keys++) {
		unsigned flags = keys->flags & inherited;
		char name[80];

		snprintf(name, sizeof(name), "%s%s", prefix, keys->name);
		if (keys->flags & AW_KEY_LATER)
			continue;
		printf("| `%s` | ", name);
		put_value(keys->shape);
		printf(" | %s | %s | %s |\n", flags & AW_KEY_UNTRUSTED ? "yes" : "",
			flags & AW_KEY_PRESET ? "yes" : "",
			keys->about ? keys->about : "");
		if (!keys_within(keys->shape))
			continue;
		snprintf(name, sizeof(name), "%s%s.", prefix, keys->name);
		put_keys(name, keys_within(keys->shape), flags);
	}
}

static void put_later(const struct aw_key *keys)
{
	bool any = false;

	for (; keys->name; keys++) {
		if (keys->flags & AW_KEY_LATER) {
			printf("%s`%s`", any ? ", " : "", keys->name);
			any = true;
		}
		if (keys_within(keys->shape))
			for (const struct aw_key *k = keys_within(keys->shape); k->name;
				k++)
				if (k->flags & AW_KEY_LATER) {
					printf("%s`%s.%s`", any ? ", " : "", keys->name,
						k->name);
					any = true;
				}
	}
	puts(any ? "." : "none.");
}

static void print_page(void)
{
	puts("# Keys of a policy\n\n"
	     "Made from the tables of the parser by `make docs/KEYS.md`; "
	     "[POLICY.md](POLICY.md) says what they mean together.\n"
	     "*Untrusted*: counts in a file that is not trusted, too. *Preset*: may "
	     "stand in a preset.\n\n"
	     "| key | value | untrusted | preset | meaning |\n"
	     "|---|---|---|---|---|");
	put_keys("", aw_document_shape.keys, ~0u);
	printf("\nPlanned, and errors that say so: ");
	put_later(aw_document_shape.keys);
}

/* --- the command --- */

static int schema_main(int argc, char **argv)
{
	struct schema_options values = {NULL};
	struct aw_error err;
	bool help = false;
	int first = aw_options_parse(
		&aw_command_policy_schema, argc, argv, &values, &help, &err);

	if (first >= 0 && help) {
		aw_options_help(&aw_command_policy_schema);
		return 0;
	}
	if (first >= 0 && first < argc)
		first = aw_fail(&err, EINVAL,
			"policy schema takes no arguments, but '%s' was given",
			argv[first]);
	if (first < 0)
		return aw_say_usage(&err);
	if (values.format && strcmp(values.format, "markdown") == 0)
		print_page();
	else if (print_schema(&err) < 0)
		return aw_say_failed(&err);
	return 0;
}

static const struct aw_option schema_options[] = {
	{"format", 0, AW_OPT_CHOICE, offsetof(struct schema_options, format), NULL,
		"json|markdown", "json: the schema; markdown: a page of all keys"},
};

const struct aw_command aw_command_policy_schema = {
	.name = "policy schema",
	.arguments = NULL,
	.brief = "print the JSON Schema of policy files",
	.details =
		"Editors and validators use it (draft 2020-12); it is installed as "
		"share/agentwatch/policy.schema.json, too.  It is made from the tables that "
		"the parser uses.  What it accepts can still have mistakes that only "
		"agentwatch policy check finds, such as a path that is not absolute.\n\n"
		"An editor takes it with a first line such as\n"
		"  # yaml-language-server: "
		"$schema=/usr/local/share/agentwatch/policy.schema.json",
	.options = schema_options,
	.option_count = ARRAY_SIZE(schema_options),
	.mixed = true,
	.main = schema_main,
};
