/* SPDX-License-Identifier: Apache-2.0 */
/* test_landlock.c - from plans to Landlock rules, and what the kernel makes of them. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "supervisor/linux/landlock_apply.h"
#include "supervisor/linux/landlock_rights.h"
#include "supervisor/sandbox/landlock.h"
#include "tests/unit/policy_text.h"

enum { NEWEST = 7 };

static char top[64]; /* a folder of our own with the tree below in it */

static const char *const tree[] = {"/ro/", "/ro/file", "/ro/open/", "/ro/open/file",
	"/ro/secret/", "/ro/secret/key", "/ro/secret/public/", "/ro/secret/public/file",
	"/ro/deep/", "/ro/deep/token", "/ro/deep/other", "/rw/", "/rw/file",
	"/rw/secret", "/rw/kept", "/none/", "/none/file", "/none/open/",
	"/none/open/file"};

/* A path of the tree, in one of a few buffers. */
static const char *at(const char *path)
{
	static char buffers[8][128];
	static unsigned next;
	char *out = buffers[next++ % 8];

	snprintf(out, sizeof(buffers[0]), "%s%s", top, path);
	return out;
}

static void plant(void)
{
	char link_to[128];

	strcpy(top, "/tmp/aw-landlock-XXXXXX");
	if (!mkdtemp(top))
		abort();
	for (size_t i = 0; i < sizeof(tree) / sizeof(tree[0]); i++) {
		const char *path = at(tree[i]);

		if (path[strlen(path) - 1] == '/' ? mkdir(path, 0755)
						  : close(creat(path, 0644)))
			abort();
	}
	snprintf(link_to, sizeof(link_to), "%s/none", top);
	if (symlink(link_to, at("/ro/link")) < 0)
		abort();
}

static int unplant_one(
	const char *path, const struct stat *st, int kind, struct FTW *walk)
{
	(void)st, (void)kind, (void)walk;
	return remove(path);
}

struct line {
	const char *path; /* in the tree; "" is the tree's top, NULL the end */
	enum aw_plan_access access;
	bool missing, partial;
};

/* Rules for these lines; all else is out of reach, as with `default: deny`. */
static void rules_for(const struct line *lines, int version, struct aw_landlock *ret)
{
	struct aw_plan_entry entries[16] = {{.path = NULL}};
	struct aw_plan plan = {.entries = entries, .network = AW_PLAN_NET_ALL};
	struct aw_landlock_params params = {.plan = &plan, .version = version};
	struct aw_error err;

	for (; lines[plan.count].path; plan.count++) {
		const struct line *line = &lines[plan.count];
		struct aw_plan_entry *entry = &entries[plan.count];

		entry->path = entry->source = strdup(at(line->path));
		entry->access = line->access;
		entry->exists = !line->missing;
		entry->partial = line->partial;
		entry->rule = AW_NO_RULE;
	}
	if (aw_landlock_make(&params, ret, &err) < 0)
		abort();
	while (plan.count)
		free(entries[--plan.count].path);
}

static uint64_t rule_of(const struct aw_landlock *landlock, const char *path)
{
	for (size_t i = 0; i < landlock->count; i++)
		if (strcmp(landlock->rules[i].path, at(path)) == 0)
			return landlock->rules[i].access;
	return 0;
}

static const struct line simple[] = {{"/ro", AW_PLAN_READ, false, false},
	{"/rw", AW_PLAN_WRITE, false, false}, {NULL, AW_PLAN_NOTHING, false, false}};

static const struct line carved[] = {{"/ro", AW_PLAN_READ, false, false},
	{"/ro/deep/token", AW_PLAN_NOTHING, false, false},
	{"/ro/secret", AW_PLAN_NOTHING, false, false},
	{"/ro/secret/public", AW_PLAN_READ, false, false},
	{"/rw", AW_PLAN_WRITE, false, false}, {"/rw/kept", AW_PLAN_READ, false, false},
	{"/rw/secret", AW_PLAN_NOTHING, false, false},
	{NULL, AW_PLAN_NOTHING, false, false}};

