/* SPDX-License-Identifier: Apache-2.0 */
/* landlock_make.c - from a plan to the grants of a Landlock ruleset. */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/array.h"
#include "supervisor/linux/landlock_rights.h"
#include "supervisor/sandbox/landlock_internal.h"
#include "supervisor/util/cleanup.h"

/* A directory with more in it is not carved: its grants would cost more than they hold. */
enum { CHILDREN_MAX = 20000 };

struct maker {
	const struct aw_landlock_params *params;
	struct aw_landlock *to;
	const struct aw_plan_entry **entries; /* parents right before what is below */
	size_t count;
	bool failed; /* out of memory */
};

/* Entries strictly below some path: entries[from] up to entries[to - 1]. */
struct range {
	size_t from, to;
};

static uint64_t rights_of_files(int version)
{
	uint64_t rights = AW_LL_REFER - 1;

	if (version >= 2)
		rights |= AW_LL_REFER;
	if (version >= 3)
		rights |= AW_LL_TRUNCATE;
	if (version >= 5)
		rights |= AW_LL_IOCTL_DEV;
	return rights;
}

/*
 * Programs change files of their own in /proc, which no grant can tell from others';
 * for root those would be all of /proc/sys too.
 */
static uint64_t rights_for_proc(void)
{
	return geteuid() == 0 ? AW_LL_READS
			      : AW_LL_READS | AW_LL_WRITE_FILE | AW_LL_TRUNCATE;
}

static uint64_t rights_for(
	const struct maker *m, const char *path, enum aw_plan_access access)
{
	if (access == AW_PLAN_NOTHING)
		return 0;
	if (strcmp(path, "/proc") == 0 && !m->params->own_mounts)
		return rights_for_proc();
	return access == AW_PLAN_READ ? AW_LL_READS : m->to->files;
}

/* "/" comes before every other byte, so that what is below stands together. */
static int compare_paths(const char *a, const char *b)
{
	while (*a && *a == *b)
		a++, b++;
	if (*a == *b)
		return 0;
	if (!*a || !*b)
		return *a ? 1 : -1;
	if (*a == '/' || *b == '/')
		return *a == '/' ? -1 : 1;
	return (unsigned char)*a < (unsigned char)*b ? -1 : 1;
}

static int compare_entries(const void *a, const void *b)
{
	return compare_paths((*(const struct aw_plan_entry *const *)a)->path,
		(*(const struct aw_plan_entry *const *)b)->path);
}

static int compare_rules(const void *a, const void *b)
{
	return strcmp(((const struct aw_landlock_rule *)a)->path,
		((const struct aw_landlock_rule *)b)->path);
}

static bool is_below(const char *path, const char *folder)
{
	size_t len = strlen(folder);

	if (len == 1)
		return path[1] != '\0';
	return strncmp(path, folder, len) == 0 && path[len] == '/';
}

bool aw_landlock_grant(struct aw_landlock *to, const char *path, uint64_t access)
{
	struct aw_landlock_rule *rules = to->rules;
	AW_FREE char *copy = NULL;

	if (!(access & to->files))
		return true;
	if (to->count == to->room) {
		to->room = to->room ? to->room * 2 : 64;
		rules = realloc(to->rules, to->room * sizeof(*rules));
	}
	copy = rules ? strdup(path) : NULL;
	if (rules)
		to->rules = rules;
	if (!copy)
		return false;
	rules[to->count++] =
		(struct aw_landlock_rule){aw_take_ptr(&copy), access & to->files};
	return true;
}

static void grant(struct maker *m, const char *path, uint64_t access)
{
	if (!m->failed && !aw_landlock_grant(m->to, path, access))
		m->failed = true;
}

/* What stands at path, not what it points to. */
static bool look(const char *path, mode_t *ret)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return false;
	*ret = st.st_mode;
	return true;
}

/*
 * A symbolic link needs no grant: what it leads to is judged by its own name.  Nor does
 * a name that goes through one, and the kernel would follow it to the wrong place.
 */
static bool is_real(const struct maker *m, const struct aw_plan_entry *entry)
{
	AW_FREE char *real = NULL;

	if (m->params->own_mounts && strcmp(entry->path, entry->source) != 0)
		return true; /* the name it has inside says nothing out here */
	real = realpath(entry->path, NULL);
	return real && strcmp(real, entry->path) == 0;
}

static size_t end_of_subtree(const struct maker *m, size_t at, size_t to)
{
	const char *folder = m->entries[at]->path;

	for (at++; at < to && is_below(m->entries[at]->path, folder); at++)
		;
	return at;
}

static void walk(struct maker *m, const char *path, const struct aw_plan_entry *entry,
	enum aw_plan_access access, struct range below);

