/* SPDX-License-Identifier: Apache-2.0 */
/*
 * firejail_profile.c - profiles of firejail(5), with what they include.
 *
 * In a directory of which something is whitelisted the rest is not there: that becomes
 * a deny of the directory with exceptions, in front of what is blacklisted.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "policy/array.h"
#include "supervisor/import/import.h"
#include "supervisor/util/cleanup.h"

enum { INCLUDES_MAX = 16 };

struct profile {
	struct aw_import *import;
	const char *folder; /* of the first file, where includes are looked for first */
	struct aw_node at;  /* the line being read */
	unsigned depth;
	char **ignored; /* owned: beginnings of lines that do not count */
	size_t ignored_count;
	char **spared; /* owned: what was noblacklisted */
	size_t spared_count;
	char **files; /* owned: names of included files, which entries point to */
	size_t file_count;
	bool whitelisted[8];
};

static const char *const tops[] = {
	"${HOME}", "/tmp", "/var", "/dev", "/media", "/mnt", "/opt", "/srv"};

static void read_lines(struct profile *p, const char *file, const char *text);

/* firejail's own names for directories, in ours; false: none of these. */
static bool translate(const char *text, char *out, size_t size)
{
	static const struct {
		const char *theirs, *ours;
	} names[] = {
		{"${HOME}", "$HOME"},
		{"~", "$HOME"},
		{"${CFG}", "/etc/firejail"},
		{"${RUNUSER}", "/run/user/*"},
		{"${DESKTOP}", "$HOME/Desktop"},
		{"${DOCUMENTS}", "$HOME/Documents"},
		{"${DOWNLOADS}", "$HOME/Downloads"},
		{"${MUSIC}", "$HOME/Music"},
		{"${PICTURES}", "$HOME/Pictures"},
		{"${VIDEOS}", "$HOME/Videos"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		size_t len = strlen(names[i].theirs);

		if (strncmp(text, names[i].theirs, len) == 0 &&
			(!text[len] || text[len] == '/'))
			return (size_t)snprintf(out, size, "%s%s", names[i].ours,
				       text + len) < size;
	}
	return text[0] == '/' && (size_t)snprintf(out, size, "%s", text) < size;
}

/* ${PATH} is every directory of programs. */
static void put_in_path(
	struct profile *p, enum aw_import_key key, const char *prefix, const char *rest)
{
	static const char *const folders[] = {"/usr/local/sbin", "/usr/local/bin",
		"/usr/sbin", "/usr/bin", "/sbin", "/bin"};

	for (size_t i = 0; i < ARRAY_SIZE(folders); i++)
		aw_import_putf(
			p->import, key, &p->at, "%s%s%s", prefix, folders[i], rest);
}

static void put(
	struct profile *p, enum aw_import_key key, const char *prefix, const char *path)
{
	char text[4096];

	if (strncmp(path, "${PATH}", 7) == 0 && path[7] == '/')
		put_in_path(p, key, prefix, path + 7);
	else if (translate(path, text + 1, sizeof(text) - 1)) {
		text[0] = '!';
		aw_import_path(p->import, key, &p->at, *prefix ? text : text + 1);
	} else
		aw_import_note(p->import, &p->at, "'%.80s' is no absolute path", path);
}

static void on_path(struct profile *p, const char *value, int key)
{
	put(p, (enum aw_import_key)key, "", value);
}

static void on_exception(struct profile *p, const char *value, int key)
{
	put(p, (enum aw_import_key)key, "!", value);
}

static void keep(struct profile *p, char ***list, size_t *count, const char *text)
{
	char **more = realloc(*list, (*count + 1) * sizeof(**list));
	AW_FREE char *copy = strdup(text);

	if (more)
		*list = more;
	if (!more || !copy)
		p->import->failed = true;
	else
		more[(*count)++] = aw_take_ptr(&copy);
}

/* What a later blacklist shall not take away. */
static void on_spared(struct profile *p, const char *value, int argument)
{
	(void)argument;
	keep(p, &p->spared, &p->spared_count, value);
}

static void on_blacklist(struct profile *p, const char *value, int argument)
{
	(void)argument;
	for (size_t i = 0; i < p->spared_count; i++)
		if (strcmp(p->spared[i], value) == 0 ||
			fnmatch(p->spared[i], value, FNM_PATHNAME) == 0)
			return;
	put(p, AW_IMPORT_DENY, "", value);
}

/* The rest of the directory is not there. */
static void on_whitelist(struct profile *p, const char *value, int read_only)
{
	const char *path = strncmp(value, "~/", 2) == 0 ? value + 1 : value;
	bool home = path != value || strncmp(value, "${D", 3) == 0 ||
		    strncmp(value, "${M", 3) == 0 || strncmp(value, "${PI", 4) == 0 ||
		    strncmp(value, "${V", 3) == 0;

	for (size_t i = 0; i < ARRAY_SIZE(tops); i++) {
		size_t len = strlen(tops[i]);

		if (!(i == 0 && home) &&
			(strncmp(value, tops[i], len) != 0 || value[len] != '/'))
			continue;
		if (!p->whitelisted[i])
			put(p, AW_IMPORT_DENY_WHOLE, "", tops[i]);
		p->whitelisted[i] = true;
		put(p, AW_IMPORT_DENY_SPARED, "!", value);
		put(p, read_only ? AW_IMPORT_READ : AW_IMPORT_WRITE, "", value);
		return;
	}
	put(p, read_only ? AW_IMPORT_READ : AW_IMPORT_WRITE, "", value);
}

static void on_net(struct profile *p, const char *value, int argument)
{
	(void)argument;
	if (strcmp(value, "none") == 0)
		aw_import_put(p->import, AW_IMPORT_NET_DEFAULT, &p->at, "deny");
	else
		aw_import_note(p->import, &p->at,
			"'net %.60s': there is no network of its own to be had", value);
}

static void on_protocol(struct profile *p, const char *value, int argument)
{
	(void)argument;
	if (!strstr(value, "inet"))
		aw_import_put(p->import, AW_IMPORT_NET_DEFAULT, &p->at, "deny");
}

static void on_env(struct profile *p, const char *value, int argument)
{
	size_t name = strspn(value, "abcdefghijklmnopqrstuvwxyz_"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");

	(void)argument;
	if (!name || value[name] != '=' || strpbrk(value, "$\\"))
		aw_import_note(
			p->import, &p->at, "'env %.80s' is no NAME=VALUE", value);
	else
		aw_import_put(p->import, AW_IMPORT_SET, &p->at, value);
}

static void on_word(struct profile *p, const char *value, int key)
{
	aw_import_put(p->import, (enum aw_import_key)key, &p->at, value);
}

static void on_number(struct profile *p, const char *value, int key)
{
	size_t digits = strspn(value, "0123456789");

	if (digits && (!value[digits] ||
			      (strchr("kmgKMG", value[digits]) && !value[digits + 1])))
		aw_import_put(p->import, (enum aw_import_key)key, &p->at, value);
	else
		aw_import_note(p->import, &p->at, "'%.60s' is no number", value);
}

static void on_timeout(struct profile *p, const char *value, int argument)
{
	unsigned hours, minutes, seconds;

	(void)argument;
	if (sscanf(value, "%u:%u:%u", &hours, &minutes, &seconds) == 3)
		aw_import_putf(p->import, AW_IMPORT_TIME, &p->at, "%us",
			hours * 3600 + minutes * 60 + seconds);
	else
		aw_import_note(p->import, &p->at, "'%.60s' is not hh:mm:ss", value);
}

static void on_private(struct profile *p, const char *value, int argument)
{
	(void)argument;
	if (!*value)
		aw_import_put(p->import, AW_IMPORT_REDIRECT_HOME, &p->at, "true");
	else
		aw_import_note(p->import, &p->at,
			"'private %.60s': the home is new for every session", value);
}

static void on_ignore(struct profile *p, const char *value, int argument)
{
	(void)argument;
	keep(p, &p->ignored, &p->ignored_count, value);
}

static char *open_include(struct profile *p, const char *name, char *path, size_t size)
{
	const char *folders[] = {p->folder, "/etc/firejail"};
	size_t len;

	for (size_t i = 0; i < 2; i++) {
		if (name[0] == '/')
			snprintf(path, size, "%s", name);
		else
			snprintf(path, size, "%s/%s", folders[i], name);
		char *text = aw_import_read_file(path, &len, NULL);

		if (text)
			return text;
	}
	return NULL;
}

static void on_include(struct profile *p, const char *value, int argument)
{
	const char *suffix = strrchr(value, '.'), *file = p->import->file;
	struct aw_node at = p->at;
	char name[1024], path[4096];
	AW_FREE char *text = NULL;

	(void)argument;
	if (!translate(value, name, sizeof(name)))
		snprintf(name, sizeof(name), "%s", value);
	if (p->depth < INCLUDES_MAX)
		text = open_include(p, name, path, sizeof(path));
	if (!text) {
		/* files for one's own additions need not be there */
		if (!suffix || strcmp(suffix, ".local") != 0)
			aw_import_note(
				p->import, &p->at, "'%.80s' cannot be read", value);
		return;
	}
	p->depth++;
	keep(p, &p->files, &p->file_count, path);
	if (!p->import->failed)
		read_lines(p, p->files[p->file_count - 1], text);
	p->depth--;
	p->import->file = file;
	p->at = at;
}

static const char always[] = ""; /* what enforce does anyway, or nobody notices */
static const char devices[] = "devices are not told apart";
static const char capabilities[] =
	"which capabilities root loses in enforce is no setting";
static const char system_calls[] =
	"which system calls are refused in enforce is no setting";

static const struct {
	const char *name;
	void (*read)(struct profile *p, const char *value, int argument);
	int argument;
	const char *lacks;
} commands[] = {
	{"blacklist", on_blacklist, 0, NULL},
	{"blacklist-nolog", on_blacklist, 0, NULL},
	{"noblacklist", on_spared, 0, NULL},
	{"read-only", on_path, AW_IMPORT_DENY_WRITE, NULL},
	{"read-write", on_exception, AW_IMPORT_DENY_WRITE, NULL},
	{"whitelist", on_whitelist, 0, NULL},
	{"whitelist-ro", on_whitelist, 1, NULL},
	{"nowhitelist", NULL, 0, "name what may be read instead"},
	{"noexec", NULL, 0,
		"a directory whose programs may not run: exec.deny names programs"},
	{"net", on_net, 0, NULL},
	{"protocol", on_protocol, 0, NULL},
	{"env", on_env, 0, NULL},
	{"rmenv", on_word, AW_IMPORT_UNSET, NULL},
	{"rlimit-nofile", on_number, AW_IMPORT_OPEN_FILES, NULL},
	{"rlimit-nproc", on_number, AW_IMPORT_PROCESSES, NULL},
	{"rlimit-fsize", on_number, AW_IMPORT_FILE_SIZE, NULL},
	{"rlimit-as", on_number, AW_IMPORT_MEMORY, NULL},
	{"timeout", on_timeout, 0, NULL},
	{"private", on_private, 0, NULL},
	{"ignore", on_ignore, 0, NULL},
	{"include", on_include, 0, NULL},
	{"quiet", NULL, 0, always},
	{"nonewprivs", NULL, 0, always},
	{"caps.drop", NULL, 0, capabilities},
	{"caps.keep", NULL, 0, capabilities},
	{"caps", NULL, 0, capabilities},
	{"seccomp", NULL, 0, system_calls},
	{"seccomp.drop", NULL, 0, system_calls},
	{"seccomp.keep", NULL, 0, system_calls},
	{"seccomp.block-secondary", NULL, 0, always},
	{"restrict-namespaces", NULL, 0, always},
	{"noroot", NULL, 0, always},
	{"nogroups", NULL, 0, always},
	{"tracelog", NULL, 0, always},
	{"shell", NULL, 0, always},
	{"name", NULL, 0, always},
	{"join-or-start", NULL, 0, always},
	{"private-tmp", NULL, 0,
		"TMPDIR may be written to; a directory of its own comes with "
		"environment.redirect_home"},
	{"private-dev", NULL, 0, "behind bwrap /dev is a small one anyway"},
	{"private-cache", NULL, 0, "environment.redirect_home gives caches of its own"},
	{"private-etc", NULL, 0, "name what of /etc may be read"},
	{"private-bin", NULL, 0, "exec.allow names programs"},
	{"private-lib", NULL, 0, "name what may be read"},
	{"ipc-namespace", NULL, 0, always},
	{"dbus-user", NULL, 0, "network.allow names the bus's socket, whole"},
	{"dbus-system", NULL, 0, "network.allow names the bus's socket, whole"},
	{"nodbus", NULL, 0,
		"without network.allow for the bus's socket there is no bus"},
	{"no3d", NULL, 0, devices},
	{"noautopulse", NULL, 0, devices},
	{"nodvd", NULL, 0, devices},
	{"noinput", NULL, 0, devices},
	{"noprinters", NULL, 0, devices},
	{"nosound", NULL, 0, devices},
	{"notv", NULL, 0, devices},
	{"nou2f", NULL, 0, devices},
	{"novideo", NULL, 0, devices},
	{"machine-id", NULL, 0, "the machine's own is seen"},
	{"mkdir", NULL, 0, "nothing is made in the home"},
	{"mkfile", NULL, 0, "nothing is made in the home"},
	{"memory-deny-write-execute", NULL, 0, "memory is not watched"},
};

static bool is_ignored(const struct profile *p, const char *line)
{
	for (size_t i = 0; i < p->ignored_count; i++) {
		size_t len = strlen(p->ignored[i]);

		if (strncmp(line, p->ignored[i], len) == 0 &&
			(!line[len] || line[len] == ' '))
			return true;
	}
	return false;
}

/* One line without its blanks and comment. */
static void read_line(struct profile *p, char *line)
{
	char *value = line + strcspn(line, " \t");

	if (is_ignored(p, line))
		return;
	if (line[0] == '?') { /* "?CONDITION: command" */
		aw_import_note(
			p->import, &p->at, "'%.80s' depends on a condition", line);
		return;
	}
	if (*value)
		*value++ = '\0';
	value += strspn(value, " \t");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(commands[i].name, line) != 0)
			continue;
		if (commands[i].read)
			commands[i].read(p, value, commands[i].argument);
		else if (commands[i].lacks[0])
			aw_import_note(p->import, &p->at, "'%s%s%.60s': %s", line,
				*value ? " " : "", value, commands[i].lacks);
		return;
	}
	aw_import_note(p->import, &p->at, "'%.60s' has no equivalent", line);
}

