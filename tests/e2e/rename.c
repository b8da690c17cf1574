/* SPDX-License-Identifier: Apache-2.0 */
/* rename.c OLD NEW - rename(2), and what it says. */
#include <stdio.h>

int main(int argc, char **argv)
{
	if (argc == 3 && rename(argv[1], argv[2]) == 0)
		return 0;
	perror("rename");
	return 1;
}
