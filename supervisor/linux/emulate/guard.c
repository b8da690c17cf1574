/* SPDX-License-Identifier: Apache-2.0 */
/* guard.c - names above what a rule guards. */
#include "supervisor/linux/emulate/guard.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/image/region.h"
#include "policy/path.h"

enum { PATH_SIZE = 4352 };

/*
 * May nothing below the path be changed?  Then whatever is there was not put there by
 * the session, and links into it do no harm.  Profiles may have lists of their own, of
 * which a region does not tell.
 */
static bool is_settled(
	const struct aw_image *image, uint32_t profiles, const char *path, size_t len)
{
	struct aw_region region;

	if (profiles)
		return false;
	aw_image_region(image, path, len, &region);
	if (region.mildest_write.verdict == AW_ALLOW ||
		region.mildest_write.verdict == AW_ASK)
		return false;
	for (size_t i = 0; i < aw_image_pattern_count(image); i++) {
		struct aw_boundary boundary;
		char at[PATH_SIZE];
		size_t n = aw_image_boundary(image, i, at, sizeof(at), &boundary);
		bool below = len == 1 || (n >= len && memcmp(at, path, len) == 0 &&
						 (at[len] == '/' || !at[len]));

		if (boundary.kind == AW_BOUNDARY_FILES && (!n || below))
			return false;
	}
	return true;
}

/* The absolute text of a link at name; 0: too long. */
static size_t absolute(const struct aw_text *name, const char *text, char *to)
{
	size_t folder = name->len, len = strlen(text);

	while (folder && name->bytes[folder - 1] != '/')
		folder--;
	if (text[0] == '/')
		folder = 0;
	if (folder + len >= PATH_SIZE)
		return 0;
	memcpy(to, name->bytes, folder);
	memcpy(to + folder, text, len + 1);
	return folder + len;
}

/* Is something guarded below the name that is not at that place, and may come there? */
static bool leaves(const struct aw_image *image, uint32_t profiles,
	const struct aw_text *name, const char *place, size_t len,
	struct aw_decision *ret)
{
	return aw_image_carries(
		       image, profiles, name->bytes, name->len, place, len, ret) &&
	       !is_settled(image, profiles, place, len);
}

bool aw_guard_link(const struct aw_image *image, const struct aw_target *target,
	const struct aw_text *name, const char *text, struct aw_decision *ret)
{
	uint32_t profiles = target->who.role.profiles;
	struct aw_target host = *target;
	char path[PATH_SIZE], real[PATH_SIZE];
	size_t len = 0;
	int ignored;

	/* most names are above nothing that any rule is about */
	if (!aw_image_carries(image, profiles, name->bytes, name->len, "/", 1, ret))
		return false;
	host.who.plain_root = true;
	if (absolute(name, text, path))
		len = aw_target_resolve(
			&host, AT_FDCWD, path, true, real, sizeof(real), &ignored);
	if (!len || leaves(image, profiles, name, real, len, ret))
		return true;
	/* where the text passes through the session's own, that may lead elsewhere soon */
	len = aw_path_join("/", 1, path, strlen(path), real, sizeof(real));
	return !len || leaves(image, profiles, name, real, len, ret);
}

static bool carries(const struct aw_image *image, const struct aw_target *target,
	const struct aw_text *from, const struct aw_text *to, struct aw_decision *ret)
{
	return aw_image_carries(image, target->who.role.profiles, from->bytes,
		from->len, to->bytes, to->len, ret);
}

/* Would a program under another name be one that no rule is about any more? */
static bool frees_program(const struct aw_image *image, const struct aw_target *target,
	const struct aw_guard_thing *thing, const struct aw_text *from,
	const struct aw_text *to, struct aw_decision *ret)
{
	return aw_image_carries_programs(image, target->who.role.profiles,
		S_ISDIR(thing->mode), from->bytes, from->len, to->bytes, to->len, ret);
}

static void stricter(struct aw_decision *ret, const struct aw_decision *other)
{
	if (other->verdict > ret->verdict)
		*ret = *other;
}

bool aw_guard_entry(const struct aw_image *image, const struct aw_target *target,
	const struct aw_guard_thing *thing, const struct aw_text *from,
	const struct aw_text *to, bool moves, struct aw_decision *ret)
{
	struct aw_decision out = {AW_ALLOW, AW_NO_RULE}, found = out;
	char text[PATH_SIZE];
	ssize_t n;

	if (S_ISLNK(thing->mode)) {
		n = readlinkat(thing->object, "", text, sizeof(text) - 1);
		text[n < 0 ? 0 : n] = '\0';
		return aw_guard_link(image, target, to, text, ret);
	}
	if (S_ISDIR(thing->mode)) {
		if (!moves) /* which has no second name */
			return false;
		/* into the reach of a rule, where it could not have been made */
		carries(image, target, to, from, &found);
		/* out of it, with the directory above */
		if (carries(image, target, from, to, &out))
			stricter(&found, &out);
	} else if (!S_ISREG(thing->mode)) {
		return false;
	}
	if (frees_program(image, target, thing, from, to, &out))
		stricter(&found, &out);
	*ret = found;
	return found.verdict != AW_ALLOW;
}
