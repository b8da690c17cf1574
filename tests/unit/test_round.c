/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_round.c - what is printed, given back alone, is the same policy: the same text
 * but for the origins, the same rules, and the same verdict on anything.
 */
#include <stdint.h>

#include "policy/image/image_layout.h"
#include "policy/image/profile.h"
#include "tests/unit/policy_judge.h"

#define POLICIES 120
#define REQUESTS 80

static uint64_t state = 0x9e3779b97f4a7c15u;

static unsigned roll(unsigned sides)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (unsigned)(state >> 33) % sides;
}

#define PICK(list) list[roll(sizeof(list) / sizeof(*(list)))]

static const char *const paths[] = {"/", "/a", "/a/b", "/a/b/c", "/repo", "/repo/x",
	"/repo/.env", "/home/ann", "/home/ann/.ssh/id", "/home/ann/.cache/x",
	"/home/ann/.bashrc", "/home/ann/.claude/s", "/tmp", "/tmp/x", "/dev/null",
	"/usr/bin/git", "/etc/passwd", "/run/bus", "/w x", "/home/ann/.codex/x"};

static const char *const patterns[] = {"'/a'", "'!/a/b'", "'/a/b'", "'**/.env*'",
	"'$WORKSPACE'", "'!$WORKSPACE/x'", "'~/.cache'", "'${HOME}/.claude'", "'/'",
	"'/a/*'", "'$TMPDIR/x'", "'!/dev/null'", "'!/'", "\"/w\\u2028\\\"\\\\\\\\x\"",
	"'/w\\ x'", "'/caf\u00e9'", "'$env:AW_TEST_PATH/x'"};

static const char *const commands[] = {
	"git", "'git push *'", "/usr/bin/git", "'!git'", "/a", "'~/x -f'"};

static const char *const addresses[] = {"'1.1.1.1'", "'*.org:443'", "localhost:*",
	"'!1.1.1.1'", "'[::1]:80'", "'unix:/run/*'", "'unix:@bus*'", "'10.0.0.0/8'",
	"'unix:$WORKSPACE'", "$NAMESERVERS", "'*'"};

static const char *const inherited[] = {"A", "'A*'", "PATH", "'*_TOKEN'"};

static const char *const variables[] = {
	"A", "'A*'", "'!AB'", "'*_TOKEN'", "'!GH_TOKEN'", "PATH"};

static void put_list(FILE *out, const char *key, const char *const *words, size_t count)
{
	unsigned n = roll(4);

	if (roll(3))
		return;
	fprintf(out, "%s: [", key);
	while (n-- > 0)
		fprintf(out, "%s%s", words[roll((unsigned)count)], n ? ", " : "");
	fprintf(out, "], ");
}

#define PUT(out, key, list) put_list(out, key, list, sizeof(list) / sizeof(*(list)))

static void put_rules(FILE *out, bool trusted, const char *end)
{
	static const char *const files[] = {"allow", "read-only", "deny"};
	static const char *const words[] = {"allow", "deny"};
	static const char *const lists[] = {
		"read", "write", "deny", "deny_write", "hide", "ask"};
	/* without "$env:", which means nothing in a file that is not trusted */
	size_t count = sizeof(patterns) / sizeof(*patterns) - !trusted, i;

	fprintf(out, "filesystem: {");
	if (roll(2))
		fprintf(out, "default: %s, ", PICK(files));
	for (i = 0; i < 6; i++)
		put_list(out, lists[i], patterns, count);
	if (trusted && !roll(3))
		fprintf(out,
			"expose: [{source: '~/x', target: /opt/x, mode: rw}, {source: /opt/y}]");
	fprintf(out, "}%sexec: {", end);
	if (!roll(3))
		fprintf(out, "default: %s, ", PICK(words));
	PUT(out, "deny", commands);
	PUT(out, "ask", commands);
	PUT(out, "allow", commands);
	fprintf(out, "}%snetwork: {", end);
	if (!roll(3))
		fprintf(out, "default: %s, ", PICK(words));
	PUT(out, "deny", addresses);
	PUT(out, "ask", addresses);
	PUT(out, "allow", addresses);
	PUT(out, "listen", addresses);
	fprintf(out, "}%senvironment: {", end);
	PUT(out, "unset", variables);
	if (trusted && !roll(3))
		PUT(out, "inherit", inherited);
	fprintf(out, "}%slimits: {%s}%s", end, roll(2) ? "memory: 1g, cpus: 1.5" : "",
		end);
}

