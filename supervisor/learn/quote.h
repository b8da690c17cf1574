/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quote.h - a text in quotes, as YAML has them.
 */
#ifndef AW_SUPERVISOR_LEARN_QUOTE_H
#define AW_SUPERVISOR_LEARN_QUOTE_H

#include <stdio.h>

/*
 * Write text so that it stays one line and looks like what it is: signs that are not
 * seen or turn the writing round are escaped.  Returns how many columns it takes.
 */
int aw_quote_put(FILE *out, const char *text);

#endif
