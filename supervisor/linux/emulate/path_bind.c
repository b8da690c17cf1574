/* SPDX-License-Identifier: Apache-2.0 */
/*
 * path_bind.c - a Unix socket gets its name at a place that was judged.
 *
 * getsockname(2) tells the text that was bound to, and who is sent a datagram answers
 * to it, so the target's own text is used where that leads to the place.  bind(2)
 * cannot be told to follow no link, and what the text leads to may have changed since
 * it was judged. So a thread that lives for this call alone is held by Landlock to make
 * sockets in the directory of the place and nowhere else.  Where that refuses, and
 * where there is no Landlock, the socket is bound by the descriptor of the directory.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "supervisor/linux/emulate/path_act.h"
#include "supervisor/linux/landlock_apply.h"
#include "supervisor/linux/landlock_rights.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/util/cleanup.h"

enum { SUN_NAME = sizeof(((struct sockaddr_un *)0)->sun_path) };

struct binding {
	struct aw_watch *watch;
	const struct aw_target *target;
	const struct aw_location *place;
	const char *text;
	int socket;
	bool done;
};

static int bind_to(int socket, const char *text)
{
	struct sockaddr_un un = {.sun_family = AF_UNIX};
	size_t len = strlen(text);

	if (len > sizeof(un.sun_path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(un.sun_path, text, len);
	len += offsetof(struct sockaddr_un, sun_path) + (len < sizeof(un.sun_path));
	return bind(socket, (const struct sockaddr *)&un, (socklen_t)len);
}

/* A name that fits only without the way to its directory. */
static int bind_from(const struct aw_location *place, int socket)
{
	int result, why;

	if (fchdir(place->parent) < 0)
		return -1;
	result = bind_to(socket, place->last);
	why = errno;
	if (chdir("/") < 0)
		return -1;
	errno = why;
	return result;
}

/* From now on this thread makes sockets below the directory and nothing else. */
static bool hold_to(int folder)
{
	AW_CLOSE int rules = aw_landlock_begin(AW_LL_MAKES, 0, 0);

	return rules >= 0 &&
	       aw_landlock_add_directory(rules, folder, AW_LL_MAKE_SOCK) == 0 &&
	       aw_landlock_restrict(rules) == 0;
}

static void *bind_by_text(void *arg)
{
	struct binding *b = arg;
	char link[64];

	aw_creds_prepare();
	snprintf(link, sizeof(link), "/proc/%d/cwd", b->target->tid);
	if (chdir(link) < 0 || aw_creds_assume(b->watch, b->target))
		return NULL;
	b->done = hold_to(b->place->parent) && bind_to(b->socket, b->text) == 0;
	return NULL;
}

/* Does the text seem to lead there?  Else no thread is needed to find out. */
static bool may_lead_there(const struct binding *b)
{
	char folder[SUN_NAME + 2], link[64];
	const char *cut = strrchr(b->text, '/');
	AW_CLOSE int from = -1;
	struct stat here, there;

	snprintf(folder, sizeof(folder), "%.*s", cut ? (int)(cut - b->text) + 1 : 1,
		cut ? b->text : ".");
	snprintf(link, sizeof(link), "/proc/%d/cwd", b->target->tid);
	from = open(link, O_PATH | O_CLOEXEC);
	return from >= 0 && fstatat(from, folder, &here, 0) == 0 &&
	       fstat(b->place->parent, &there) == 0 && here.st_dev == there.st_dev &&
	       here.st_ino == there.st_ino;
}

static bool bound_by_text(struct binding *b)
{
	pthread_t thread;

	if (!may_lead_there(b) || pthread_create(&thread, NULL, bind_by_text, b) != 0)
		return false;
	pthread_join(thread, NULL);
	return b->done;
}

int aw_location_bind(struct aw_watch *watch, const struct aw_target *target,
	const struct aw_location *place, int socket, const char *text)
{
	struct binding binding = {watch, target, place, text, socket, false};
	char way[64 + AW_LOCATION_PATH];
	int err = aw_creds_assume(watch, target);

	if (!err && text) {
		/* the new thread has the umask of this one, and no rights but ours */
		aw_creds_restore();
		if (bound_by_text(&binding))
			return 0;
		err = aw_creds_assume(watch, target);
	}
	if (err) {
		errno = err;
		return -1;
	}
	snprintf(way, sizeof(way), "%s/%s", aw_object_path(place->parent).text,
		place->last);
	return strlen(way) <= SUN_NAME ? bind_to(socket, way)
				       : bind_from(place, socket);
}