static void folders_are_granted_from_the_top(void)
{
	struct aw_landlock l;

	rules_for(simple, NEWEST, &l);
	ok(rule_of(&l, "/ro") == AW_LL_READS, "a folder to read is one rule");
	ok(rule_of(&l, "/rw") == l.files, "a folder to write has every right");
	ok(!rule_of(&l, "/ro/open") && !rule_of(&l, "/none"),
		"and nothing else is named");
	ok(aw_landlock_holds(&l, AW_READ, at("/none/file")),
		"what is not granted is held");
	ok(aw_landlock_holds(&l, AW_WRITE, at("/ro/file")) &&
			aw_landlock_holds(&l, AW_CREATE, at("/ro/new")) &&
			aw_landlock_holds(&l, AW_DELETE, at("/ro/file")) &&
			aw_landlock_holds(&l, AW_RENAME, at("/ro/file")) &&
			aw_landlock_holds(&l, AW_BIND, at("/ro/socket")),
		"changes of what may only be read are held");
	ok(!aw_landlock_holds(&l, AW_READ, at("/ro/file")) &&
			!aw_landlock_holds(&l, AW_EXEC, at("/ro/file")) &&
			!aw_landlock_holds(&l, AW_WRITE, at("/rw/file")),
		"what is granted is not held");
	ok(!aw_landlock_holds(&l, AW_METADATA, at("/none")) &&
			!aw_landlock_holds(&l, AW_CONNECT, at("/none")),
		"Landlock does not hold what it does not know");
	aw_landlock_release(&l);
}

static void something_denied_is_carved_out(void)
{
	struct aw_landlock l;

	rules_for(carved, NEWEST, &l);
	ok(rule_of(&l, "/ro") == AW_LL_READ_DIR,
		"the folder above can be listed alone");
	ok(rule_of(&l, "/ro/open") == AW_LL_READS && rule_of(&l, "/ro/file"),
		"what is beside it is granted one by one");
	ok(rule_of(&l, "/ro/deep") == AW_LL_READ_DIR &&
			!rule_of(&l, "/ro/deep/token") && rule_of(&l, "/ro/deep/other"),
		"on every level");
	ok(!rule_of(&l, "/ro/secret") &&
			rule_of(&l, "/ro/secret/public") == AW_LL_READS,
		"what is granted further down has a rule of its own");
	ok(!rule_of(&l, "/ro/link"), "a symbolic link gives nothing");
	ok(aw_landlock_holds(&l, AW_READ, at("/ro/secret/key")) &&
			aw_landlock_holds(&l, AW_EXEC, at("/ro/deep/token")),
		"so files in it are held");
	ok(!aw_landlock_holds(&l, AW_READ, at("/ro/secret")), "but not its listing");
	ok(!aw_landlock_holds(&l, AW_READ, at("/rw/secret")) &&
			!aw_landlock_holds(&l, AW_WRITE, at("/rw/kept")),
		"nothing is carved out of a folder that may be written");
	aw_landlock_release(&l);
}

static void what_is_missing_is_not_carved(void)
{
	static const struct line lines[] = {{"/ro", AW_PLAN_READ, false, false},
		{"/ro/absent", AW_PLAN_NOTHING, true, false},
		{"/ro/gone", AW_PLAN_WRITE, true, false},
		{NULL, AW_PLAN_NOTHING, false, false}};
	static const struct line part[] = {{"/ro", AW_PLAN_READ, false, true},
		{"/ro/open", AW_PLAN_READ, false, false},
		{NULL, AW_PLAN_NOTHING, false, false}};
	struct aw_landlock l;

	rules_for(lines, NEWEST, &l);
	ok(rule_of(&l, "/ro") == AW_LL_READS,
		"for what is not there nothing is carved");
	ok(!aw_landlock_holds(&l, AW_READ, at("/ro/absent")), "nor is it called held");
	ok(!rule_of(&l, "/ro/gone"), "and what is not there has no rule");
	aw_landlock_release(&l);

	rules_for(part, NEWEST, &l);
	ok(rule_of(&l, "/ro") == AW_LL_READ_DIR && rule_of(&l, "/ro/open") &&
			!rule_of(&l, "/ro/file"),
		"of a partial folder only what the plan names is granted");
	aw_landlock_release(&l);
}

