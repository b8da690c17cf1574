/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firejail.c - a plan as a firejail profile.
 *
 * firejail knows less than a plan says: it hides whole files and directories, shows
 * parts of a directory only in those right below "/" and in HOME, and keeps the system
 * read-only whatever it is told.  What it cannot hold is held when it is opened.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/array.h"
#include "supervisor/sandbox/runner.h"
#include "supervisor/session/find.h"
#include "supervisor/util/cleanup.h"

/*
 * firejail runs a program without any sandbox, and with success, where it sees none of
 * the kernel's own processes among the first ten: it takes that for another sandbox.
 */
static bool sees_kernel(void)
{
	static const char *const names[] = {"kthreadd", "ksoftirqd", "kworker"};

	for (int pid = 1; pid <= 10; pid++) {
		char path[32], line[32] = "";
		AW_FCLOSE FILE *file = NULL;

		snprintf(path, sizeof(path), "/proc/%d/comm", pid);
		file = fopen(path, "re");
		if (!file || !fgets(line, sizeof(line), file))
			continue;
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (strncmp(line, names[i], strlen(names[i])) == 0)
				return true;
	}
	return false;
}

static int probe(struct aw_error *err)
{
	AW_FREE char *program = aw_runner_program("firejail", err);
	char *argv[] = {program, (char *)"--quiet", (char *)"--noprofile", (char *)"--",
		(char *)"/bin/true", NULL};
	char line[160];

	if (!program)
		return -1;
	if (!sees_kernel())
		return aw_fail(err, EPERM,
			"inside a container or another sandbox firejail does nothing; "
			"runner bwrap or landlock does");
	if (aw_runner_try(argv, line, sizeof(line)) == 0)
		return 0;
	return aw_fail(err, EPERM,
		"firejail does not work here: %s; runner landlock does without",
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
};

static void say(struct profile *p, const char *what, const char *path)
{
	if (can_say(path))
		fprintf(p->out, "%s %s\n", what, path);
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

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t len = strlen(names[i]);

		if (strncmp(path, names[i], len) == 0 &&
			(!path[len] || path[len] == '/'))
			return true;
	}
	return false;
}

/* A directory right below "/" is shown as a whole, or in parts. */
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

static bool is_used(const struct aw_plan *plan, const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 1; i < plan->count; i++) {
		const char *entry = plan->entries[i].path;

		if (strncmp(entry, path, len) == 0 &&
			(!entry[len] || entry[len] == '/'))
			return true;
	}
	return false;
}

/* firejail works in this one itself. */
static bool is_its_own(const char *path)
{
	return strcmp(path, "/run/firejail") == 0;
}

/* What is right below a directory and has nothing in it that may be seen. */
static void hide_rest(struct profile *p, const char *folder)
{
	AW_CLOSEDIR DIR *dir = opendir(folder[0] ? folder : "/");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		AW_FREE char *path = NULL;

		if (entry->d_name[0] == '.' || entry->d_type == DT_LNK ||
			asprintf(&path, "%s/%s", folder, entry->d_name) < 0)
			continue;
		if (strcmp(path, "/run") == 0 && !is_used(p->plan, path))
			hide_rest(p, path);
		else if (!is_its_own(path) && !is_system(path) &&
			 !is_used(p->plan, path))
			say(p, "blacklist", path);
	}
}

/* An ordinary user gets "read-write" for what is his own alone. */
static bool may_reopen(const struct aw_plan_entry *entry)
{
	struct stat st;

	return geteuid() == 0 ||
	       (stat(entry->path, &st) == 0 && st.st_uid == geteuid());
}

/* A directory that is to be written to and that, once closed, would stay so. */
static bool stays_open(const struct aw_plan_entry *entry)
{
	return entry->access == AW_PLAN_WRITE && !is_system(entry->path) &&
	       !may_reopen(entry);
}

/* Is there one at path, or below it? 2: path itself. */
static int open_at(const struct aw_plan *plan, const char *path)
{
	size_t len = strlen(path);

	for (size_t i = 0; i < plan->count; i++) {
		const struct aw_plan_entry *entry = &plan->entries[i];

		if (stays_open(entry) && strncmp(entry->path, path, len) == 0 &&
			(entry->path[len] == '/' || !entry->path[len]))
			return entry->path[len] ? 1 : 2;
	}
	return 0;
}

