/* SPDX-License-Identifier: Apache-2.0 */
/* environ.c - building a child's environment in a mapping of its own. */
#include "preload/environ.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "preload/linux/arch.h"
#include "preload/linux/process_state.h"
#include "preload/text.h"

#define PRELOAD "LD_PRELOAD="
#define SOCKET "AGENTWATCH_SOCKET="

extern char **environ __attribute__((weak));
extern char **__environ __attribute__((weak));

char **aw_environ(void)
{
	static char *nothing[1];

	if (&environ && environ)
		return environ;
	if (&__environ && __environ)
		return __environ;
	return nothing;
}

const char *aw_environ_get(const char *name)
{
	for (char **e = aw_environ(); *e; e++) {
		const char *after = aw_text_after(*e, name);

		if (after && *after == '=')
			return after + 1;
	}
	return NULL;
}

/* Is shim a component of an LD_PRELOAD list (blanks and colons separate)? */
static const char *in_list(const char *list, const char *shim)
{
	while (*list) {
		const char *after = aw_text_after(list, shim);

		if (after && (*after == '\0' || *after == ':' || *after == ' '))
			return list;
		while (*list && *list != ':' && *list != ' ')
			list++;
		while (*list == ':' || *list == ' ')
			list++;
	}
	return NULL;
}

/* "LD_PRELOAD=shim[:rest]" or, without the shim, "LD_PRELOAD=rest". */
static size_t write_preload(char *to, const char *old, const char *shim, bool foreign)
{
	size_t n = aw_text_copy(to, sizeof(PRELOAD), PRELOAD);
	const char *ours = in_list(old, shim);

	if (!foreign)
		n += aw_text_copy(to + n, AW_PATH_MAX, shim);
	while (*old) {
		const char *end = old;

		while (*end && *end != ':' && *end != ' ')
			end++;
		if (old != ours && end != old) {
			if (to[n - 1] != '=')
				to[n++] = ':';
			memcpy(to + n, old, (size_t)(end - old));
			n += (size_t)(end - old);
		}
		old = *end ? end + 1 : end;
	}
	to[n] = '\0';
	return n;
}

struct survey {
	size_t count;
	const char *preload; /* value, "" when absent */
	bool has_preload, has_socket;
};

static void look_through(char *const *env, const char *socket, struct survey *ret)
{
	*ret = (struct survey){.preload = ""};
	for (; env && env[ret->count]; ret->count++) {
		const char *after = aw_text_after(env[ret->count], PRELOAD);

		if (after && !ret->has_preload) {
			ret->preload = after;
			ret->has_preload = true;
		}
		after = aw_text_after(env[ret->count], SOCKET);
		if (after && aw_text_equal(after, socket))
			ret->has_socket = true;
	}
}

static bool right_already(
	const struct survey *seen, const struct aw_page *page, bool foreign)
{
	if (foreign)
		return !in_list(seen->preload, page->shim);
	return in_list(seen->preload, page->shim) == seen->preload &&
	       seen->preload[0] && (seen->has_socket || !page->socket[0]);
}

static void fill(char *const *env, const struct survey *seen,
	const struct aw_page *page, bool foreign, struct aw_child_env *ret)
{
	char *text = (char *)(ret->vector + seen->count + 3);
	size_t n = 0;
	bool placed = false;

	write_preload(text, seen->preload, page->shim, foreign);
	for (size_t i = 0; i < seen->count; i++) {
		if (!aw_text_after(env[i], PRELOAD)) {
			ret->vector[n++] = env[i];
		} else if (!placed) {
			placed = true;
			if (text[sizeof(PRELOAD) - 1])
				ret->vector[n++] = text;
		}
	}
	if (!placed && !foreign)
		ret->vector[n++] = text;
	if (!foreign && page->socket[0] && !seen->has_socket) {
		text += strlen(text) + 1;
		ret->vector[n++] = text;
		text += aw_text_copy(text, sizeof(SOCKET), SOCKET);
		aw_text_copy(text, sizeof(page->socket), page->socket);
	}
	ret->vector[n] = NULL;
}

void aw_child_env_make(char *const *env, bool foreign, struct aw_child_env *ret)
{
	const struct aw_page *page = aw_session();
	struct survey seen;
	long mapping;

	*ret = (struct aw_child_env){.vector = (char **)env};
	if (!page || !page->shim[0] || aw_work() == AW_WORK_NONE ||
		aw_has_own_filter(aw_self_if_ready()) || !aw_vector_readable(env))
		return; /* EFAULT is the kernel's to say */
	/* without a kernel layer nobody hands the shim into a chroot: not there, not
	 * named */
	if (page->socket[0] && aw_raw(__NR_faccessat, AT_FDCWD, page->shim, R_OK) < 0)
		foreign = true;
	look_through(env, page->socket, &seen);
	if (right_already(&seen, page, foreign))
		return;
	ret->size = (seen.count + 3) * sizeof(char *) + strlen(seen.preload) +
		    sizeof(page->shim) + sizeof(page->socket) + 64;
	mapping = aw_raw(__NR_mmap, 0, ret->size, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapping < 0 && mapping > -4096)
		return;
	ret->mapping = (void *)mapping;
	ret->vector = ret->mapping;
	fill(env, &seen, page, foreign, ret);
}

void aw_child_env_release(struct aw_child_env *env)
{
	if (env->mapping)
		aw_raw(__NR_munmap, env->mapping, env->size);
	env->mapping = NULL;
}
