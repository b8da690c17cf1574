/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wrap_host.c - names by the older functions, which Python, Perl and getent still use.
 */
#include <errno.h>
#include <netdb.h>

#include "preload/gate.h"
#include "preload/linux/symbol.h"

extern int *__h_errno_location(void) __attribute__((weak, const));

static struct hostent *refuse(void)
{
	if (__h_errno_location)
		*__h_errno_location() = NO_RECOVERY;
	return NULL;
}

AW_EXPORT struct hostent *gethostbyname(const char *name)
{
	struct hostent *(*real)(const char *), *found;
	struct aw_passage passage;

	if (!aw_enter_lookup(AW_FN_gethostbyname, name, NULL, &passage))
		return refuse();
	*(void **)&real = aw_real(AW_FN_gethostbyname);
	found = real(name);
	aw_leave_host(AW_FN_gethostbyname, &passage, name, found);
	return found;
}

AW_EXPORT struct hostent *gethostbyname2(const char *name, int family)
{
	struct hostent *(*real)(const char *, int), *found;
	struct aw_passage passage;

	if (!aw_enter_lookup(AW_FN_gethostbyname2, name, NULL, &passage))
		return refuse();
	*(void **)&real = aw_real(AW_FN_gethostbyname2);
	found = real(name, family);
	aw_leave_host(AW_FN_gethostbyname2, &passage, name, found);
	return found;
}

static int refuse_r(struct hostent **result, int *h_error)
{
	*result = NULL;
	*h_error = NO_RECOVERY;
	return EACCES;
}

AW_EXPORT int gethostbyname_r(const char *restrict name, struct hostent *restrict host,
	char *restrict room, size_t size, struct hostent **restrict result,
	int *restrict h_error)
{
	int (*real)(const char *, struct hostent *, char *, size_t, struct hostent **,
		int *);
	struct aw_passage passage;
	int ret;

	if (!aw_enter_lookup(AW_FN_gethostbyname_r, name, NULL, &passage))
		return refuse_r(result, h_error);
	*(void **)&real = aw_real(AW_FN_gethostbyname_r);
	ret = real(name, host, room, size, result, h_error);
	aw_leave_host(AW_FN_gethostbyname_r, &passage, name, ret ? NULL : *result);
	return ret;
}

AW_EXPORT int gethostbyname2_r(const char *restrict name, int family,
	struct hostent *restrict host, char *restrict room, size_t size,
	struct hostent **restrict result, int *restrict h_error)
{
	int (*real)(const char *, int, struct hostent *, char *, size_t,
		struct hostent **, int *);
	struct aw_passage passage;
	int ret;

	if (!aw_enter_lookup(AW_FN_gethostbyname2_r, name, NULL, &passage))
		return refuse_r(result, h_error);
	*(void **)&real = aw_real(AW_FN_gethostbyname2_r);
	ret = real(name, family, host, room, size, result, h_error);
	aw_leave_host(AW_FN_gethostbyname2_r, &passage, name, ret ? NULL : *result);
	return ret;
}
