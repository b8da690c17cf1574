/* SPDX-License-Identifier: Apache-2.0 */
/* access_need.c - what a call needs of a policy, and whether a policy may simply give
 * it. */
#include "supervisor/learn/access_need.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/array.h"
#include "policy/glob.h"
#include "policy/port_file.h"
#include "policy/port_net.h"
#include "policy/private.h"
#include "supervisor/learn/secret.h"

#define SHIM "/libagentwatch.so"

static const char floor_text[] = "version: 1\nmode: enforce\npreset: []\n"
				 "filesystem: {default: allow}\n";
static const char base_text[] = "version: 1\nmode: enforce\npreset: []\n"
				"filesystem: {default: deny}\nexec: {default: deny}\n"
				"network: {default: deny, listen: []}\n";
static const char dns_text[] =
	"version: 1\nmode: enforce\npreset: []\n"
	"network: {default: deny, allow: [\"$NAMESERVERS:53\"]}\n";

int aw_baseline_init(struct aw_baseline *sieve,
	const struct aw_policy_variables *variables, const struct aw_policy *present,
	struct aw_error *err)
{
	memset(sieve, 0, sizeof(*sieve));
	sieve->present = present;
	aw_path_variables_init(&sieve->anchors, variables);
	if (aw_judge_load_alone(floor_text, variables, &sieve->floor, err) == 0 &&
		aw_judge_load_alone(base_text, variables, &sieve->base, err) == 0 &&
		aw_judge_load_alone(dns_text, variables, &sieve->dns, err) == 0)
		return 0;
	aw_baseline_release(sieve);
	return -1;
}

void aw_baseline_release(struct aw_baseline *sieve)
{
	struct aw_policy *all[] = {&sieve->floor, &sieve->base, &sieve->dns};

	for (size_t i = 0; i < 3; i++)
		if (all[i]->image)
			aw_policy_release(all[i]);
}

static bool is_any_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

/* Calls that look at metadata are logged as reads, but judged by hide alone. */
static bool looks_at_metadata(const char *call)
{
	return strstr(call, "stat") || strstr(call, "access") ||
	       strstr(call, "readlink") || strstr(call, "getxattr") ||
	       strstr(call, "listxattr");
}

static bool failed_with(const struct aw_seen *seen, const char *error)
{
	return seen->outcome == AW_OUTCOME_FAILED && strcmp(seen->error, error) == 0;
}

static bool was_missing(const struct aw_seen *seen)
{
	return failed_with(seen, "ENOENT") || failed_with(seen, "ENOTDIR");
}

static bool makes_folder(const struct aw_seen *seen)
{
	static const char *const calls[] = {"mkdir", "mkdirat", NULL};

	return is_any_of(seen->call, calls);
}

/* A directory that was there before: the kernel says so, or it cannot be otherwise. */
static bool was_there(
	const struct aw_baseline *sieve, const struct aw_seen *seen, const char *path)
{
	if (failed_with(seen, "EEXIST"))
		return true;
	return seen->outcome == AW_OUTCOME_UNKNOWN && makes_folder(seen) &&
	       aw_path_variable_within(&sieve->anchors, path, true);
}

