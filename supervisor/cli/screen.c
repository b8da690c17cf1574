/* SPDX-License-Identifier: Apache-2.0 */
/* screen.c - the terminal on stdout, and text that fits it. */
#include "supervisor/cli/screen.h"

#include <locale.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

#include "supervisor/util/json.h"

void aw_screen_init(struct aw_screen *screen)
{
	const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
	struct winsize size;

	setlocale(LC_CTYPE, "C.UTF-8");
	*screen = (struct aw_screen){.terminal = isatty(STDOUT_FILENO)};
	if (!screen->terminal)
		return;
	screen->colour =
		(!no_color || !*no_color) && term && *term && strcmp(term, "dumb") != 0;
	screen->width = 80;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col)
		screen->width = size.ws_col;
}

/* The columns of the character at text, and in *ret_bytes its length. */
static size_t character(const char *text, size_t *ret_bytes)
{
	uint32_t point = 0;
	size_t used =
		aw_utf8_read((const unsigned char *)text, strnlen(text, 4), &point);
	int columns = used ? wcwidth((wchar_t)point) : 1;

	*ret_bytes = used ? used : 1;
	return columns < 0 ? 1 : (size_t)columns;
}

size_t aw_screen_columns(const char *text)
{
	size_t total = 0, bytes;

	for (; *text; text += bytes)
		total += character(text, &bytes);
	return total;
}

/* As many bytes from the start as fit into columns; *ret_columns: how many they take. */
static size_t fitting(const char *text, size_t columns, size_t *ret_columns)
{
	size_t at = 0, taken = 0, bytes, one;

	while (text[at]) {
		one = character(text + at, &bytes);
		if (taken + one > columns)
			break;
		taken += one;
		at += bytes;
	}
	*ret_columns = taken;
	return at;
}

/* A third of the room for the start, the rest for the end, which says more in a path. */
static size_t put_cut(const char *text, size_t columns, size_t width)
{
	size_t head_columns, dropped, head, skip;

	head = fitting(text, (width - 1) / 3, &head_columns);
	skip = fitting(text + head, columns - head_columns - (width - 1 - head_columns),
		&dropped);
	/* A wide character may straddle the cut: leave it out. */
	while (head_columns + 1 + (columns - head_columns - dropped) > width) {
		size_t bytes;

		dropped += character(text + head + skip, &bytes);
		skip += bytes;
	}
	printf("%.*s…%s", (int)head, text, text + head + skip);
	return head_columns + 1 + (columns - head_columns - dropped);
}

void aw_screen_put(const struct aw_screen *screen, const char *text, size_t width,
	enum aw_colour colour)
{
	static const char *const codes[] = {
		"", "\033[31m", "\033[33m", "\033[32m", "\033[2m", "\033[1m"};
	bool coloured = screen->colour && colour != AW_PLAIN;
	size_t columns = aw_screen_columns(text);

	if (coloured)
		fputs(codes[colour], stdout);
	if (width > 1 && columns > width)
		columns = put_cut(text, columns, width);
	else
		fputs(text, stdout);
	if (coloured)
		fputs("\033[0m", stdout);
	if (columns < width)
		printf("%*s", (int)(width - columns), "");
}
