/* SPDX-License-Identifier: Apache-2.0 */
/*
 * screen.h - what is known of the terminal on stdout, and text that fits it.
 */
#ifndef AW_SUPERVISOR_CLI_SCREEN_H
#define AW_SUPERVISOR_CLI_SCREEN_H

#include <stdbool.h>
#include <stddef.h>

struct aw_screen {
	bool terminal, colour;
	size_t width; /* columns; 0: not a terminal, nothing is cut */
};

enum aw_colour { AW_PLAIN, AW_RED, AW_YELLOW, AW_GREEN, AW_DIM, AW_BOLD };

/* Looks at stdout, NO_COLOR and TERM; also makes column widths work in any locale. */
void aw_screen_init(struct aw_screen *screen);

/*
 * Print text (already harmless, see aw_show()) in width columns: padded, and when it is
 * longer cut in the middle with "…".  width 0: as it is.
 */
void aw_screen_put(const struct aw_screen *screen, const char *text, size_t width,
	enum aw_colour colour);

/* Columns that text takes. */
size_t aw_screen_columns(const char *text);

#endif