/* O_TMPFILE: nothing else makes what is a directory by opening it. */
static bool makes_unnamed(
	const struct aw_baseline *sieve, const struct aw_seen *seen, const char *path)
{
	const char *rest;
	struct stat st;

	if (seen->action != AW_CREATE || strncmp(seen->call, "open", 4) != 0)
		return false;
	if (aw_path_variable_of(&sieve->anchors, path, &rest) > 0 && !*rest)
		return true;
	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The name that a call is about; the end of a link is judged as policy/decide.c has it. */
static struct aw_access_need file_need(const struct aw_baseline *sieve,
	const struct aw_seen *seen, const char *path, size_t len, enum aw_action action)
{
	static const char *const listing[] = {
		"opendir", "fdopendir", "scandir", "ftw", "nftw", "fts_open", NULL};
	static const char *const entering[] = {"chdir", "fchdir", "chroot", NULL};
	struct aw_access_need need = {.action = action, .path = path, .len = len};

	if (action != AW_READ && was_there(sieve, seen, path))
		need.action = AW_READ;
	need.access = need.action == AW_READ ? AW_GRANT_READ : AW_GRANT_WRITE;
	need.missing = was_missing(seen);
	need.made = need.access == AW_GRANT_WRITE && makes_folder(seen);
	need.entered =
		is_any_of(seen->call, entering) || (makes_folder(seen) && !need.made);
	need.unnamed =
		need.access == AW_GRANT_WRITE && makes_unnamed(sieve, seen, path);
	need.folder = need.entered || need.made || need.unnamed ||
		      is_any_of(seen->call, listing);
	return need;
}

/* The shim is opened for every program and belongs to the watch. */
static bool is_shim(const struct aw_seen *seen)
{
	size_t len = sizeof(SHIM) - 1;

	return seen->action == AW_READ && seen->path_len > len &&
	       strcmp(seen->path + seen->path_len - len, SHIM) == 0;
}

static size_t file_needs(const struct aw_baseline *sieve, const struct aw_seen *seen,
	struct aw_access_need *needs)
{
	bool symlink = strstr(seen->call, "symlink") != NULL;
	bool link = !symlink && strncmp(seen->call, "link", 4) == 0;

	if (looks_at_metadata(seen->call) || seen->path[0] != '/' || is_shim(seen))
		return 0;
	needs[0] = file_need(sieve, seen, seen->path, seen->path_len,
		link ? AW_WRITE : seen->action);
	if (!seen->path2_len || seen->path2[0] != '/')
		return 1;
	needs[1] = file_need(sieve, seen, seen->path2, seen->path2_len,
		symlink ? AW_READ : seen->action);
	return 2;
}

/* Binding a Unix socket makes a file, too. */
static size_t address_needs(const struct aw_seen *seen, struct aw_access_need *needs)
{
	const struct aw_address *address = &seen->address;
	bool bind = seen->action == AW_BIND;

	if (!address->family || (address->family == AF_UNIX && !address->path_len))
		return 0;
	needs[0] = (struct aw_access_need){.action = seen->action,
		.access = bind ? AW_GRANT_LISTEN : AW_GRANT_CONNECT,
		.path = ""};
	if (!bind || address->family != AF_UNIX || address->path[0] != '/')
		return 1;
	needs[1] = (struct aw_access_need){.action = AW_BIND,
		.access = AW_GRANT_WRITE,
		.path = address->path,
		.len = address->path_len};
	return 2;
}

size_t aw_needs_of(const struct aw_baseline *sieve, const struct aw_seen *seen,
	struct aw_access_need needs[AW_NEEDS_MAX])
{
	switch (seen->action) {
	case AW_EXEC:
		if (seen->path[0] != '/')
			return 0;
		needs[0] = (struct aw_access_need){.access = AW_GRANT_EXEC,
			.action = AW_EXEC,
			.path = seen->path,
			.len = seen->path_len,
			.missing = was_missing(seen)};
		needs[1] = needs[0];
		needs[1].access = AW_GRANT_READ;
		needs[1].action = AW_READ;
		return 2;
	case AW_CONNECT:
	case AW_SEND:
	case AW_BIND:
		return address_needs(seen, needs);
	case AW_SYSTEM_CALL:
		return 0;
	default:
		return file_needs(sieve, seen, needs);
	}
}

static enum aw_access_outcome asked(
	struct aw_learn_reason *reason, enum aw_cause cause, const char *text)
{
	reason->cause = cause;
	snprintf(reason->text, sizeof(reason->text), "%s", text);
	return AW_OUTCOME_ASKED;
}

static bool is_protected(const struct aw_baseline *sieve, const struct aw_seen *seen,
	const struct aw_access_need *need, struct aw_learn_reason *reason)
{
	struct aw_decision decision;
	struct aw_rule rule;

	aw_judge(&sieve->floor, seen, need, &decision);
	if (decision.verdict == AW_ALLOW)
		return false;
	asked(reason, AW_CAUSE_PROTECTED,
		aw_image_rule(sieve->floor.image, decision.rule, &rule) ? rule.text
									: "");
	return true;
}

static bool denied_by(struct aw_learn_reason *reason, const char *file, unsigned line,
	const char *text)
{
	reason->cause = AW_CAUSE_DENIED;
	snprintf(reason->text, sizeof(reason->text), "%.60s:%u: %.70s",
		file ? file : "?", line, text ? text : "");
	return true;
}

/* A rule of the policy that counts now says no: what it says is meant. */
static bool is_denied(const struct aw_baseline *sieve, const struct aw_seen *seen,
	const struct aw_access_need *need, struct aw_learn_reason *reason)
{
	struct aw_decision decision;
	struct aw_rule rule;

	/* the log does not say which end of a call its rule is about */
	if (seen->refused && !seen->path2_len &&
		strcmp(seen->rule_layer ? seen->rule_layer : "", "built-in") != 0)
		return denied_by(reason, seen->rule_file, seen->rule_line, seen->rule);
	if (!sieve->present)
		return false;
	aw_judge(sieve->present, seen, need, &decision);
	if (decision.verdict == AW_ALLOW ||
		!aw_image_rule(sieve->present->image, decision.rule, &rule))
		return false;
	return denied_by(reason, rule.file, rule.line, rule.text);
}

bool aw_host_is_plain(const char *host)
{
	size_t len = strspn(host, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				  "0123456789-._");

	return len > 0 && len < 254 && !host[len];
}

static enum aw_access_outcome internet_fate(const struct aw_baseline *sieve,
	const struct aw_seen *seen, const struct aw_access_need *need,
	struct aw_learn_reason *reason)
{
	struct aw_decision decision;

	if (need->access == AW_GRANT_LISTEN)
		return AW_OUTCOME_WANTED;
	if (!seen->address.port) /* asks which way a packet would go; nothing is sent */
		return AW_OUTCOME_LEFT;
	if ((seen->address.host && aw_host_is_plain(seen->address.host)) ||
		aw_address_is_loopback(&seen->address))
		return AW_OUTCOME_WANTED;
	aw_judge(&sieve->dns, seen, need, &decision);
	if (decision.verdict == AW_ALLOW)
		return AW_OUTCOME_WANTED;
	return asked(reason, AW_CAUSE_ADDRESS, "an address without a name");
}

static enum aw_access_outcome address_fate(const struct aw_baseline *sieve,
	const struct aw_seen *seen, const struct aw_access_need *need,
	struct aw_learn_reason *reason)
{
	const char *what;

	switch (seen->address.family) {
	case AF_INET:
	case AF_INET6:
		return internet_fate(sieve, seen, need, reason);
	case AF_UNIX:
		what = aw_secret_socket(seen->address.path);
		if (what && need->access == AW_GRANT_CONNECT)
			return asked(reason, AW_CAUSE_SECRET, what);
		return AW_OUTCOME_WANTED;
	default:
		return asked(reason, AW_CAUSE_FAMILY,
			"no entry can stand for this family of addresses");
	}
}

/* Enforce keeps these to processes of the session, whatever a policy says; ps(1) can do
 * without. */
static bool is_of_another_process(const struct aw_access_need *need)
{
	static const char *const patterns[] = {
		"/proc/[0-9]*/environ", "/proc/[0-9]*/mem"};

	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++)
		if (aw_glob_covers(
			    patterns[i], strlen(patterns[i]), need->path, need->len))
			return true;
	return false;
}