static void put_words(FILE *out)
{
	static const char *const lines[] = {"mode: enforce", "mode: audit",
		"runner: bwrap", "engine: kernel", "verdicts: ask", "quiet: true",
		"log: $TMPDIR/l", "preset: [codex]", "preset: [loopback, node]",
		"protections: {git-hooks: off, passwords: off}", "require: kernel",
		"on_missing_runner: exec"};
	char seen[32][16] = {""};
	unsigned n = roll(5), i, count = 0;

	while (n-- > 0) {
		const char *line = PICK(lines);
		char key[16];

		snprintf(key, sizeof(key), "%.*s", (int)strcspn(line, ":"), line);
		for (i = 0; i < count && strcmp(seen[i], key) != 0; i++)
			;
		if (i < count)
			continue;
		strcpy(seen[count++], key);
		fprintf(out, "%s\n", line);
	}
}

/* One layer; its environment section may come twice nowhere. */
static char *make_layer(enum aw_trust trust)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	if (trust != AW_UNTRUSTED)
		put_words(out);
	put_rules(out, trust != AW_UNTRUSTED, "\n");
	if (!roll(3)) {
		fprintf(out,
			"restricted_runners: {%s: {merge_strategy: %s, restrictions: {",
			roll(2) ? "bwrap" : "exec", roll(2) ? "extend" : "replace");
		put_rules(out, trust != AW_UNTRUSTED, ", ");
		fprintf(out, "}}}\n");
	}
	if (trust == AW_TRUSTED && !roll(5))
		fprintf(out, "merge: replace\n");
	fclose(out);
	return text;
}

static void load_or_stop(const struct text_layer *layers, size_t count,
	enum aw_mode mode, struct aw_policy *policy)
{
	struct aw_policy_variables variables_here = some_variables;
	struct aw_diagnostics d;
	size_t i;

	variables_here.command = "claude";
	if (load_layers_with(layers, count, mode, &variables_here, policy, &d) < 0) {
		aw_diagnostics_print(&d, stderr);
		for (i = 0; i < count; i++)
			fprintf(stderr, "--- %s\n%s\n", layers[i].layer,
				layers[i].text);
		abort();
	}
	aw_diagnostics_free(&d);
}

__attribute__((noinline)) static char *print(const struct aw_policy *policy)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		abort();
	aw_policy_print(policy, out);
	fclose(out);
	return text;
}

/* Without origins and remarks, in place. */
static void strip(char *text)
{
	char *to = text, *line, *end, *at, *mark;

	for (line = text; *line; line = end + 1) {
		end = strchr(line, '\n');
		*end = '\0';
		at = line + strspn(line, " ");
		mark = NULL;
		if (*at != '#')
			for (at = line; (at = strstr(at, "  # ")); at++)
				mark = at;
		else
			continue;
		if (mark)
			*mark = '\0';
		memmove(to, line, strlen(line));
		to += strlen(line);
		*to++ = '\n';
	}
	*to = '\0';
}

/* The next entry of this stratum and list; each policy file protects itself. */
static bool next_rule(const struct aw_image *image, unsigned stratum, unsigned list,
	uint32_t *at, const struct aw_image_entry **ret)
{
	const struct aw_image_entry *e = aw_part_at(image, AW_PART_ENTRIES);

	for (; *at < image->parts[AW_PART_ENTRIES].count; ++*at)
		if (e[*at].stratum == stratum && e[*at].list == list &&
			!strstr(aw_image_bytes(image, e[*at].text),
				" /tmp/aw-policy-")) {
			*ret = &e[(*at)++];
			return true;
		}
	return false;
}

