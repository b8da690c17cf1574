/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bwrap.c - a plan as mounts, made by bubblewrap.
 *
 * What the plan lets be read or written is a bind mount of itself; a directory of which
 * only parts are there is an empty read-only tmpfs with these parts in it; what is
 * masked is covered by something that nobody can read, root included.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/array.h"
#include "policy/image/rules.h"
#include "supervisor/sandbox/bwrap_internal.h"
#include "supervisor/sandbox/plan_internal.h"
#include "supervisor/session/find.h"
#include "supervisor/util/cleanup.h"

/* bwrap counts. */
#define ARGUMENTS_MAX 8900

/*
 * For root no file is unreadable by its mode alone; a setting of the kernel's that can
 * only be written to is, since capabilities do not count there.
 */
static const char unreadable[] = "/proc/sys/vm/drop_caches";

struct bwrap {
	const struct aw_plan_params *params;
	const struct aw_plan *plan;
	struct aw_arguments args;
	char *mask;    /* owned; an unreadable file, NULL: not needed so far */
	bool *empty;   /* owned; entry i is a tmpfs */
	int failed_at; /* errno of making the mask */
};

static bool is_root(void)
{
	return geteuid() == 0;
}

/* --- mounts --- */

static const struct aw_plan_entry *above(const struct bwrap *b, size_t index)
{
	const struct aw_plan_entry *best = NULL;
	size_t len;

	for (size_t i = 0; i < index; i++) {
		const char *path = b->plan->entries[i].path;

		len = strlen(path);
		if (len == 1 ||
			(strncmp(b->plan->entries[index].path, path, len) == 0 &&
				b->plan->entries[index].path[len] == '/'))
			best = &b->plan->entries[i];
	}
	return best;
}

static bool has_below(const struct bwrap *b, size_t index)
{
	const char *path = b->plan->entries[index].path;
	size_t len = strlen(path);

	for (size_t i = index + 1; i < b->plan->count; i++)
		if (b->plan->entries[i].access != AW_PLAN_NOTHING &&
			strncmp(b->plan->entries[i].path, path, len) == 0 &&
			b->plan->entries[i].path[len] == '/')
			return true;
	return false;
}

/* What root cannot read either. */
static const char *mask_for_root(void)
{
	AW_CLOSE int fd = open(unreadable, O_RDONLY | O_CLOEXEC);

	if (fd < 0 && errno == EACCES)
		return unreadable;
	return "/dev/null"; /* bound without devices */
}

/* A file that is there and that whoever runs the command cannot read. */
static const char *mask_of(struct bwrap *b)
{
	AW_CLOSE int fd = -1;

	if (b->mask)
		return b->mask;
	if (is_root())
		return b->mask = strdup(mask_for_root());
	if (!b->params->folder)
		return b->mask = strdup("SESSION/unreadable");
	if (asprintf(&b->mask, "%s/unreadable", b->params->folder) < 0)
		return b->mask = NULL;
	fd = open(b->mask, O_WRONLY | O_CREAT | O_CLOEXEC, 0);
	if (fd < 0)
		b->failed_at = errno;
	return b->mask;
}

/* What bwrap's own /dev and /proc have is not put over them again. */
static bool is_provided(const char *path)
{
	static const char *const names[] = {"null", "zero", "full", "random", "urandom",
		"tty", "ptmx", "pts", "shm", "fd", "stdin", "stdout", "stderr",
		"console", "core", "mqueue"};

	if (strncmp(path, "/proc", 5) == 0 && (!path[5] || path[5] == '/'))
		return true;
	if (strcmp(path, "/dev") == 0)
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t len = strlen(names[i]);

		if (strncmp(path, "/dev/", 5) == 0 &&
			strncmp(path + 5, names[i], len) == 0 &&
			(!path[5 + len] || path[5 + len] == '/'))
			return true;
	}
	return false;
}