/* Everything in the directory, but what stays open and the way there. */
static void close_around(struct profile *p, const char *folder)
{
	AW_CLOSEDIR DIR *dir = opendir(folder[0] ? folder : "/");
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		AW_FREE char *path = NULL;
		int open;

		if (strcmp(entry->d_name, ".") == 0 ||
			strcmp(entry->d_name, "..") == 0 || entry->d_type == DT_LNK ||
			asprintf(&path, "%s/%s", folder, entry->d_name) < 0 ||
			is_system(path))
			continue;
		open = strcmp(path, "/run") == 0 ? 1
		       : is_its_own(path)	 ? 2
						 : open_at(p->plan, path);
		if (open == 1)
			close_around(p, path);
		else if (open == 0)
			say(p, "read-only", path);
	}
}

static void close_all(struct profile *p)
{
	for (size_t i = 0; i < p->plan->count; i++)
		if (stays_open(&p->plan->entries[i])) {
			close_around(p, "");
			return;
		}
	fputs("read-only /\n", p->out);
}

/*
 * firejail that an ordinary user starts has its namespaces belong to root, so that the
 * supervisor could not make sockets in them (setns(2)).
 */
static bool is_apart(const struct aw_plan *plan)
{
	return plan->network == AW_PLAN_NET_NONE || (plan->apart && geteuid() == 0);
}

static void write_profile(struct profile *p)
{
	const struct aw_plan *plan = p->plan;
	bool writable = root_of(plan)->access == AW_PLAN_WRITE;

	fputs("quiet\ndeterministic-exit-code\ndeterministic-shutdown\nipc-"
	      "namespace\nkeep-dev-shm\nkeep-var-tmp\n"
	      "writable-run-user\nwritable-etc\nwritable-var\nwritable-var-log\n",
		p->out);
	if (is_apart(plan))
		fputs("net none\n", p->out);
	if (geteuid() == 0)
		fputs("caps.keep chown,dac_override,fsetid,fowner,setgid,setuid,setpcap,"
		      "net_bind_service,kill,audit_write,setfcap\n",
			p->out);
	if (!writable && !is_narrow(plan))
		close_all(p);
	for (size_t i = 0; i < plan->count; i++)
		say_entry(p, &plan->entries[i]);
	if (is_narrow(plan))
		hide_rest(p, "");
}

/* The profile as text; NULL when out of memory. */
static char *profile_text(const struct aw_plan *plan)
{
	struct profile p = {.plan = plan};
	char *text = NULL;
	size_t size = 0;

	p.out = open_memstream(&text, &size);
	if (!p.out)
		return NULL;
	write_profile(&p);
	if (fclose(p.out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

/* --profile=FILE, with the text in it when there is a session to have it. */
static int save_profile(const struct aw_plan_params *params, const char *text,
	char **ret_option, struct aw_error *err)
{
	AW_FREE char *option = NULL;
	AW_CLOSE int fd = -1;
	const char *path;

	if (asprintf(&option, "--profile=%s/firejail.profile",
		    params->folder ? params->folder : "SESSION") < 0)
		return aw_fail(err, ENOMEM, "building the sandbox: out of memory");
	path = strchr(option, '=') + 1;
	if (params->folder)
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (params->folder &&
		(fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text)))
		return aw_fail(err, errno, "building the sandbox: writing %s: %s", path,
			strerror(errno));
	*ret_option = aw_take_ptr(&option);
	return 0;
}

static int build(const struct aw_plan_params *params, const struct aw_plan *plan,
	struct aw_sandbox *ret, struct aw_error *err)
{
	AW_FREE char *program = aw_find_helper("firejail", NULL), *option = NULL;
	struct aw_arguments args = {.count = 0};

	ret->profile = profile_text(plan);
	if (!ret->profile)
		return aw_fail(err, ENOMEM, "building the sandbox: out of memory");
	if (save_profile(params, ret->profile, &option, err) < 0)
		return -1;
	AW_ARGS(&args, program ? program : "firejail", "--quiet", option,
		"--keep-fd=all", "--");
	if (args.failed) {
		aw_arguments_free(&args);
		return aw_fail(err, ENOMEM, "building the sandbox: out of memory");
	}
	ret->prefix = args.items;
	ret->own_mounts = ret->own_pids = true;
	ret->own_network = is_apart(plan);
	return 0;
}

const struct aw_runner aw_runner_firejail = {
	"firejail", "apt-get install firejail", probe, build};
