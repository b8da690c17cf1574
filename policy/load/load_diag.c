/* SPDX-License-Identifier: Apache-2.0 */
/* load_diag.c - mistakes and warnings, and guesses at what was meant. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"

/* A file that is wrong in more places than this is not going to be read line by line. */
#define DIAGNOSTICS_MAX 1000

#define WORD_MAX 32

static void add(struct aw_loader *l, unsigned line, unsigned column, bool warning,
	const char *text)
{
	struct aw_diagnostics *d = l->diagnostics;
	struct aw_diagnostic *items;

	if (warning && l->idle) /* of what does not count, mistakes alone are told */
		return;
	d->errors += !warning;
	if (d->count >= DIAGNOSTICS_MAX)
		return;
	items = realloc(d->items, (d->count + 1) * sizeof(*items));
	if (!items) {
		l->failed = true;
		return;
	}
	d->items = items;
	items += d->count;
	items->file = aw_copy(l, l->source->file);
	items->text = aw_copy(l, text);
	items->line = line;
	items->column = column;
	items->warning = warning;
	if (items->file && items->text) {
		d->count++;
		return;
	}
	free(items->file);
	free(items->text);
}

static void report(struct aw_loader *l, unsigned line, unsigned column, bool warning,
	const char *fmt, va_list args)
{
	char text[640];
	size_t i;

	vsnprintf(text, sizeof(text), fmt, args);
	/* One mistake is one line, whatever the file says. */
	for (i = 0; text[i]; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
	add(l, line, column, warning, text);
}

void aw_report(struct aw_loader *l, const struct aw_node *at, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report(l, at->line, at->column, l->lenient, fmt, args);
	va_end(args);
}

void aw_warn(struct aw_loader *l, const struct aw_node *at, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report(l, at->line, at->column, true, fmt, args);
	va_end(args);
}

void aw_report_at(struct aw_loader *l, unsigned line, unsigned column, bool warning,
	const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	report(l, line, column, warning, fmt, args);
	va_end(args);
}

/* Edits between two words, whatever their case: insert, delete, change, or swap two
 * neighbours. */
static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
	unsigned d[WORD_MAX + 1][WORD_MAX + 1], best;
	size_t i, j;

	for (i = 0; i <= a_len; i++)
		d[i][0] = (unsigned)i;
	for (j = 0; j <= b_len; j++)
		d[0][j] = (unsigned)j;
	for (i = 1; i <= a_len; i++)
		for (j = 1; j <= b_len; j++) {
			best = d[i - 1][j - 1] +
			       (tolower((unsigned char)a[i - 1]) !=
				       tolower((unsigned char)b[j - 1]));
			if (d[i - 1][j] + 1 < best)
				best = d[i - 1][j] + 1;
			if (d[i][j - 1] + 1 < best)
				best = d[i][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] &&
				a[i - 2] == b[j - 1] && d[i - 2][j - 2] + 1 < best)
				best = d[i - 2][j - 2] + 1;
			d[i][j] = best;
		}
	return d[a_len][b_len];
}

const char *aw_nearest(const char *text, const char *const *words)
{
	size_t len = strlen(text), word_len;
	unsigned best = ~0u, now;
	const char *nearest = NULL;

	if (len == 0 || len > WORD_MAX)
		return NULL;
	for (; *words; words++) {
		word_len = strlen(*words);
		if (word_len > WORD_MAX)
			continue;
		now = distance(text, len, *words, word_len);
		if (now < best && now <= (word_len < 6 ? 1 : word_len / 3)) {
			best = now;
			nearest = *words;
		}
	}
	return nearest;
}

void aw_diagnostics_print(const struct aw_diagnostics *diagnostics, FILE *out)
{
	size_t i;

	for (i = 0; i < diagnostics->count; i++) {
		const struct aw_diagnostic *d = &diagnostics->items[i];

		fprintf(out, "%s:%u:%u: %s: %s\n", d->file, d->line, d->column,
			d->warning ? "warning" : "error", d->text);
	}
	if (diagnostics->count >= DIAGNOSTICS_MAX)
		fprintf(out, "(only the first %d are shown)\n", DIAGNOSTICS_MAX);
}

void aw_diagnostics_free(struct aw_diagnostics *diagnostics)
{
	size_t i;

	for (i = 0; i < diagnostics->count; i++) {
		free(diagnostics->items[i].file);
		free(diagnostics->items[i].text);
	}
	free(diagnostics->items);
	memset(diagnostics, 0, sizeof(*diagnostics));
}