/* Is there something in the directory to mount it on? */
static bool has_point(const struct aw_plan_entry *folder, const char *path)
{
	size_t len = strlen(folder->path);
	AW_FREE char *point = NULL;

	if (strcmp(folder->path, folder->source) == 0)
		return access(path, F_OK) == 0;
	return asprintf(&point, "%s%s", folder->source, path + len) >= 0 &&
	       access(point, F_OK) == 0;
}

static void cover(struct bwrap *b, size_t index)
{
	const struct aw_plan_entry *entry = &b->plan->entries[index];
	const struct aw_plan_entry *parent = above(b, index);
	/* the directory above can be listed, so what is in it is there, too, but for
	 * what is to be hidden: opening it is then tried, and logged as the denial it
	 * is */
	bool there = parent && (!b->empty[parent - b->plan->entries] ||
				       (parent->partial && !entry->hidden));
	const char *mask;

	/* nor is a place made on the host for what is not shown */
	if (there && strcmp(entry->path, entry->source) != 0 &&
		!b->empty[parent - b->plan->entries] && !has_point(parent, entry->path))
		return;
	if (!entry->exists ||
		(!there && !has_below(b, index) && strcmp(entry->why, "home") != 0))
		return;
	if (!entry->directory) {
		if (there && (mask = mask_of(b)))
			AW_ARGS(&b->args, "--ro-bind", mask, entry->path);
		return;
	}
	AW_ARGS(&b->args, "--perms",
		strcmp(entry->why, "home") == 0 ? "0555"
		: has_below(b, index)		? "0111"
						: "0000",
		"--tmpfs", entry->path);
	b->empty[index] = true;
}

static void mount_entry(struct bwrap *b, size_t index)
{
	const struct aw_plan_entry *entry = &b->plan->entries[index];
	const struct aw_plan_entry *parent = above(b, index);

	if (strcmp(entry->path, "/") == 0) {
		b->empty[index] = entry->partial || entry->access == AW_PLAN_NOTHING;
		if (!b->empty[index])
			AW_ARGS(&b->args,
				entry->access == AW_PLAN_WRITE ? "--bind" : "--ro-bind",
				"/", "/");
		return;
	}
	if (entry->access == AW_PLAN_NOTHING) {
		cover(b, index);
		return;
	}
	if (is_provided(entry->path) && strcmp(entry->path, entry->source) == 0)
		return;
	if (entry->partial && !entry->whole) {
		AW_ARGS(&b->args, "--perms", "0755", "--tmpfs", entry->path);
		b->empty[index] = true;
		return;
	}
	/* nothing new where the directory above is mounted as a whole */
	if (parent && parent->access == entry->access &&
		!b->empty[parent - b->plan->entries] &&
		strcmp(entry->path, entry->source) == 0)
		return;
	AW_ARGS(&b->args,
		strncmp(entry->path, "/dev/", 5) == 0 ? "--dev-bind"
		: entry->access == AW_PLAN_WRITE      ? "--bind"
						      : "--ro-bind",
		entry->source, entry->path);
}

/* Where it belongs there is nothing but what is mounted there. */
static bool is_missing(const struct bwrap *b, const char *path)
{
	bool missing = b->empty[0];

	for (size_t i = 1; i < b->plan->count; i++) {
		const char *folder = b->plan->entries[i].path;
		size_t len = strlen(folder);

		if (strncmp(path, folder, len) == 0 && path[len] == '/')
			missing = b->empty[i]; /* sorted: a later one is deeper */
	}
	return missing;
}

static bool has_entry(const struct aw_plan *plan, const char *path)
{
	for (size_t i = 0; i < plan->count; i++)
		if (strcmp(plan->entries[i].path, path) == 0)
			return true;
	return false;
}

/* The kernel's own file systems, as the new namespaces see them. */
static void mount_kernel(struct bwrap *b)
{
	AW_ARGS(&b->args, "--dev", "/dev", "--perms", "1777", "--tmpfs", "/dev/shm",
		"--mqueue", "/dev/mqueue", "--proc", "/proc");
}