static void read_lines(struct profile *p, const char *file, const char *text)
{
	p->import->file = file;
	p->at = (struct aw_node){.line = 0, .column = 1};
	while (*text && !p->import->failed) {
		size_t len = strcspn(text, "\n");
		char line[4096];

		p->at.line++;
		if (len >= sizeof(line)) {
			aw_import_note(p->import, &p->at, "a line of %zu bytes", len);
		} else {
			size_t skip = strspn(text, " \t");

			snprintf(line, sizeof(line), "%.*s",
				(int)(len > skip ? len - skip : 0), text + skip);
			line[strcspn(line, "#\r")] = '\0';
			for (len = strlen(line); len && strchr(" \t", line[len - 1]);
				len--)
				line[len - 1] = '\0';
			if (line[0])
				read_line(p, line);
			len = strcspn(text, "\n");
		}
		text += len + (text[len] == '\n');
	}
}

int aw_import_firejail(struct aw_import *import, const char *text, struct aw_error *err)
{
	struct profile p = {.import = import};
	const char *file = import->file, *slash = strrchr(file, '/');
	AW_FREE char *folder =
		strndup(slash ? file : ".", slash ? (size_t)(slash - file) : 1);

	if (!folder)
		return aw_fail(err, ENOMEM, "out of memory");
	p.folder = *folder ? folder : "/";
	aw_import_put(import, AW_IMPORT_MODE, NULL, "enforce");
	aw_import_put(import, AW_IMPORT_FILES_DEFAULT, NULL, "allow");
	read_lines(&p, file, text);
	import->included = p.files;
	import->included_count = p.file_count;
	while (p.ignored_count > 0)
		free(p.ignored[--p.ignored_count]);
	while (p.spared_count > 0)
		free(p.spared[--p.spared_count]);
	free(p.ignored);
	free(p.spared);
	return 0;
}
