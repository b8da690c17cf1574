/* SPDX-License-Identifier: Apache-2.0 */
/* findings.c - what policy check has found. */
#include "supervisor/lint/findings.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "supervisor/cli/say.h"
#include "supervisor/util/cleanup.h"
#include "supervisor/util/json.h"

static const char *const severities[] = {"error", "warning", "note"};

static void add(struct aw_findings *f, const struct aw_finding *finding)
{
	struct aw_finding *grown = realloc(f->items, (f->count + 1) * sizeof(*grown));

	if (grown)
		f->items = grown;
	if (grown && finding->file && finding->text) {
		grown[f->count++] = *finding;
		return;
	}
	f->failed = true;
	free(finding->file);
	free(finding->text);
}

void aw_findings_add(struct aw_findings *findings, enum aw_severity severity,
	const char *check, const char *file, unsigned line, unsigned column,
	const char *fmt, ...)
{
	struct aw_finding finding = {.severity = severity,
		.check = check,
		.file = strdup(file),
		.line = line,
		.column = column};
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&finding.text, fmt, args) < 0)
		finding.text = NULL;
	va_end(args);
	add(findings, &finding);
}

void aw_findings_add_all(
	struct aw_findings *findings, const struct aw_diagnostics *diagnostics)
{
	for (size_t i = 0; i < diagnostics->count; i++) {
		const struct aw_diagnostic *d = &diagnostics->items[i];

		aw_findings_add(findings,
			d->warning ? AW_FOUND_WARNING : AW_FOUND_ERROR, "load", d->file,
			d->line, d->column, "%s", d->text);
	}
}

static bool same(const struct aw_finding *a, const struct aw_finding *b)
{
	return a->line == b->line && a->column == b->column &&
	       strcmp(a->check, b->check) == 0 && strcmp(a->file, b->file) == 0;
}

static bool has(const struct aw_findings *findings, const struct aw_finding *wanted)
{
	for (size_t i = 0; i < findings->count; i++)
		if (same(&findings->items[i], wanted))
			return true;
	return false;
}

void aw_findings_intersect(
	struct aw_findings *findings, const struct aw_findings *others)
{
	size_t kept = 0;

	for (size_t i = 0; i < findings->count; i++) {
		if (has(others, &findings->items[i])) {
			findings->items[kept++] = findings->items[i];
			continue;
		}
		free(findings->items[i].file);
		free(findings->items[i].text);
	}
	findings->count = kept;
}

/* Where a file was first spoken of. */
static size_t rank_of(const struct aw_findings *f, const char *file)
{
	size_t i = 0;

	while (i < f->count && strcmp(f->items[i].file, file) != 0)
		i++;
	return i;
}

struct ranked {
	struct aw_finding finding;
	size_t rank, number;
};

static int compare(const void *left, const void *right)
{
	const struct ranked *a = left, *b = right;

	if (a->rank != b->rank)
		return a->rank < b->rank ? -1 : 1;
	if (a->finding.line != b->finding.line)
		return a->finding.line < b->finding.line ? -1 : 1;
	if (a->finding.column != b->finding.column)
		return a->finding.column < b->finding.column ? -1 : 1;
	return a->number < b->number ? -1 : a->number > b->number;
}

void aw_findings_sort(struct aw_findings *findings)
{
	AW_FREE struct ranked *all = calloc(findings->count + 1, sizeof(*all));

	if (!all) {
		findings->failed = true;
		return;
	}
	for (size_t i = 0; i < findings->count; i++)
		all[i] = (struct ranked){findings->items[i],
			rank_of(findings, findings->items[i].file), i};
	qsort(all, findings->count, sizeof(*all), compare);
	for (size_t i = 0; i < findings->count; i++)
		findings->items[i] = all[i].finding;
}

static void print_json(const struct aw_finding *f)
{
	struct aw_json json = {.bytes = NULL};

	AW_JSON_LITERAL(&json, "{\"file\":");
	aw_json_string(&json, f->file, strlen(f->file));
	AW_JSON_LITERAL(&json, ",\"line\":");
	aw_json_unsigned(&json, f->line);
	AW_JSON_LITERAL(&json, ",\"column\":");
	aw_json_unsigned(&json, f->column);
	AW_JSON_LITERAL(&json, ",\"severity\":");
	aw_json_string(&json, severities[f->severity], strlen(severities[f->severity]));
	AW_JSON_LITERAL(&json, ",\"check\":");
	aw_json_string(&json, f->check, strlen(f->check));
	AW_JSON_LITERAL(&json, ",\"text\":");
	aw_json_string(&json, f->text, strlen(f->text));
	AW_JSON_LITERAL(&json, "}\n");
	fwrite(json.bytes, 1, json.failed ? 0 : json.len, stdout);
	aw_json_free(&json);
}

/* As people may see it; a backslash is one of the pattern's own and stands once. */
static void put_text(const char *text)
{
	AW_FREE char *shown = aw_shown(text, strlen(text));

	for (const char *c = shown ? shown : ""; *c; c++) {
		putchar(*c);
		c += c[0] == '\\' && c[1] == '\\';
	}
}

void aw_findings_print(const struct aw_findings *findings, bool notes, bool json)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct aw_finding *f = &findings->items[i];

		if (f->severity == AW_FOUND_NOTE && !notes)
			continue;
		if (json) {
			print_json(f);
			continue;
		}
		printf("%s:%u:%u: %s: ", f->file, f->line, f->column,
			severities[f->severity]);
		put_text(f->text);
		putchar('\n');
	}
	if (findings->failed)
		aw_say("out of memory: not everything that was found is shown");
}

size_t aw_findings_count(
	const struct aw_findings *findings, enum aw_severity severity, const char *file)
{
	size_t count = 0;

	for (size_t i = 0; i < findings->count; i++)
		count += findings->items[i].severity == severity &&
			 (!file || strcmp(findings->items[i].file, file) == 0);
	return count;
}

void aw_findings_free(struct aw_findings *findings)
{
	for (size_t i = 0; i < findings->count; i++) {
		free(findings->items[i].file);
		free(findings->items[i].text);
	}
	free(findings->items);
	memset(findings, 0, sizeof(*findings));
}
