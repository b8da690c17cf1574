/* SPDX-License-Identifier: Apache-2.0 */
/* reference_policy.c - policies that a call is held against while a policy is learnt. */
#include "supervisor/learn/reference_policy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "supervisor/util/cleanup.h"

static int first_mistake(const struct aw_diagnostics *found, struct aw_error *err)
{
	for (size_t i = 0; i < found->count; i++)
		if (!found->items[i].warning)
			return aw_fail(err, EINVAL, "line %u: %s", found->items[i].line,
				found->items[i].text);
	return aw_fail(err, ENOMEM, "out of memory");
}

/* The loader reads files, so the text becomes one that has no name. */
int aw_judge_load(const char *text, const struct aw_policy_variables *variables,
	struct aw_policy *ret, struct aw_error *err)
{
	AW_CLOSE int fd = memfd_create("agentwatch-learn", MFD_CLOEXEC);
	struct aw_diagnostics found = {0};
	size_t len = strlen(text);
	char name[40];
	int r;

	if (fd < 0 || write(fd, text, len) != (ssize_t)len)
		return aw_fail(err, errno, "a policy in memory: %s", strerror(errno));
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	r = aw_policy_load(&(struct aw_policy_source){name, "learn", AW_TRUSTED}, 1,
		variables, AW_ENFORCE, true, ret, &found);
	if (r < 0)
		first_mistake(&found, err);
	aw_diagnostics_free(&found);
	return r;
}

/* "/proc/PID" of the caller itself is what rules call /proc/self. */
static size_t as_self(
	const struct aw_seen *seen, const char *path, char *to, size_t size)
{
	char own[32];
	int n = snprintf(own, sizeof(own), "/proc/%d", seen->pid);

	if (strncmp(path, own, (size_t)n) != 0 || (path[n] && path[n] != '/'))
		return 0;
	return (size_t)snprintf(to, size, "/proc/self%s", path + n);
}

static void judge_file(const struct aw_image *image, const struct aw_seen *seen,
	const struct aw_access_need *need, struct aw_decision *ret)
{
	struct aw_decision own;
	char self[4200];
	size_t n;

	aw_image_decide_path(image, need->action, need->path, need->len, ret);
	n = as_self(seen, need->path, self, sizeof(self));
	if (!n || n >= sizeof(self))
		return;
	aw_image_decide_path(image, need->action, self, n, &own);
	if (ret->rule == AW_NO_RULE || own.verdict > ret->verdict)
		*ret = own;
}

int aw_judge_load_alone(const char *text, const struct aw_policy_variables *variables,
	struct aw_policy *ret, struct aw_error *err)
{
	struct aw_policy_variables alone = *variables;

	alone.base = aw_base_name(AW_BASE_OPEN);
	return aw_judge_load(text, &alone, ret, err);
}

void aw_judge(const struct aw_policy *policy, const struct aw_seen *seen,
	const struct aw_access_need *need, struct aw_decision *ret)
{
	switch (need->access) {
	case AW_GRANT_EXEC:
		aw_image_decide_exec(policy->image, need->path, need->len, seen->argv,
			seen->argc, ret);
		return;
	case AW_GRANT_CONNECT:
	case AW_GRANT_LISTEN:
		aw_image_decide_address(
			policy->image, need->action, &seen->address, ret);
		return;
	default:
		judge_file(policy->image, seen, need, ret);
	}
}
