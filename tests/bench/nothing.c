/* SPDX-License-Identifier: Apache-2.0 */
/* nothing.c - a program that does nothing; built static for the fork+exec row. */
int main(void)
{
	return 0;
}
