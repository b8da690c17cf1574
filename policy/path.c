/* SPDX-License-Identifier: Apache-2.0 */
/* path.c - joining and cleaning paths as text. */
#include "policy/path.h"

#include <stdbool.h>
#include <string.h>

struct writer {
	char *out;
	size_t size, len; /* len never counts a trailing slash */
};

static void drop_last(struct writer *w)
{
	while (w->len > 0 && w->out[--w->len] != '/')
		;
}

static bool add(struct writer *w, const char *name, size_t len)
{
	/* slash, name, terminator */
	if (len + 2 > w->size - w->len)
		return false;
	w->out[w->len++] = '/';
	memcpy(w->out + w->len, name, len);
	w->len += len;
	return true;
}

static bool add_all(struct writer *w, const char *path, size_t len)
{
	size_t start, end;

	for (start = 0; start < len; start = end + 1) {
		for (end = start; end < len && path[end] != '/'; end++)
			;
		if (end == start || (end - start == 1 && path[start] == '.'))
			continue;
		if (end - start == 2 && path[start] == '.' && path[start + 1] == '.')
			drop_last(w);
		else if (!add(w, path + start, end - start))
			return false;
	}
	return true;
}

size_t aw_path_join(const char *base, size_t base_len, const char *path,
	size_t path_len, char *out, size_t size)
{
	struct writer w = {out, size, 0};
	bool absolute = path_len > 0 && path[0] == '/';

	if (size < 2)
		return 0;
	if (!absolute) {
		if (base_len == 0 || base[0] != '/')
			return 0;
		if (!add_all(&w, base, base_len))
			return 0;
	}
	if (!add_all(&w, path, path_len))
		return 0;
	if (w.len == 0)
		out[w.len++] = '/';
	out[w.len] = '\0';
	return w.len;
}