static bool same_rule(const struct aw_image *a, const struct aw_image_entry *x,
	const struct aw_image *b, const struct aw_image_entry *y)
{
	return x->negated == y->negated && x->pattern_len == y->pattern_len &&
	       memcmp(aw_image_bytes(a, x->pattern), aw_image_bytes(b, y->pattern),
		       x->pattern_len) == 0 &&
	       strcmp(aw_image_bytes(a, x->text), aw_image_bytes(b, y->text)) == 0;
}

static bool same_stratum(
	const struct aw_image *a, unsigned s, const struct aw_image *b, unsigned t)
{
	const struct aw_image_entry *x, *y;
	unsigned list;
	uint32_t i, j;
	bool more_a, more_b;

	for (list = 0; list < AW_LISTS; list++)
		for (i = j = 0;;) {
			more_a = next_rule(a, s, list, &i, &x);
			more_b = next_rule(b, t, list, &j, &y);
			if (more_a != more_b || (more_a && !same_rule(a, x, b, y)))
				return false;
			if (!more_a)
				break;
		}
	return memcmp(&a->strata[s], &b->strata[t], sizeof(a->strata[s])) == 0;
}

/* All profiles of a are in b, by their names, which nobody has twice here. */
static bool same_profiles(const struct aw_image *a, const struct aw_image *b)
{
	unsigned i;
	uint32_t set;

	for (i = 0; i < aw_image_profiles(a); i++) {
		set = aw_image_profile_set(b, aw_image_profile_name(a, i));
		if (!set || !same_stratum(a, AW_STRATA + i, b,
				    AW_STRATA + (unsigned)__builtin_ctz(set)))
			return false;
	}
	return aw_image_profiles(a) == aw_image_profiles(b);
}

static bool same_rules(const struct aw_image *a, const struct aw_image *b)
{
	unsigned s;

	for (s = 0; s < AW_STRATA; s++)
		if (!same_stratum(a, s, b, s))
			return false;
	return a->mode == b->mode && a->flags == b->flags && same_profiles(a, b);
}

static bool same_text_of(const struct aw_policy *p, const struct aw_policy *q,
	const struct aw_decision *a, const struct aw_decision *b)
{
	struct aw_rule x, y;
	bool in_a = aw_image_rule(p->image, a->rule, &x);
	bool in_b = aw_image_rule(q->image, b->rule, &y);

	return a->verdict == b->verdict && in_a == in_b &&
	       (!in_a || strcmp(x.text, y.text) == 0);
}

static bool same_answer(const struct aw_policy *p, const struct aw_policy *q)
{
	static const enum aw_action actions[] = {
		AW_READ, AW_WRITE, AW_CREATE, AW_DELETE, AW_RENAME, AW_METADATA};
	static const char *const hosts[] = {"1.1.1.1", "10.1.2.3", "::1", "8.8.8.8",
		"/run/bus", "@bus1", "/repo/s", "127.0.0.1"};
	static const char *const names[] = {
		"PATH", "AB", "AC", "GH_TOKEN", "X_TOKEN", "Z"};
	static const char *const argv[] = {"git", "push", "x"};
	const char *path = PICK(paths), *host = PICK(hosts), *name = PICK(names);
	enum aw_action action = PICK(actions);
	uint16_t port = roll(2) ? 443 : 80;
	size_t argc = roll(3) + 1;
	const char *by = roll(2) ? "x.org" : NULL;
	struct aw_decision a = judge(p, action, path), b = judge(q, action, path);
	bool same = same_text_of(p, q, &a, &b);

	aw_image_decide_exec(p->image, path, strlen(path), argv, argc, &a);
	aw_image_decide_exec(q->image, path, strlen(path), argv, argc, &b);
	same &= same_text_of(p, q, &a, &b);
	action = roll(2) ? AW_CONNECT : AW_BIND;
	a = judge_address(p, action, host, port, by);
	b = judge_address(q, action, host, port, by);
	same &= same_text_of(p, q, &a, &b);
	same &= aw_policy_keeps_variable(p, name) == aw_policy_keeps_variable(q, name);
	if (!same)
		note("%s, %s or %s is judged otherwise", path, host, name);
	return same;
}

