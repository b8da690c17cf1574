/* SPDX-License-Identifier: Apache-2.0 */
/* plan_exposed.c - what of the host is shown, perhaps under another name. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "policy/image/region.h"
#include "supervisor/sandbox/plan_internal.h"
#include "supervisor/util/cleanup.h"

const struct aw_exposed *aw_plan_exposed_at(
	const struct aw_plan_maker *maker, const char *path)
{
	const struct aw_policy *policy = maker->params->policy;
	const struct aw_exposed *best = NULL;

	for (size_t i = 0; i < policy->exposed_count; i++) {
		const struct aw_exposed *e = &policy->exposed[i];

		if (aw_path_is_below(path, e->target) &&
			(!best || strlen(e->target) > strlen(best->target)))
			best = e;
	}
	return best;
}

static bool has_other_name(const struct aw_exposed *e)
{
	return e && strcmp(e->source, e->target) != 0;
}

bool aw_plan_is_shown_to_read(const struct aw_plan_maker *maker, const char *path)
{
	const struct aw_exposed *e = aw_plan_exposed_at(maker, path);

	return has_other_name(e) && !e->write;
}

char *aw_plan_host_path(const struct aw_plan_maker *maker, const char *path)
{
	const struct aw_exposed *e = aw_plan_exposed_at(maker, path);
	char *host = NULL;

	if (!has_other_name(e))
		host = strdup(path);
	else if (asprintf(&host, "%s%s", e->source, path + strlen(e->target)) < 0)
		host = NULL;
	return host;
}

enum aw_plan_access aw_plan_shown_at(const struct aw_plan_maker *maker,
	enum aw_plan_access wanted, const struct aw_grade *grade)
{
	bool decides =
		grade->rule != AW_NO_RULE || aw_image_defaults_apart(maker->image);

	return decides && grade->access < wanted ? grade->access : wanted;
}

void aw_plan_want_exposed(struct aw_plan_maker *maker)
{
	const struct aw_plan_params *params = maker->params;

	for (size_t i = 0; i < params->policy->exposed_count; i++) {
		const struct aw_exposed *e = &params->policy->exposed[i];
		struct aw_plan_place *place =
			aw_plan_place_add(maker, e->target, "exposed");

		place->forced = place->exposed = true;
		place->access = e->write ? AW_PLAN_WRITE : AW_PLAN_READ;
		place->source = strdup(e->source);
		maker->failed |= !place->source;
	}
}

int aw_plan_check_exposed(const struct aw_plan_params *params, struct aw_error *err)
{
	for (size_t i = 0; i < params->policy->exposed_count; i++) {
		const struct aw_exposed *e = &params->policy->exposed[i];

		if (access(e->source, F_OK) < 0)
			return aw_fail(err, errno,
				"filesystem.expose, line %u: the source %s cannot be shown: %s",
				e->line, e->source, strerror(errno));
	}
	return 0;
}
