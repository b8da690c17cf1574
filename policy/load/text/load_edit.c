/* SPDX-License-Identifier: Apache-2.0 */
/* load_edit.c - where in a text an entry goes, by the marks of libyaml's events. */
#include "policy/load/text/load_edit.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "policy/port_file.h"

/* One collection that was looked for. */
struct found {
	bool there, flow;
	size_t start, end; /* bytes; of a block one, end is behind its last token */
	size_t column;	   /* of its first key or dash */
	size_t last_end;   /* behind its last item; start when it is empty */
	size_t count;
};

struct finder {
	const struct aw_edit *edit;
	const char *text;
	size_t len;
	int depth;		 /* collections that are open */
	bool in_section, at_key; /* at_key: of the map at depth 1 or 2 */
	bool next_is_section, next_is_list, in_list;
	struct found root, section, list;
	size_t last_sign; /* behind the last scalar or bracket, in characters */
	const char *odd;  /* why nothing can be added */
};

/* libyaml counts characters. */
static size_t byte_of(const struct finder *f, size_t characters)
{
	size_t at = f->len >= 3 && memcmp(f->text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	for (; characters && at < f->len; characters--)
		for (at++; at < f->len && ((unsigned char)f->text[at] & 0xc0) == 0x80;)
			at++;
	return at;
}

static struct found *open_one(struct finder *f)
{
	if (f->depth == 1)
		return &f->root;
	if (f->depth == 2 && f->in_section)
		return &f->section;
	return f->depth == 3 && f->in_list ? &f->list : NULL;
}

/* A scalar or a whole collection that ends here was an item of the one around it. */
static void end_item(struct finder *f)
{
	struct found *around = open_one(f);

	if (around) {
		around->last_end = byte_of(f, f->last_sign);
		around->count++;
	}
	if (f->depth == 1 || (f->depth == 2 && f->in_section))
		f->at_key = !f->at_key;
}

static void start(struct finder *f, const yaml_event_t *e, bool map, bool flow)
{
	struct found *one;

	f->depth++;
	if (f->next_is_section)
		f->in_section = true;
	if (f->next_is_list)
		f->in_list = true;
	one = f->depth == 1 || f->next_is_section || f->next_is_list ? open_one(f)
								     : NULL;
	if ((f->depth == 1 || f->next_is_section) != map && one)
		f->odd = map ? "a map stands where a list should"
			     : "a list stands where a map should";
	if (one)
		*one = (struct found){.there = true,
			.flow = flow,
			.start = byte_of(f, e->start_mark.index),
			.last_end = byte_of(f, e->start_mark.index),
			.column = e->start_mark.column};
	if (map && one)
		f->at_key = true;
	f->next_is_section = f->next_is_list = false;
}

static void end(struct finder *f, const yaml_event_t *e)
{
	struct found *one = open_one(f);

	if (one)
		one->end = byte_of(f, e->end_mark.index);
	if (f->depth == 3)
		f->in_list = false;
	if (f->depth == 2)
		f->in_section = false;
	f->depth--;
	/* back in the map around it, behind a value */
	if (f->depth == 1 || (f->depth == 2 && f->in_section))
		f->at_key = false;
	/* the end of a block collection is no sign of its own */
	if (e->end_mark.index > e->start_mark.index)
		f->last_sign = e->end_mark.index;
	end_item(f);
}

static void scalar(struct finder *f, const yaml_event_t *e)
{
	const char *text = (const char *)e->data.scalar.value;
	bool key = f->at_key && (f->depth == 1 || (f->depth == 2 && f->in_section));

	if (f->next_is_section || f->next_is_list)
		f->odd = "nothing stands behind the key";
	f->next_is_section = f->next_is_list = false;
	if (key && f->depth == 1)
		f->next_is_section = strcmp(text, f->edit->section) == 0;
	else if (key)
		f->next_is_list = strcmp(text, f->edit->list) == 0;
	f->last_sign = e->end_mark.index;
	end_item(f);
}

static void take(struct finder *f, const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_MAPPING_START_EVENT:
		start(f, e, true,
			e->data.mapping_start.style == YAML_FLOW_MAPPING_STYLE);
		break;
	case YAML_SEQUENCE_START_EVENT:
		start(f, e, false,
			e->data.sequence_start.style == YAML_FLOW_SEQUENCE_STYLE);
		break;
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT:
		end(f, e);
		break;
	case YAML_SCALAR_EVENT:
		scalar(f, e);
		break;
	case YAML_ALIAS_EVENT:
		if (f->next_is_section || f->next_is_list)
			f->odd = "an alias stands behind the key";
		f->next_is_section = f->next_is_list = false;
		f->last_sign = e->end_mark.index;
		end_item(f);
		break;
	default:
		break;
	}
}