static void walk_entries(struct maker *m, struct range below)
{
	size_t end;

	for (size_t i = below.from; i < below.to; i = end) {
		const struct aw_plan_entry *entry = m->entries[i];

		end = end_of_subtree(m, i, below.to);
		if (is_real(m, entry) || entry->access == AW_PLAN_NOTHING)
			walk(m, entry->path, entry, entry->access,
				(struct range){i + 1, end});
	}
}

/* A view of its own lacks what is out of reach, but for directories mounted as a whole. */
static bool has_whole(const struct maker *m, struct range below)
{
	for (size_t i = below.from; i < below.to; i++)
		if (m->entries[i]->whole)
			return true;
	return false;
}

/* Something that is there is to be left out of this readable tree. */
static bool needs_carving(const struct maker *m, struct range below)
{
	size_t end;

	if (m->params->own_mounts)
		return has_whole(m, below);
	for (size_t i = below.from; i < below.to; i = end) {
		const struct aw_plan_entry *entry = m->entries[i];

		end = end_of_subtree(m, i, below.to);
		if (entry->access == AW_PLAN_WRITE && !entry->partial)
			continue;
		if ((entry->access == AW_PLAN_NOTHING && entry->exists) ||
			entry->partial || needs_carving(m, (struct range){i + 1, end}))
			return true;
	}
	return false;
}

/* The entries at and below path, of those in `of`. */
static struct range entries_at(const struct maker *m, const char *path, struct range of)
{
	size_t low = of.from, high = of.to;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (compare_paths(m->entries[middle]->path, path) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (high = low;
		high < of.to && (strcmp(m->entries[high]->path, path) == 0 ||
					is_below(m->entries[high]->path, path));
		high++)
		;
	return (struct range){low, high};
}

/* A child of a carved directory: what the plan says of it, else it may be read. */
static void walk_child(struct maker *m, const char *path, struct range below)
{
	struct range here = entries_at(m, path, below);
	const struct aw_plan_entry *entry =
		here.from < here.to && strcmp(m->entries[here.from]->path, path) == 0
			? m->entries[here.from++]
			: NULL;
	mode_t mode;

	if (!look(path, &mode) || S_ISLNK(mode))
		return;
	walk(m, path, entry, entry ? entry->access : AW_PLAN_READ, here);
}

/* True when the directory can be listed and has not too much in it. */
static bool is_carvable(const char *path)
{
	AW_CLOSEDIR DIR *folder = opendir(path);
	size_t count = 0;

	while (folder && count <= CHILDREN_MAX && readdir(folder))
		count++;
	return folder && count <= CHILDREN_MAX;
}

static void carve(struct maker *m, const char *path, struct range below)
{
	AW_CLOSEDIR DIR *folder = opendir(path);
	const struct dirent *child;

	grant(m, path, AW_LL_READ_DIR);
	while (folder && !m->failed && (child = readdir(folder))) {
		AW_FREE char *name = NULL;

		if (!strcmp(child->d_name, ".") || !strcmp(child->d_name, ".."))
			continue;
		if (asprintf(&name, "%s/%s", path[1] ? path : "", child->d_name) < 0) {
			m->failed = true;
			return;
		}
		walk_child(m, name, below);
	}
}

/* entry: that of path itself, or NULL where its directory's counts. */
static void walk(struct maker *m, const char *path, const struct aw_plan_entry *entry,
	enum aw_plan_access access, struct range below)
{
	if (m->failed)
		return;
	if (entry && entry->partial) {
		grant(m, path, AW_LL_READ_DIR);
		walk_entries(m, below);
		return;
	}
	if (access == AW_PLAN_READ && needs_carving(m, below) && is_carvable(path)) {
		carve(m, path, below);
		return;
	}
	grant(m, path, rights_for(m, path, access));
	if (access != AW_PLAN_WRITE) /* which has everything below already */
		walk_entries(m, below);
}

/* The entry that counts for path. */
static const struct aw_plan_entry *deepest(const struct maker *m, const char *path)
{
	const struct aw_plan_entry *found = NULL;

	for (size_t i = 0; i < m->count; i++)
		if (strcmp(m->entries[i]->path, path) == 0 ||
			is_below(path, m->entries[i]->path))
			found = m->entries[i];
	return found;
}

/* A rule of the policy has a word on what stands in /dev by this name. */
static bool is_ruled(const struct maker *m, const char *device)
{
	const struct aw_plan_entry *of = deepest(m, device);

	return of && of->rule != AW_NO_RULE &&
	       (of->access == AW_PLAN_NOTHING || strncmp(of->path, "/dev", 4) == 0);
}

/*
 * mq_open(2) opens a file in a mount of the kernel's own, whose root is that of
 * /dev/mqueue: no grant above it counts.  Queues are made and removed without a right.
 */
static void grant_queues(struct maker *m)
{
	static const char queues[] = "/dev/mqueue";
	const struct aw_plan_entry *of = deepest(m, queues);

	if (!is_ruled(m, queues) || of->access == AW_PLAN_WRITE)
		grant(m, queues, AW_LL_READ_FILE | AW_LL_READ_DIR | AW_LL_WRITE_FILE);
}

/*
 * What the built-in entries of every policy let be used, where the plan has no word on
 * it: what no entry names is taken as wanted, what a rule of the policy took away is
 * not given back.
 */
static void grant_basics(struct maker *m)
{
	static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full",
		"/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts",
		"/dev/shm"};
	const struct aw_plan_entry *entry = deepest(m, "/proc");
	mode_t mode;

