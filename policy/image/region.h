/* SPDX-License-Identifier: Apache-2.0 */
/*
 * region.h - what a policy says about whole directories, for those who build sandboxes.
 *
 * A sandbox knows paths, not patterns.  Every path pattern begins with literal
 * components; where they end is a boundary, and between boundaries only what comes
 * after a wildcard can make a difference.  Pure questions about an image: no I/O, no
 * allocation.
 */
#ifndef AW_POLICY_IMAGE_REGION_H
#define AW_POLICY_IMAGE_REGION_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/image/image.h"

/* What a boundary's pattern belongs to. */
enum aw_boundary_kind {
	AW_BOUNDARY_FILES,  /* the file lists, or exec rules by path */
	AW_BOUNDARY_SOCKET, /* a Unix socket that may be spoken to or listened on */
	AW_BOUNDARY_OTHER,
};

struct aw_boundary {
	enum aw_boundary_kind kind;
	bool wild;    /* the pattern goes on with a wildcard */
	bool negated; /* "!" */
};

size_t aw_image_pattern_count(const struct aw_image *image);

/*
 * The literal components that pattern i begins with, as a path ("/" when there are
 * none); its length, 0 when it does not fit.
 */
size_t aw_image_boundary(const struct aw_image *image, size_t i, char *to, size_t size,
	struct aw_boundary *ret);

/*
 * Bounds for all that is below a directory, as far as no boundary lies below it: no
 * file there has a milder or stricter verdict than these.
 */
struct aw_region {
	struct aw_decision mildest_read, strictest_read, mildest_write;
};
void aw_image_region(const struct aw_image *image, const char *path, size_t len,
	struct aw_region *ret);

/*
 * True when no rule refuses reading path, or anything that is or may ever come below
 * it; a question counts as a refusal.  What profiles say is left out.
 */
bool aw_image_reads_all(const struct aw_image *image, const char *path, size_t len);

/*
 * Does the system policy, or a file that is not trusted, refuse anything of files where
 * it has no rule?
 */
bool aw_image_defaults_apart(const struct aw_image *image);

/* True when both say the same where no list says anything. */
bool aw_image_same_defaults(const struct aw_image *a, const struct aw_image *b);

/* How much of the network can be of use. */
enum aw_reach {
	AW_REACH_ALL,  /* nothing is refused */
	AW_REACH_NONE, /* everything is */
	AW_REACH_SOME,
};
enum aw_reach aw_image_network(const struct aw_image *image);

/* Is what no list has refused?  Exceptions to a network that is open do not count. */
bool aw_image_network_closed(const struct aw_image *image);

/* True when a process in these profiles is refused nothing of it: policy/image/image.h. */
bool aw_image_network_open(const struct aw_image *image, uint32_t profiles);

/*
 * Is there a list of what a process in these profiles may listen on, by Internet
 * address or empty?  policy/image/image.h
 */
bool aw_image_lists_listening(const struct aw_image *image, uint32_t profiles);

/*
 * Behind a sandbox with a network of its own what stays among the processes needs no
 * rule: what such a denial by a default becomes there, unless a profile is against it.
 */
void aw_image_decide_inside(const struct aw_image *image, uint32_t profiles,
	enum aw_action action, const struct aw_address *to,
	struct aw_decision *decision);

/*
 * Every range of ports that some rule admits for AW_CONNECT or AW_BIND; false, and no
 * calls, when ports make no difference.
 */
bool aw_image_ports(const struct aw_image *image, enum aw_action action,
	void (*each)(void *ctx, unsigned low, unsigned high), void *ctx);

#endif