static int look(struct finder *f, struct aw_error *err)
{
	yaml_parser_t parser;
	yaml_event_t event;
	bool done = false, good = true;

	if (!yaml_parser_initialize(&parser))
		return aw_fail(err, ENOMEM, "out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)f->text, f->len);
	while (!done && good) {
		good = yaml_parser_parse(&parser, &event);
		if (!good)
			break;
		done = event.type == YAML_STREAM_END_EVENT;
		take(f, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	if (!good)
		return aw_fail(err, EINVAL, "it is not YAML");
	if (f->odd)
		return aw_fail(err, EINVAL, "%s '%s.%s'", f->odd, f->edit->section,
			f->edit->list);
	if (!f->root.there)
		return aw_fail(err, EINVAL, "it is not a map of keys and values");
	return 0;
}

static void put_quoted(FILE *out, const char *text)
{
	fputc('"', out);
	for (; *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", c);
		else if (c < ' ' || c == 0x7f)
			fprintf(out, "\\x%02x", c);
		else
			fputc(c, out);
	}
	fputc('"', out);
}

static size_t line_end(const struct finder *f, size_t at)
{
	while (at < f->len && f->text[at] != '\n')
		at++;
	return at;
}

/* Is there a comma between the last item and the bracket?  Comments do not count. */
static bool has_comma(const struct finder *f, const struct found *one)
{
	for (size_t at = one->last_end; at + 1 < one->end; at++) {
		if (f->text[at] == '#')
			at = line_end(f, at);
		else if (f->text[at] == ',')
			return true;
	}
	return false;
}

static void copy(const struct finder *f, size_t from, size_t to, FILE *out)
{
	if (to > from)
		fwrite(f->text + from, 1, to - from, out);
}

/* Inside brackets, with the comment at the end of the line. */
static void add_to_flow(const struct finder *f, const struct found *one,
	void (*put)(const struct finder *f, FILE *out), FILE *out)
{
	size_t at = one->end - 1, eol = line_end(f, at);

	copy(f, 0, at, out);
	if (one->count)
		fputs(has_comma(f, one) ? " " : ", ", out);
	put(f, out);
	copy(f, at, eol, out);
	/* a line takes one comment, and JSON none */
	if (!f->root.flow && !memchr(f->text + at, '#', eol - at))
		fprintf(out, "  # %s", f->edit->comment);
	copy(f, eol, f->len, out);
}

static void put_entry(const struct finder *f, FILE *out)
{
	put_quoted(out, f->edit->entry);
}

static void put_list(const struct finder *f, FILE *out)
{
	fprintf(out, "\"%s\": [", f->edit->list);
	put_entry(f, out);
	fputc(']', out);
}

static void put_section(const struct finder *f, FILE *out)
{
	fprintf(out, "\"%s\": {", f->edit->section);
	put_list(f, out);
	fputc('}', out);
}

/* "- entry" on a line of its own behind the last one. */
static void add_line(const struct finder *f, FILE *out)
{
	size_t eol = line_end(f, f->list.last_end);

	copy(f, 0, eol, out);
	fprintf(out, "\n%*s- ", (int)f->list.column, "");
	put_entry(f, out);
	fprintf(out, "  # %s", f->edit->comment);
	if (eol == f->len)
		fputc('\n', out);
	copy(f, eol, f->len, out);
}

static void put_block_list(const struct finder *f, int indent, FILE *out)
{
	fprintf(out, "%*s%s:\n%*s- ", indent, "", f->edit->list, indent + 2, "");
	put_entry(f, out);
	fprintf(out, "  # %s\n", f->edit->comment);
}

/* In front of the section's first key. */
static void add_list(const struct finder *f, FILE *out)
{
	size_t at = f->section.start;

	while (at > 0 && f->text[at - 1] != '\n')
		at--;
	copy(f, 0, at, out);
	put_block_list(f, (int)f->section.column, out);
	copy(f, at, f->len, out);
}

static void add_section(const struct finder *f, FILE *out)
{
	size_t eol = line_end(f, f->root.last_end);

	copy(f, 0, eol, out);
	fprintf(out, "\n%s:\n", f->edit->section);
	put_block_list(f, 2, out);
	if (eol < f->len)
		eol++;
	copy(f, eol, f->len, out);
}

static void add(const struct finder *f, FILE *out)
{
	if (f->list.there && f->list.flow)
		add_to_flow(f, &f->list, put_entry, out);
	else if (f->list.there)
		add_line(f, out);
	else if (f->section.there && f->section.flow)
		add_to_flow(f, &f->section, put_list, out);
	else if (f->section.there)
		add_list(f, out);
	else if (f->root.flow)
		add_to_flow(f, &f->root, put_section, out);
	else
		add_section(f, out);
}

int aw_edit_add(const char *text, size_t len, const struct aw_edit *edit, char **ret,
	struct aw_error *err)
{
	struct finder f = {.edit = edit, .text = text, .len = len};
	char *made = NULL;
	size_t size;
	FILE *out;

	if (look(&f, err) < 0)
		return -1;
	out = aw_port_memory_open(&made, &size);
	if (!out)
		return aw_fail(err, ENOMEM, "out of memory");
	add(&f, out);
	if (aw_port_memory_close(out, &made, &size) < 0) {
		free(made);
		return aw_fail(err, ENOMEM, "out of memory");
	}
	*ret = made;
	return 0;
}
