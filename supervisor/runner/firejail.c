/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firejail.c - a plan as a firejail profile.
 *
 * firejail knows less than a plan says: it hides whole files and folders, shows parts
 * of a folder only in those right below "/" and in HOME, and keeps the system read-only
 * whatever it is told.  What it cannot hold is held when it is opened.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "supervisor/cleanup.h"
#include "supervisor/runner/runner.h"

static int probe(struct aw_error *err)
{
	AW_FREE char *program = aw_runner_program("firejail");
	char *argv[] = {program, (char *)"--quiet", (char *)"--noprofile", (char *)"--",
		(char *)"/bin/true", NULL};
	char line[160];

	if (!program)
		return aw_fail(err, ENOENT, "firejail is not installed");
	if (aw_runner_try(argv, line, sizeof(line)) == 0)
		return 0;
	return aw_fail(err, EPERM, "firejail does not work here: %s",
		line[0] ? line : "it gave no reason");
}

/* Signs that mean something in a profile; "${" begins a macro. */
static bool can_say(const char *path)
{
	return !strpbrk(path, "*?[]\n\r#,\"'\\&|;<>") && !strstr(path, "${") &&
	       !strstr(path, "..");
}

struct profile {
	FILE *out;
	const struct aw_plan *plan;
	bool held; /* the reads that the plan holds are held here too */
};

static void say(struct profile *p, const char *what, const char *path)
{
	if (can_say(path))
		fprintf(p->out, "%s %s\n", what, path);
	else
		p->held = false;
}

static const struct aw_plan_entry *root_of(const struct aw_plan *plan)
{
	return &plan->entries[0];
}

/* Only what is named is there. */
static bool is_narrow(const struct aw_plan *plan)
{
	return root_of(plan)->access == AW_PLAN_NOTHING || root_of(plan)->partial;
}

static bool is_system(const char *path)
{
	static const char *const names[] = {"/proc", "/dev", "/sys"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t len = strlen(names[i]);

		if (strncmp(path, names[i], len) == 0 &&
			(!path[len] || path[len] == '/'))
			return true;
	}
	return false;
}

/* A folder right below "/" is shown as a whole, or in parts. */
static void show(struct profile *p, const struct aw_plan_entry *entry)
{
	if (strchr(entry->path + 1, '/'))
		say(p, "whitelist", entry->path);
}

static void say_entry(struct profile *p, const struct aw_plan_entry *entry)
{
	bool narrow = is_narrow(p->plan);

	if (is_system(entry->path) || strcmp(entry->path, "/") == 0)
		return;
	p->held = p->held && !entry->partial;
	if (entry->access == AW_PLAN_NOTHING) {
		if (entry->exists && strcmp(entry->why, "home") != 0)
			say(p, "blacklist", entry->path);
		return;
	}
	if (narrow)
		show(p, entry);
	say(p, entry->access == AW_PLAN_WRITE ? "read-write" : "read-only",
		entry->path);
}

/* Folders below "/" of which nothing may be seen. */
static void hide_rest(struct profile *p)
{
	static const char *const names[] = {"/boot", "/home", "/media", "/mnt", "/root",
		"/run", "/srv", "/tmp", "/var"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		bool used = false;

		for (size_t j = 1; j < p->plan->count; j++)
			used |= strncmp(p->plan->entries[j].path, names[i],
					strlen(names[i])) == 0;
		if (!used)
			say(p, "blacklist", names[i]);
	}
}

static void write_profile(struct profile *p)
{
	const struct aw_plan *plan = p->plan;
	bool writable = root_of(plan)->access == AW_PLAN_WRITE;

	fputs("quiet\nipc-namespace\nkeep-dev-shm\nkeep-var-tmp\nkeep-shell-rc\n"
	      "writable-run-user\nwritable-etc\nwritable-var\nwritable-var-log\n",
		p->out);
	if (plan->network == AW_PLAN_NET_NONE)
		fputs("net none\n", p->out);
	if (geteuid() == 0)
		fputs("caps.keep "
		      "chown,dac_override,fsetid,fowner,setgid,setuid,setpcap,"
		      "net_bind_service,kill,audit_write,setfcap\n",
			p->out);
	if (!writable)
		fputs("read-only /\n", p->out);
	for (size_t i = 0; i < plan->count; i++)
		say_entry(p, &plan->entries[i]);
	if (is_narrow(plan))
		hide_rest(p);
}

static int make_profile(const struct aw_plan_wish *wish, const struct aw_plan *plan,
	char **ret_path, bool *ret_held, struct aw_error *err)
{
	struct profile p = {.plan = plan, .held = true};
	AW_FREE char *path = NULL;

	if (asprintf(&path, "%s/firejail.profile",
		    wish->folder ? wish->folder : "SESSION") < 0)
		return aw_fail(err, ENOMEM, "out of memory");
	p.out = fopen(wish->folder ? path : "/dev/null", "we");
	if (!p.out)
		return aw_fail(err, errno, "writing %s: %s", path, strerror(errno));
	write_profile(&p);
	if (fclose(p.out) != 0)
		return aw_fail(err, errno, "writing %s: %s", path, strerror(errno));
	*ret_held = p.held;
	*ret_path = aw_take_ptr(&path);
	return 0;
}

static int build(const struct aw_plan_wish *wish, const struct aw_plan *plan,
	struct aw_wall *ret, struct aw_error *err)
{
	AW_FREE char *program = aw_runner_program("firejail"), *profile = NULL,
		     *option = NULL;
	struct aw_arguments args = {.count = 0};
	bool held = false;

	if (make_profile(wish, plan, &profile, &held, err) < 0)
		return -1;
	if (asprintf(&option, "--profile=%s", profile) < 0)
		return aw_fail(err, ENOMEM, "out of memory");
	AW_ARGS(&args, program ? program : "firejail", "--quiet", option,
		"--keep-fd=all", "--");
	if (args.failed) {
		aw_arguments_free(&args);
		return aw_fail(err, ENOMEM, "building the wall: out of memory");
	}
	ret->prefix = args.items;
	ret->own_mounts = ret->own_pids = true;
	ret->own_network = plan->network == AW_PLAN_NET_NONE;
	ret->reads_held = ret->reads_held && held;
	return 0;
}

const struct aw_runner aw_runner_firejail = {
	"firejail", "apt-get install firejail", probe, build};
