/* SPDX-License-Identifier: Apache-2.0 */
/* emulate.c - a target's arguments and the places they name. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "supervisor/linux/emulate/emulate.h"
#include "supervisor/linux/target/creds.h"
#include "supervisor/util/cleanup.h"

bool aw_emulate_read(struct aw_notified *call, uint64_t address, char *raw)
{
	if (aw_target_string(&call->target, address, raw, 4096) >= 0)
		return true;
	aw_call_unreadable(call, errno ? errno : EFAULT);
	return false;
}

/*
 * Nothing can be done.  What is not there is no denial; a path that may not be looked
 * at, or that a sandbox hides since the policy denies it, is one.
 */
static void leads_nowhere(struct aw_notified *call,
	const struct aw_path_walk_params *params, const struct aw_location *place,
	char *raw, char *text, struct aw_text *ret_path, struct aw_text *ret_raw,
	int err)
{
	struct aw_decision decision = {AW_ALLOW, AW_NO_RULE};
	size_t len = place->len;
	bool nothing;
	int ignored;

	*ret_raw = (struct aw_text){raw, strlen(raw)};
	aw_creds_restore();
	if (len)
		memcpy(text, place->name, len + 1);
	else
		len = aw_target_resolve(&call->target, params->dir, raw, params->follow,
			text, AW_CALL_PATH, &ignored);
	if (!len) { /* no rule can be about it */
		aw_call_unreadable(call, err);
		return;
	}
	*ret_path = (struct aw_text){text, len};
	nothing = (err == ENOENT || err == ENOTDIR) && aw_call_is_absent(call, text);
	if (!nothing)
		aw_image_decide_path_in(atomic_load(&call->watch->image),
			call->target.who.role.profiles, call->event.action, text, len,
			&decision);
	call->would_fail = err;
	aw_call_decide(call, &decision);
	call->would_fail = 0;
	if (call->reply != AW_REPLY_FAIL)
		aw_emulate_answer(call, -err);
}

/* "link/" is what the link leads to, but for calls that name an entry of a directory. */
static bool follows_slash(const struct aw_notified *call, const char *raw)
{
	size_t len = strlen(raw);

	switch ((enum aw_effect)call->row->effect) {
	case AW_FX_OPEN:
		return len && raw[len - 1] == '/' &&
		       !(aw_call_open_flags(call) & O_CREAT);
	case AW_FX_LINK:
		return raw == call->raw && len && raw[len - 1] == '/';
	case AW_FX_WRITE:
	case AW_FX_META:
	case AW_FX_CHDIR:
		return len && raw[len - 1] == '/';
	default:
		return false;
	}
}

bool aw_emulate_find(struct aw_notified *call, const struct aw_path_walk_params *params,
	char *raw, struct aw_location *place, struct aw_text *ret_path,
	struct aw_text *ret_raw)
{
	char *text = raw == call->raw ? call->path : call->path2;
	struct aw_path_walk_params now = *params;
	int err;

	now.follow |= follows_slash(call, raw);
	err = aw_path_walk(call->watch, &call->target, &now, raw, place);
	if (err) {
		leads_nowhere(call, params, place, raw, text, ret_path, ret_raw, err);
		return false;
	}
	ret_path->bytes = text;
	memcpy(text, place->name, place->len + 1);
	ret_path->len = place->len;
	if (strcmp(raw, text) != 0)
		*ret_raw = (struct aw_text){raw, strlen(raw)};
	return true;
}