static void older_kernels_handle_less(void)
{
	static const struct {
		int version;
		uint64_t files, scopes;
	} cases[] = {
		{1, AW_LL_REFER - 1, 0},
		{2, AW_LL_TRUNCATE - 1, 0},
		{3, AW_LL_IOCTL_DEV - 1, 0},
		{4, AW_LL_IOCTL_DEV - 1, 0},
		{5, AW_LL_IOCTL_DEV * 2 - 1, 0},
		{6, AW_LL_IOCTL_DEV * 2 - 1, AW_LL_SCOPE_SIGNAL | AW_LL_SCOPE_ABSTRACT},
		{9, AW_LL_IOCTL_DEV * 2 - 1, AW_LL_SCOPE_SIGNAL | AW_LL_SCOPE_ABSTRACT},
	};
	struct aw_landlock l;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		rules_for(simple, cases[i].version, &l);
		ok(l.files == cases[i].files && l.scopes == cases[i].scopes &&
				!l.network,
			"interface %d", cases[i].version);
		ok(aw_landlock_holds(&l, AW_WRITE, at("/ro/file")) ==
				(cases[i].version >= 3),
			"writes are %s there",
			cases[i].version >= 3 ? "held" : "not held, by truncate(2)");
		aw_landlock_release(&l);
	}
}

static void ports_follow_the_plan(void)
{
	uint16_t to[] = {443, 8080}, from[] = {3000};
	struct aw_plan plan = {.network = AW_PLAN_NET_SOME,
		.connect_ports = to,
		.connect_count = 2,
		.listen_ports = from,
		.listen_count = 1};
	struct aw_landlock_params params = {.plan = &plan, .version = 4};
	struct aw_landlock l;
	struct aw_error err;

	aw_landlock_make(&params, &l, &err);
	ok(l.network == (AW_LL_CONNECT_TCP | AW_LL_BIND_TCP) && l.port_count == 3 &&
			l.ports[1].port == 8080 &&
			l.ports[1].access == AW_LL_CONNECT_TCP &&
			l.ports[2].port == 3000 && l.ports[2].access == AW_LL_BIND_TCP,
		"TCP ports that some rule allows are granted");
	aw_landlock_release(&l);
	plan.all_connect_ports = true;
	aw_landlock_make(&params, &l, &err);
	ok(l.network == AW_LL_BIND_TCP && l.port_count == 1,
		"where any port may do, none is handled");
	aw_landlock_release(&l);
	params.no_ports = true;
	aw_landlock_make(&params, &l, &err);
	ok(aw_landlock_has_no_ports(&l) && !l.port_count,
		"where the supervisor connects, the program needs none, whatever rules allow");
	aw_landlock_release(&l);
	plan.network = AW_PLAN_NET_ALL;
	aw_landlock_make(&params, &l, &err);
	ok(!l.network && !aw_landlock_has_no_ports(&l) &&
			!aw_landlock_has_no_ports(NULL),
		"an open network stays open");
	aw_landlock_release(&l);
	plan.network = AW_PLAN_NET_SOME;
	params.version = 3;
	aw_landlock_make(&params, &l, &err);
	ok(!l.network && !l.port_count, "before interface 4 there are no ports");
	aw_landlock_release(&l);
	plan = (struct aw_plan){.network = AW_PLAN_NET_NONE};
	params.version = 4;
	aw_landlock_make(&params, &l, &err);
	ok(l.network == (AW_LL_CONNECT_TCP | AW_LL_BIND_TCP) && !l.port_count,
		"no network is no port");
	aw_landlock_release(&l);
}

static void basics_stay_unless_taken_away(void)
{
	struct aw_plan_entry entry = {.path = (char *)"/dev/null",
		.source = (char *)"/dev/null",
		.exists = true,
		.rule = 1};
	struct aw_plan plan = {.network = AW_PLAN_NET_ALL};
	struct aw_landlock_params params = {.plan = &plan, .version = NEWEST};
	struct aw_landlock l;
	struct aw_error err;

	aw_landlock_make(&params, &l, &err);
	ok(aw_landlock_granted(&l, "/dev/null") & AW_LL_WRITE_FILE &&
			aw_landlock_granted(&l, "/dev/tty") & AW_LL_IOCTL_DEV &&
			aw_landlock_granted(&l, "/dev/shm/x") & AW_LL_MAKE_REG,
		"devices that programs cannot do without are granted");
	ok((aw_landlock_granted(&l, "/dev/mqueue/x") &
		   (AW_LL_READ_FILE | AW_LL_WRITE_FILE | AW_LL_MAKE_REG)) ==
			(AW_LL_READ_FILE | AW_LL_WRITE_FILE),
		"and queues");
	ok(aw_landlock_granted(&l, "/proc/self/status") & AW_LL_READ_FILE,
		"and /proc can be read");
	ok(!(aw_landlock_granted(&l, "/proc/sys/kernel/core_pattern") &
		   AW_LL_WRITE_FILE) == (geteuid() == 0),
		"but not be written by root");
	ok(!aw_landlock_granted(&l, "/etc/passwd") &&
			!aw_landlock_granted(&l, "/dev/sda"),
		"nothing else is");
	aw_landlock_release(&l);
	plan.entries = &entry;
	plan.count = 1;
	aw_landlock_make(&params, &l, &err);
	ok(!(aw_landlock_granted(&l, "/dev/null")), "a rule takes them away");
	aw_landlock_release(&l);
	entry.path = entry.source = (char *)"/dev/mqueue";
	aw_landlock_make(&params, &l, &err);
	ok(!(aw_landlock_granted(&l, "/dev/mqueue")), "queues too");
	aw_landlock_release(&l);
}

