/* SPDX-License-Identifier: Apache-2.0 */
/* load_release.c - freeing what was loaded. */
#include <stdlib.h>
#include <string.h>

#include "policy/load/load_internal.h"

void aw_policy_release(struct aw_policy *policy)
{
	size_t i;

	for (i = 0; i < AW_FIELDS; i++)
		free(*aw_field_of(policy, (int)i));
	for (i = 0; i <= AW_STRATUM_UNTRUSTED; i++) {
		aw_variable_names_free(&policy->environment.rules[i].inherit);
		aw_variable_names_free(&policy->environment.rules[i].unset);
	}
	for (i = 0; i < policy->environment.set_count; i++) {
		free(policy->environment.set[i].name);
		free(policy->environment.set[i].value);
		free(policy->environment.set[i].text);
	}
	free(policy->environment.set);
	for (i = 0; i < policy->exposed_count; i++)
		aw_exposed_free(&policy->exposed[i]);
	free(policy->exposed);
	aw_network_release(&policy->network);
	aw_profiles_free(policy);
	free(policy->log);
	free(policy->picked);
	free(policy->sections);
	free(policy->runner_shown);
	free(policy->image);
	aw_places_free(policy);
	aw_expectations_free(policy);
	aw_origins_free(policy);
	memset(policy, 0, sizeof(*policy));
}
