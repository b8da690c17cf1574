/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - names above what a rule guards, which must not lead somewhere else.
 *
 * Rules are about resolved paths.  A symbolic link ".claude" to "x" would make
 * "x/settings.json" what programs outside read as ".claude/settings.json", and no rule
 * speaks of "x".  The same goes for a link that is renamed or linked there, and for a
 * directory that is moved.  One question answers all of them: does a rule guard the new
 * name, or something below it, that it does not guard at the place where this really
 * is?
 */
#ifndef AW_SUPERVISOR_LINUX_EMULATE_GUARD_H
#define AW_SUPERVISOR_LINUX_EMULATE_GUARD_H

#include <sys/types.h>

#include "policy/image/image.h"
#include "supervisor/audit/event.h"
#include "supervisor/linux/target/target.h"

/* What gets a new name. */
struct aw_guard_thing {
	mode_t mode; /* 0: nothing is there */
	int object;  /* O_PATH, borrowed: whose text is read when it is a symbolic link
		      */
};

/*
 * A symbolic link with this text at a resolved name.  True: refused, or a human is
 * asked, with the rule in *ret.  What is outside of the session follows the link from
 * the root of this machine, so it is resolved there, with our own rights.
 */
bool aw_guard_link(const struct aw_image *image, const struct aw_target *target,
	const struct aw_text *name, const char *text, struct aw_decision *ret);

/* A thing that is at the name `from` gets the name `to`, and, with `moves`, leaves the
 * other one. */
bool aw_guard_entry(const struct aw_image *image, const struct aw_target *target,
	const struct aw_guard_thing *thing, const struct aw_text *from,
	const struct aw_text *to, bool moves, struct aw_decision *ret);

#endif
