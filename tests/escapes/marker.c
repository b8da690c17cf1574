/* SPDX-License-Identifier: Apache-2.0 */
/* marker.c - a program that prints the text that stage.py has written into it */
#include <stdio.h>

/* volatile: what is here in the file counts, not what the compiler saw */
static volatile char text[128] = "@@MARKER@@";

int main(void)
{
	int i;

	for (i = 0; text[i]; i++)
		putchar(text[i]);
	putchar('\n');
	return 0;
}