/* Settings of the kernel's; root may write to them without any capability. */
static const char *const settings[] = {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq",
	"/proc/bus", "/proc/acpi", "/proc/fs", "/proc/scsi", "/sys"};

static bool is_setting(const char *path)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++)
		if (aw_path_is_below(path, settings[i]))
			return true;
	return false;
}

/* Those that the policy names themselves may be written. */
static void admit_settings(struct bwrap *b)
{
	const struct aw_image *image = b->params->policy->image;
	struct aw_rule_about about;

	for (uint32_t i = 0; aw_image_rule_about(image, i, &about); i++) {
		AW_FREE char *path = strndup(about.path, about.path_len);

		if (path && about.literal && !about.negated &&
			strcmp(about.list, "write") == 0 && is_setting(path) &&
			access(path, F_OK) == 0 &&
			aw_plan_reach(b->plan, path) == AW_PLAN_WRITE)
			AW_ARGS(&b->args, "--bind", path, path);
	}
}

static void protect_kernel(struct bwrap *b)
{
	size_t count = ARRAY_SIZE(settings);

	for (size_t i = 0; i < count; i++)
		if (strncmp(settings[i], "/proc/", 6) == 0
				? is_root()
				: aw_plan_reach(b->plan, settings[i]) == AW_PLAN_WRITE)
			AW_ARGS(&b->args, "--ro-bind-try", settings[i], settings[i]);
	admit_settings(b);
}

static void mount_all(struct bwrap *b)
{
	const struct aw_plan *plan = b->plan;

	mount_entry(b, 0);
	mount_kernel(b);
	/* programs expect it; it is their own, and goes with them */
	if (b->empty[0] && !has_entry(plan, "/tmp"))
		AW_ARGS(&b->args, "--perms", "1777", "--tmpfs", "/tmp");
	for (size_t i = 1; i < plan->count; i++)
		mount_entry(b, i);
	protect_kernel(b);
	for (size_t i = 0; i < plan->link_count; i++)
		if (!is_provided(plan->links[i].path) &&
			is_missing(b, plan->links[i].path))
			AW_ARGS(&b->args, "--symlink", plan->links[i].text,
				plan->links[i].path);
	AW_ARGS(&b->args, "--remount-ro", "/dev");
	for (size_t i = plan->count; i-- > 0;)
		if (b->empty[i])
			AW_ARGS(&b->args, "--remount-ro", plan->entries[i].path);
}

/* --- all of it --- */

/* What container engines leave to root, without making devices, raw sockets, chroot. */
static const char *const capabilities[] = {"CAP_CHOWN", "CAP_DAC_OVERRIDE",
	"CAP_FSETID", "CAP_FOWNER", "CAP_SETGID", "CAP_SETUID", "CAP_SETPCAP",
	"CAP_NET_BIND_SERVICE", "CAP_KILL", "CAP_AUDIT_WRITE", "CAP_SETFCAP"};

static void make_namespaces(struct bwrap *b)
{
	if (!is_root())
		AW_ARGS(&b->args, "--unshare-user");
	AW_ARGS(&b->args, "--unshare-ipc", "--unshare-pid", "--unshare-uts",
		"--unshare-cgroup-try");
	if (b->plan->apart)
		AW_ARGS(&b->args, "--unshare-net");
	if (b->params->enforce)
		AW_ARGS(&b->args, "--die-with-parent");
	if (!is_root())
		return;
	AW_ARGS(&b->args, "--cap-drop", "ALL");
	for (size_t i = 0; i < ARRAY_SIZE(capabilities); i++)
		AW_ARGS(&b->args, "--cap-add", capabilities[i]);
}

