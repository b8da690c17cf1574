/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error.h - one value that carries what went wrong, outermost context first.
 *
 * Library code never prints: it fills an aw_error and returns -1; only the program's
 * entry point speaks.  The text is a fixed buffer because the shim may not allocate;
 * a text that is too long loses its last words, never its code.
 */
#ifndef AW_POLICY_ERROR_H
#define AW_POLICY_ERROR_H

struct aw_error {
	int code;	/* an errno value */
	char text[512]; /* "outermost: ...: innermost", always terminated */
};

#ifdef AW_SHIM
/* The shim has nobody to tell: -1 is all. */
__attribute__((format(printf, 3, 4))) static inline int aw_fail(
	struct aw_error *err, int code, const char *fmt, ...)
{
	(void)err;
	(void)code;
	(void)fmt;
	return -1;
}

__attribute__((format(printf, 2, 3))) static inline int aw_while(
	struct aw_error *err, const char *fmt, ...)
{
	(void)err;
	(void)fmt;
	return -1;
}
#else
/* Start an error; returns -1 so that it can be returned directly.  err may be NULL. */
int aw_fail(struct aw_error *err, int code, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* Put context in front of an error that is already there; returns -1. */
int aw_while(struct aw_error *err, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
#endif

#endif