static bool same_network(const struct aw_network *a, const struct aw_network *b)
{
	bool same = a->match_sni == b->match_sni && a->proxy == b->proxy &&
		    a->refusal == b->refusal && a->forward_count == b->forward_count &&
		    a->private_names.count == b->private_names.count;

	for (size_t i = 0; same && i < a->forward_count; i++)
		same = strcmp(a->forwards[i].text, b->forwards[i].text) == 0 &&
		       a->forwards[i].outside == b->forwards[i].outside;
	for (size_t i = 0; same && i < a->private_names.count; i++)
		same = strcmp(a->private_names.items[i], b->private_names.items[i]) ==
		       0;
	return same;
}

static bool same_values(const struct aw_policy *p, const struct aw_policy *q)
{
	size_t i;
	bool same = p->environment.set_count == q->environment.set_count &&
		    p->exposed_count == q->exposed_count &&
		    memcmp(&p->limits, &q->limits, sizeof(p->limits)) == 0 &&
		    p->unprotected == q->unprotected &&
		    p->redirect_home == q->redirect_home &&
		    same_network(&p->network, &q->network);

	for (i = 0; same && i < p->environment.set_count; i++)
		same = strcmp(p->environment.set[i].value,
			       q->environment.set[i].value) == 0;
	for (i = 0; same && i < p->exposed_count; i++)
		same = strcmp(p->exposed[i].source, q->exposed[i].source) == 0 &&
		       strcmp(p->exposed[i].target, q->exposed[i].target) == 0 &&
		       p->exposed[i].write == q->exposed[i].write;
	return same;
}

/* Print p, load it instead of layers [from, count), and compare. */
static bool comes_back(const struct aw_policy *p, const struct text_layer *below,
	size_t count, unsigned requests)
{
	struct text_layer layers[8] = {{NULL, AW_TRUSTED, NULL}};
	char *text = print(p), *again;
	struct aw_policy q;
	bool same;
	size_t i;

	for (i = 0; i < count; i++)
		layers[i] = below[i];
	layers[count].layer = "policy";
	layers[count].text = strchr(text, '\n') + 1; /* without "version: 1" */
	load_or_stop(layers, count + 1, AW_AUDIT, &q);
	again = print(&q);
	strip(text);
	strip(again);
	same = strcmp(text, again) == 0 && same_rules(p->image, q.image) &&
	       same_values(p, &q);
	if (!same)
		note("first:\n%s\nthen:\n%s", text, again);
	while (same && requests-- > 0)
		same = same_answer(p, &q);
	aw_policy_release(&q);
	free(text);
	free(again);
	return same;
}

static void random_layers_come_back(void)
{
	static const enum aw_trust trusts[] = {
		AW_SYSTEM, AW_TRUSTED, AW_TRUSTED, AW_UNTRUSTED, AW_TRUSTED};
	static const char *const names[] = {
		"system", "global", "agent", "workspace", "policy"};
	unsigned n, alone = 0, above = 0;

	for (n = 0; n < POLICIES; n++) {
		struct text_layer layers[5];
		size_t count = 0, i;
		struct aw_policy p;

		for (i = 0; i < 5; i++)
			if (roll(2))
				layers[count++] = (struct text_layer){
					names[i], trusts[i], make_layer(trusts[i])};
		load_or_stop(layers, count, AW_ENFORCE, &p);
		alone += comes_back(&p, NULL, 0, REQUESTS);
		above += comes_back(&p, layers, count, REQUESTS);
		aw_policy_release(&p);
		while (count-- > 0)
			free((char *)layers[count].text);
		if (alone <= n || above <= n)
			break;
	}
	ok(alone == POLICIES, "%d policies come back where there is no other",
		POLICIES);
	ok(above == POLICIES, "and on top of the layers that they were made from");
}