	for (size_t i = 0; i < ARRAY_SIZE(devices); i++)
		if (!is_ruled(m, devices[i]) && look(devices[i], &mode) &&
			!S_ISLNK(mode))
			grant(m, devices[i], m->to->files);
	if (!entry || entry->access != AW_PLAN_NOTHING || entry->rule == AW_NO_RULE)
		grant(m, "/proc", rights_for_proc());
}

/*
 * Inside mounts of its own the sandbox is the first layer.  It makes these directories
 * itself, /tmp where there would be none, and what else is there to be listed is what
 * it shows.
 */
static void grant_own(struct maker *m)
{
	const struct aw_plan_entry *tmp = deepest(m, "/tmp");

	grant(m, "/", AW_LL_READ_DIR);
	grant(m, "/dev", m->to->files);
	grant(m, "/proc", m->to->files);
	if (!tmp || (tmp->path[1] == '\0' &&
			    (tmp->partial || tmp->access == AW_PLAN_NOTHING)))
		grant(m, "/tmp", m->to->files);
}

void aw_landlock_tidy(struct aw_landlock *to)
{
	size_t kept = 0;

	if (!to->count)
		return;
	qsort(to->rules, to->count, sizeof(*to->rules), compare_rules);
	for (size_t i = 1; i < to->count; i++) {
		if (strcmp(to->rules[kept].path, to->rules[i].path) != 0) {
			to->rules[++kept] = to->rules[i];
			continue;
		}
		to->rules[kept].access |= to->rules[i].access;
		free(to->rules[i].path);
	}
	to->count = kept + 1;
}

static void add_ports(
	struct aw_landlock *to, const uint16_t *ports, size_t count, uint64_t access)
{
	to->network |= access;
	for (size_t i = 0; i < count; i++)
		to->ports[to->port_count++] =
			(struct aw_landlock_port){ports[i], access};
}

static int add_network(struct maker *m)
{
	const struct aw_plan *plan = m->params->plan;
	struct aw_landlock *to = m->to;

	if (to->version < 4 || plan->network == AW_PLAN_NET_ALL)
		return 0;
	if (m->params->no_ports) {
		to->network = AW_LL_CONNECT_TCP | AW_LL_BIND_TCP;
		return 0;
	}
	to->ports = calloc(
		plan->connect_count + plan->listen_count + 1, sizeof(*to->ports));
	if (!to->ports)
		return -1;
	if (!plan->all_connect_ports)
		add_ports(to, plan->connect_ports, plan->connect_count,
			AW_LL_CONNECT_TCP);
	if (!plan->all_listen_ports)
		add_ports(to, plan->listen_ports, plan->listen_count, AW_LL_BIND_TCP);
	return 0;
}

int aw_landlock_make(const struct aw_landlock_params *params, struct aw_landlock *ret,
	struct aw_error *err)
{
	const struct aw_plan *plan = params->plan;
	struct aw_landlock made = {
		.version = params->version, .files = rights_of_files(params->version)};
	struct maker m = {.params = params, .to = &made, .count = plan->count};
	AW_FREE const struct aw_plan_entry **entries =
		calloc(plan->count + 1, sizeof(struct aw_plan_entry *));

	m.entries = entries;
	m.failed = !entries || add_network(&m) < 0;
	if (params->version >= 6)
		made.scopes = AW_LL_SCOPE_SIGNAL |
			      (params->abstract_sockets ? 0 : AW_LL_SCOPE_ABSTRACT);
	if (!m.failed) {
		for (size_t i = 0; i < plan->count; i++)
			entries[i] = &plan->entries[i];
		qsort(entries, plan->count, sizeof(struct aw_plan_entry *),
			compare_entries);
		walk_entries(&m, (struct range){0, plan->count});
		if (params->own_mounts)
			grant_own(&m);
		else
			grant_basics(&m);
		grant_queues(&m);
	}
	if (!m.failed) {
		aw_landlock_tidy(&made);
		m.failed = params->image && aw_landlock_narrow(params, &made) < 0;
	}
	if (m.failed) {
		aw_landlock_release(&made);
		return aw_fail(err, ENOMEM, "making Landlock rules: out of memory");
	}
	*ret = made;
	return 0;
}
