/* SPDX-License-Identifier: Apache-2.0 */
/* load_gitconfig.c - what git's configuration includes is configuration as well. */
#include <stdlib.h>
#include <string.h>

#include "policy/git/gitconfig.h"
#include "policy/load/load_internal.h"
#include "policy/port_file.h"

enum { DEPTH_MAX = 10, FILES_MAX = 100 };

struct search {
	struct aw_loader *l;
	const char *home;
	unsigned depth, files;
};

/* NULL where there is none that could be read; *ret_len bytes, owned by the caller. */
static char *read_file(const char *file, size_t *ret_len)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text = NULL;
	struct stat st;
	ssize_t n = 0;

	*ret_len = 0;
	if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		st.st_size <= AW_GITCONFIG_MAX &&
		(text = malloc((size_t)st.st_size + 1)))
		while (*ret_len < (size_t)st.st_size &&
			(n = read(fd, text + *ret_len, (size_t)st.st_size - *ret_len)) >
				0)
			*ret_len += (size_t)n;
	if (fd >= 0)
		close(fd);
	return text;
}

/*
 * An include's path as a file, without links and dots in its directory: git-config(1),
 * Includes.  It need not be there yet.  Owned by the caller; NULL: nothing that is
 * known.
 */
static char *place_of(const struct search *s, const char *file, const char *path)
{
	char *text = NULL, *folder = NULL, *result = NULL, *slash;
	int n;

	if (path[0] == '/')
		n = asprintf(&text, "%s", path);
	else if (strncmp(path, "~/", 2) == 0)
		n = s->home ? asprintf(&text, "%s/%s", s->home, path + 2) : -1;
	else
		n = asprintf(
			&text, "%.*s/%s", (int)(strrchr(file, '/') - file), file, path);
	if (n < 0)
		return NULL;
	slash = strrchr(text, '/');
	*slash = '\0';
	folder = realpath(*text ? text : "/", NULL);
	if (folder && slash[1] &&
		asprintf(&result, "%s/%s", folder[1] ? folder : "", slash + 1) < 0)
		result = NULL;
	free(folder);
	free(text);
	return result;
}

static void look_into(struct search *s, const char *file);

static void include(struct search *s, const char *file, const char *path)
{
	char *place = place_of(s, file, path);

	if (place && ++s->files <= FILES_MAX) {
		aw_protect_keyed(s->l, place);
		if (++s->depth <= DEPTH_MAX)
			look_into(s, place);
		s->depth--;
	}
	free(place);
}

static void look_into(struct search *s, const char *file)
{
	struct aw_gitconfig c;
	size_t len;
	char *text = read_file(file, &len),
	     *scratch = text ? malloc(AW_GITCONFIG_SCRATCH(len)) : NULL;

	if (text && !scratch)
		s->l->failed = true;
	if (scratch) {
		aw_gitconfig_open(&c, text, len, scratch);
		while (aw_gitconfig_next(&c) == 1)
			if (c.has_value && aw_gitconfig_includes(c.name, c.name_len))
				include(s, file, c.value);
	}
	free(scratch);
	free(text);
}

void aw_gitconfig_add(struct aw_loader *l, const char *home, const char *file)
{
	struct search s = {.l = l, .home = home};

	look_into(&s, file);
}