/* Mount points are never made in the user's own directories. */
static int check_points(const struct bwrap *b, struct aw_error *err)
{
	for (size_t i = 1; i < b->plan->count; i++) {
		const struct aw_plan_entry *entry = &b->plan->entries[i];
		const struct aw_plan_entry *parent = above(b, i);

		if (!parent || entry->access == AW_PLAN_NOTHING ||
			strcmp(entry->path, entry->source) == 0 ||
			b->empty[parent - b->plan->entries] ||
			has_point(parent, entry->path))
			continue;
		return aw_fail(err, ENOENT,
			"%s cannot be shown at %s, which is not there, in a directory that is "
			"shown as it is on the host (%s); make it there first, or choose a target "
			"in a directory that may only be read",
			entry->source, entry->path, parent->path);
	}
	return 0;
}

static int check_cwd(const struct bwrap *b, struct aw_error *err)
{
	const char *cwd = b->params->cwd;

	if (!cwd || aw_plan_reach(b->plan, cwd) != AW_PLAN_NOTHING)
		return 0;
	return aw_fail(err, EACCES,
		"the working directory %s is not there behind the sandbox: the policy "
		"denies it; allow it, or start from another one",
		cwd);
}

/* The options go in a file: what is masked is not for the command to read in ps. */
static int hand_over(struct aw_sandbox *sandbox, struct aw_arguments *args)
{
	AW_CLOSE int fd = memfd_create("bwrap arguments", MFD_CLOEXEC);
	struct aw_arguments prefix = {.count = 0};
	char number[16];

	sandbox->fds = calloc(1, sizeof(*sandbox->fds));
	if (fd < 0 || !sandbox->fds)
		return -1;
	for (size_t i = 1; i + 1 < args->count; i++)
		if (write(fd, args->items[i], strlen(args->items[i]) + 1) < 0)
			return -1;
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -1;
	snprintf(number, sizeof(number), "%d", fd);
	AW_ARGS(&prefix, args->items[0], "--args", number, "--");
	sandbox->prefix = prefix.items;
	sandbox->shown = args->items;
	sandbox->fds[sandbox->fd_count++] = aw_take_fd(&fd);
	return prefix.failed ? -1 : 0;
}

static int build(const struct aw_plan_params *params, const struct aw_plan *plan,
	struct aw_sandbox *ret, struct aw_error *err)
{
	AW_FREE char *program = aw_find_helper("bwrap", NULL);
	AW_FREE bool *empty = calloc(plan->count + 1, sizeof(*empty));
	struct bwrap b = {.params = params, .plan = plan, .empty = empty};

	if (!empty)
		return aw_fail(err, ENOMEM, "building the sandbox: out of memory");
	if (check_cwd(&b, err) < 0)
		return -1;
	AW_ARGS(&b.args, program ? program : "bwrap");
	make_namespaces(&b);
	mount_all(&b);
	if (params->cwd)
		AW_ARGS(&b.args, "--chdir", params->cwd);
	AW_ARGS(&b.args, "--");
	free(b.mask);
	if (b.args.failed)
		aw_fail(err, ENOMEM, "building the sandbox: out of memory");
	else if (b.failed_at)
		aw_fail(err, b.failed_at,
			"making a file to cover others with in %s: %s", params->folder,
			strerror(b.failed_at));
	else if (b.args.count > ARGUMENTS_MAX)
		aw_fail(err, E2BIG,
			"the policy needs more mounts than bwrap takes (%zu words of "
			"%d); use fewer entries, or runner landlock",
			b.args.count, ARGUMENTS_MAX);
	else if (check_points(&b, err) == 0) {
		if (hand_over(ret, &b.args) < 0)
			return aw_fail(err, errno,
				"building the sandbox: handing bwrap its arguments: %s",
				strerror(errno));
		ret->own_mounts = ret->own_pids = ret->no_devices = true;
		ret->binds = true;
		ret->own_network = plan->apart;
		return 0;
	}
	aw_arguments_free(&b.args);
	return -1;
}

const struct aw_runner aw_runner_bwrap = {
	"bwrap", "apt-get install bubblewrap", aw_bwrap_probe, build};