/* It failed, and a policy that refuses it makes no difference that matters. */
static bool is_lost(const struct aw_seen *seen, const struct aw_access_need *need)
{
	if (seen->outcome != AW_OUTCOME_FAILED || need->access >= AW_GRANT_CONNECT)
		return false;
	if (need->access == AW_GRANT_READ && seen->action != AW_EXEC)
		return failed_with(seen, "EACCES") || failed_with(seen, "EPERM") ||
		       failed_with(seen, "ENAMETOOLONG");
	return true;
}

enum aw_access_outcome aw_access_find_outcome(const struct aw_baseline *sieve,
	const struct aw_seen *seen, const struct aw_access_need *need,
	struct aw_learn_reason *ret_reason)
{
	struct aw_decision decision;
	const char *what;

	aw_judge(&sieve->base, seen, need, &decision);
	if (decision.verdict == AW_ALLOW)
		return AW_OUTCOME_FREE;
	if (is_lost(seen, need) || is_of_another_process(need))
		return AW_OUTCOME_LEFT;
	if (is_protected(sieve, seen, need, ret_reason) ||
		is_denied(sieve, seen, need, ret_reason))
		return AW_OUTCOME_ASKED;
	if (need->access >= AW_GRANT_CONNECT)
		return address_fate(sieve, seen, need, ret_reason);
	what = aw_secret_file(need->path);
	return what ? asked(ret_reason, AW_CAUSE_SECRET, what) : AW_OUTCOME_WANTED;
}
