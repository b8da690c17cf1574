/* SPDX-License-Identifier: Apache-2.0 */
/* guard_socket.c - a server's socket that would get a name under which it may be
 * reached. */
#include "supervisor/linux/sockets/guard_socket.h"

#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "supervisor/linux/netns/unix_listens.h"
#include "supervisor/linux/sockets/bound.h"

/* One directory that gets a new name. */
struct moved {
	const struct aw_notified *call;
	const struct aw_location *from, *to;
	struct aw_decision *ret;
};

static void judge(const struct aw_notified *call, const char *name, size_t len,
	struct aw_decision *ret)
{
	const struct aw_address address = {
		.family = AF_UNIX, .path = name, .path_len = len};

	aw_image_decide_address_in(atomic_load(&call->watch->image),
		call->target.who.role.profiles, AW_CONNECT, &address, ret);
}

/* Would it be reached under the one name, and may it not under the other? */
static bool opens(const struct aw_notified *call, const char *from, size_t from_len,
	const char *to, size_t to_len, struct aw_decision *ret)
{
	struct aw_decision now, then;

	judge(call, to, to_len, &then);
	judge(call, from, from_len, &now);
	if (then.verdict != AW_ALLOW || now.verdict == AW_ALLOW)
		return false;
	*ret = now;
	return true;
}

static bool join(char out[static PATH_MAX], const struct aw_location *place,
	const char *rest, size_t len)
{
	if (place->len + len >= PATH_MAX)
		return false;
	memcpy(out, place->name, place->len);
	memcpy(out + place->len, rest, len);
	return true;
}

static bool is_opened(void *arg, uint32_t inode, const char *rest, size_t len)
{
	const struct moved *m = arg;
	char from[PATH_MAX], to[PATH_MAX];

	return join(from, m->from, rest, len) && join(to, m->to, rest, len) &&
	       opens(m->call, from, m->from->len + len, to, m->to->len + len, m->ret) &&
	       !aw_bound_has_socket(m->call->watch, inode);
}

bool aw_guard_sockets(const struct aw_notified *call, const struct aw_location *from,
	const struct aw_location *to, struct aw_decision *ret)
{
	struct moved moved = {call, from, to, ret};

	if (from->object < 0 ||
		(S_ISDIR(from->st.st_mode) && call->row->effect != AW_FX_RENAME))
		return false;
	if (S_ISSOCK(from->st.st_mode))
		return opens(call, from->name, from->len, to->name, to->len, ret) &&
		       !aw_bound_has_file(call->watch, &from->st) &&
		       aw_unix_has_owner(&from->st);
	*ret = (struct aw_decision){AW_DENY, AW_NO_RULE};
	return S_ISDIR(from->st.st_mode) &&
	       aw_unix_any_below(from->name, from->len, is_opened, &moved);
}