static void all_of_it_comes_back(void)
{
	static const struct text_layer layers[] = {
		{"system", AW_SYSTEM,
			"filesystem: {deny: [/s]}\nenvironment: {inherit: [PATH, "
			"'A*'], unset: [AB]}\nlimits: {processes: 9}\n"
			"profiles: {of.system: {when: {mcp: [a, '!b*']}, network: "
			"{default: deny, listen: []}}}"},
		{"global", AW_TRUSTED,
			"mode: enforce\nrunner: landlock\nengine: kernel\n"
			"verdicts: ask\non_missing_runner: fail\nrequire: supervisor\n"
			"quiet: true\nkeep_descendants: true\n"
			"log: \"$HOME/a\\\\$b\"\npreset: [claude-code]\n"
			"protections: {git-hooks: off}\n"
			"limits: {memory: 2.5g, cpus: 0.1, time: 1h, open_files: 7, "
			"file_size: 1t, connections_per_minute: 5, bytes_out: 1g}\n"
			"network: {match_sni: true, proxy: environment, refusal: "
			"ECONNREFUSED, forward: [3000, '8080:80'], "
			"private_names: ['*.in.example']}\n"
			"filesystem: {expose: [{source: '$HOME/a b', target: /o, "
			"mode: rw}]}\n"
			"environment: {inherit: [A, B], unset: ['!Q'], redirect_home: "
			"true, set: {A: '$HOME/\\$x', 'B C': \"\\x07\\u2028\", D: "
			"'~/x', '\u00fc': \"\\u00a0\\u0085'\"}}\n"
			"profiles: {Files: {when: {exec: ['x y *', '!/a']}, "
			"filesystem: "
			"{default: deny, read: ['$HOME/r']}, exec: {ask: [git]}}, two: "
			"{when: {exec: git}, filesystem: {default: allow}}}"},
		{"workspace", AW_UNTRUSTED,
			"filesystem: {hide: [/h]}\nenvironment: {unset: [AC]}\n"
			"profiles: {of_workspace: {when: {mcp: w}, filesystem: {deny: [/w]}}}"},
	};
	struct aw_policy p;

	load_or_stop(layers, 3, AW_AUDIT, &p);
	ok(comes_back(&p, NULL, 0, 1000), "every key comes back");
	ok(comes_back(&p, layers, 3, 1000), "also on top of its own files");
	aw_policy_release(&p);
	load_or_stop(layers, 0, AW_ENFORCE, &p);
	ok(p.picked && comes_back(&p, NULL, 0, 1000),
		"and what holds without a policy, with the preset that was picked");
	aw_policy_release(&p);
}

/* Another system policy holds, whatever was printed elsewhere. */
static void nobody_brings_a_system_policy(void)
{
	static const struct text_layer layers[] = {
		{"system", AW_SYSTEM, "filesystem: {deny: [/s]}"},
		{"policy", AW_TRUSTED,
			"merge: replace\nintersect: {system: {filesystem: {deny: "
			"['!/s', /t]}}, untrusted: {filesystem: {deny: ['!/s', /u]}}}"},
		{"policy", AW_TRUSTED, "filesystem: {deny: ['!/t', '!/u']}"},
	};
	struct aw_policy p;

	load_or_stop(layers, 3, AW_AUDIT, &p);
	ok(judge(&p, AW_READ, "/s").verdict == AW_DENY &&
			judge(&p, AW_READ, "/t").verdict == AW_ALLOW,
		"the system policy that is there holds");
	ok(judge(&p, AW_READ, "/u").verdict == AW_DENY,
		"what was untrusted stands apart");
	aw_policy_release(&p);
	load_or_stop(layers + 1, 2, AW_AUDIT, &p);
	ok(judge(&p, AW_READ, "/t").verdict == AW_DENY,
		"without one the printed one does, and nobody loosens it");
	aw_policy_release(&p);
}

int main(void)
{
	forget_environment();
	setenv("AW_TEST_PATH", "/a b/[c]", 1);
	all_of_it_comes_back();
	nobody_brings_a_system_policy();
	random_layers_come_back();
	return done();
}