static void abstract_sockets_follow_the_policy(void)
{
	static const struct {
		const char *policy;
		bool may;
	} cases[] = {
		{"network: {default: allow}", true},
		{"network: {default: deny, allow: ['*:443', 'unix:/run/x']}", false},
		{"network: {default: deny, allow: ['unix:@x']}", true},
		{"filesystem: {default: deny}", true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct aw_image *image = image_of(cases[i].policy);

		ok(aw_landlock_abstract(image) == cases[i].may, "%s: %s",
			cases[i].policy,
			cases[i].may ? "some may be used" : "none may be used");
		free(image);
	}
}

/* errno of one call, made behind these rules by a child. */
static int behind(const struct aw_landlock *landlock, int flags, const char *path)
{
	struct aw_error err;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		if (aw_landlock_enter(landlock, &err) < 0)
			_exit(250);
		_exit(open(path, flags, 0600) < 0 ? errno : 0);
	}
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status)
		       ? WEXITSTATUS(status)
		       : 251;
}

static void the_kernel_agrees(void)
{
	static const struct {
		int flags, result;
		const char *path, *what;
	} cases[] = {
		{O_RDONLY, 0, "/ro/file", "a file beside"},
		{O_RDONLY, 0, "/ro/open/file", "a folder beside"},
		{O_RDONLY | O_DIRECTORY, 0, "/ro", "the listing of a carved folder"},
		{O_RDONLY, EACCES, "/ro/secret/key", "a file carved out"},
		{O_RDONLY, EACCES, "/ro/deep/token", "one further down"},
		{O_RDONLY, 0, "/ro/deep/other", "its neighbour"},
		{O_RDONLY, 0, "/ro/secret/public/file", "what is let in again"},
		{O_RDONLY, EACCES, "/ro/link/file", "a file through a link"},
		{O_WRONLY, EACCES, "/ro/file", "writing what may be read"},
		{O_WRONLY | O_CREAT, EACCES, "/ro/new", "making a file there"},
		{O_RDWR | O_TRUNC, 0, "/rw/file", "writing what may be written"},
		{O_WRONLY | O_CREAT, 0, "/rw/new", "making a file there"},
		{O_RDONLY, EACCES, "/none/file", "what no entry names"},
	};
	struct aw_landlock l;
	struct aw_error err;
	int version = aw_landlock_probe(&err) < 0 ? -1 : aw_landlock_version();

	if (version < 3) {
		ok(true, "the kernel agrees # SKIP %s",
			version < 0 ? err.text : "its Landlock is too old");
		return;
	}
	rules_for(carved, version, &l);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int result = behind(&l, cases[i].flags, at(cases[i].path));

		ok(result == cases[i].result, "the kernel %s %s (%s)",
			cases[i].result ? "refuses" : "allows", cases[i].what,
			strerror(result));
		if (cases[i].flags == O_RDONLY)
			ok((result != 0) == aw_landlock_holds(
						    &l, AW_READ, at(cases[i].path)) ||
					strstr(cases[i].path, "/link/"),
				"as it was said to");
	}
	aw_landlock_release(&l);
}

int main(void)
{
	plant();
	folders_are_granted_from_the_top();
	something_denied_is_carved_out();
	what_is_missing_is_not_carved();
	older_kernels_handle_less();
	ports_follow_the_plan();
	basics_stay_unless_taken_away();
	abstract_sockets_follow_the_policy();
	the_kernel_agrees();
	nftw(top, unplant_one, 8, FTW_DEPTH | FTW_PHYS);
	return done();
}
