/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_tighten.c - whatever a file that is not trusted says, it only tightens; and
 * nothing that is trusted loosens the system policy; and what a trusted file loosens
 * is told when it is trusted.
 *
 * Random files go through the loader, and the evaluator is asked about random files,
 * programs, addresses and variables, with the untrusted file and without it.
 */
#include "supervisor/lint/permission_diff.h"
#include "tests/unit/policy_judge.h"
#include "tests/unit/random_policy.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SLOW 1 /* sanitized by gcc */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SLOW 1
#endif
#endif
#ifdef SLOW
#define ROUNDS 400
#else
#define ROUNDS 2000
#endif
#define QUESTIONS 24

/* --- questions --- */

struct loaded {
	struct aw_policy policy;
	struct text texts[3];
};

static void ask_file(const struct aw_policy *p, const char *path,
	enum aw_verdict ret[AW_METADATA + 1])
{
	for (int a = 0; a <= AW_METADATA; a++)
		ret[a] = a == AW_CONNECT || a == AW_BIND || a == AW_SEND
				 ? AW_ALLOW
				 : judge(p, (enum aw_action)a, path).verdict;
}

static unsigned wrong;

static void complain(const struct loaded *loose, const struct loaded *tight,
	const char *what, const char *about)
{
	if (wrong++)
		return;
	note("%s %s: the second of these is looser than the first", what, about);
	for (unsigned i = 0; i < 6; i++)
		note("--- %u\n%s", i, (i < 3 ? loose : tight)->texts[i % 3].bytes);
}

/* strict must be at least as strict as base for one random question of each kind. */
static void compare_files(const struct loaded *base, const struct loaded *strict)
{
	enum aw_verdict before[AW_METADATA + 1], after[AW_METADATA + 1];
	struct text from = {.len = 0}, to = {.len = 0};
	struct aw_decision was = {AW_ALLOW, AW_NO_RULE}, now = was;

	say_path(&from, false);
	say_path(&to, false);
	ask_file(&base->policy, from.bytes, before);
	ask_file(&strict->policy, from.bytes, after);
	for (int a = 0; a <= AW_METADATA; a++)
		if (after[a] < before[a])
			complain(base, strict, aw_action_name((enum aw_action)a),
				from.bytes);
	aw_image_carries(
		base->policy.image, 0, from.bytes, from.len, to.bytes, to.len, &was);
	aw_image_carries(
		strict->policy.image, 0, from.bytes, from.len, to.bytes, to.len, &now);
	if (now.verdict < was.verdict)
		complain(base, strict, "moving", from.bytes);
}

static void compare_programs(const struct loaded *base, const struct loaded *strict)
{
	static const char *const words[] = {"x", "xy", "-f", "y", NULL};
	const char *argv[4] = {"a"};
	struct aw_decision before, after;
	struct text path = {.len = 0};
	size_t argc = 1 + roll(4);

	say_path(&path, false);
	for (size_t i = 1; i < argc; i++)
		argv[i] = one_of(words);
	aw_image_decide_exec(
		base->policy.image, path.bytes, path.len, argv, argc, &before);
	aw_image_decide_exec(
		strict->policy.image, path.bytes, path.len, argv, argc, &after);
	if (after.verdict < before.verdict)
		complain(base, strict, "running", path.bytes);
}

static void compare_addresses(const struct loaded *base, const struct loaded *strict)
{
	static const char *const addresses[] = {"10.1.2.3", "10.2.0.1", "127.0.0.1",
		"192.0.2.1", "::1", "fd00::1", "::ffff:10.1.2.3", "/a/b", "/run/x",
		"@n", "@m", NULL};
	static const char *const hosts[] = {
		"x.org", "a.x.org", "b.a.x.org", "localhost", "y.org", NULL};
	static const uint16_t ports[] = {80, 85, 443, 0, 65535};
	static const enum aw_action actions[] = {AW_CONNECT, AW_BIND, AW_SEND};
	const char *address = one_of(addresses), *host = one_of(hosts);
	uint16_t port = ports[roll(5)];
	struct aw_decision before, after;

	for (unsigned i = 0; i < 3; i++) {
		const char *by = roll(2) && i != 1 ? host : NULL;

		before = judge_address(&base->policy, actions[i], address, port, by);
		after = judge_address(&strict->policy, actions[i], address, port, by);
		if (after.verdict < before.verdict)
			complain(base, strict, aw_action_name(actions[i]), address);
	}
	aw_image_decide_host(base->policy.image, host, &before);
	aw_image_decide_host(strict->policy.image, host, &after);
	if (after.verdict < before.verdict)
		complain(base, strict, "looking up", host);
}

static void compare_variables(const struct loaded *base, const struct loaded *strict)
{
	static const char *const names[] = {
		"KEY", "TOKEN", "API_KEY", "A", "PATH", "Z", "AWS_X", NULL};

	for (unsigned i = 0; names[i]; i++)
		if (!aw_policy_keeps_variable(&base->policy, names[i]) &&
			aw_policy_keeps_variable(&strict->policy, names[i]))
			complain(base, strict, "the variable", names[i]);
}

static bool is_looser(double before, double after)
{
	return before > 0 && (after <= 0 || after > before);
}

static void compare_limits(const struct loaded *base, const struct loaded *strict)
{
	const struct aw_limits *a = &base->policy.limits, *b = &strict->policy.limits;

	if (is_looser((double)a->memory, (double)b->memory) ||
		is_looser(a->cpus, b->cpus) ||
		is_looser((double)a->processes, (double)b->processes) ||
		is_looser((double)a->time, (double)b->time) ||
		is_looser((double)a->open_files, (double)b->open_files) ||
		is_looser((double)a->file_size, (double)b->file_size) ||
		is_looser((double)a->connections_per_minute,
			(double)b->connections_per_minute) ||
		is_looser((double)a->bytes_out, (double)b->bytes_out))
		complain(base, strict, "a limit", "");
	if (strict->policy.mode < base->policy.mode)
		complain(base, strict, "mode", "audit");
}

static void compare_verdicts(const struct loaded *base, const struct loaded *strict)
{
	for (unsigned i = 0; i < QUESTIONS; i++) {
		compare_files(base, strict);
		if (i % 2)
			compare_programs(base, strict);
		else
			compare_addresses(base, strict);
	}
}

static void compare(const struct loaded *base, const struct loaded *strict)
{
	compare_limits(base, strict);
	compare_variables(base, strict);
	compare_verdicts(base, strict);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* What an untrusted file has no say in at all. */
static void compare_choices(const struct loaded *base, const struct loaded *strict)
{
	const struct aw_policy *a = &base->policy, *b = &strict->policy;
	bool set = false;

	for (size_t i = 0; i < b->environment.set_count; i++)
		/* enforcing alone may set this one */
		set |= strcmp(b->environment.set[i].name, "GIT_TEMPLATE_DIR") != 0 &&
		       (i >= a->environment.set_count ||
			       strcmp(a->environment.set[i].value,
				       b->environment.set[i].value) != 0);
	if (a->base_kind != b->base_kind || a->base_replaced != b->base_replaced ||
		!same_text(a->picked, b->picked) || !same_text(a->runner, b->runner) ||
		!same_text(a->engine, b->engine) ||
		!same_text(a->verdicts, b->verdicts) ||
		!same_text(a->on_missing_runner, b->on_missing_runner) ||
		a->unprotected != b->unprotected ||
		a->redirect_home != b->redirect_home ||
		a->network.match_sni > b->network.match_sni ||
		a->network.proxy != b->network.proxy ||
		a->network.refusal != b->network.refusal ||
		a->network.forward_count != b->network.forward_count ||
		a->network.private_names.count != b->network.private_names.count ||
		a->exposed_count != b->exposed_count || set)
		complain(base, strict, "a choice", "");
}

/* --- rounds --- */

enum { SYSTEM, TRUSTED, UNTRUSTED };

static void load_some(struct loaded *l, unsigned which)
{
	static const struct {
		const char *layer;
		enum aw_trust trust;
	} kinds[] = {{"system", AW_SYSTEM}, {"global", AW_TRUSTED},
		{"workspace", AW_UNTRUSTED}};
	struct text_layer layers[3];
	size_t count = 0;

	for (unsigned i = 0; i < 3; i++)
		if (which & (1u << i))
			layers[count++] = (struct text_layer){
				kinds[i].layer, kinds[i].trust, l->texts[i].bytes};
	load(layers, count, AW_AUDIT, &l->policy);
}

/* The trusted file, and the last one as a workspace's that is trusted. */
static void load_trusting(struct loaded *l)
{
	const struct text_layer layers[] = {
		{"global", AW_TRUSTED, l->texts[TRUSTED].bytes},
		{"workspace", AW_TRUSTED, l->texts[UNTRUSTED].bytes}};

	load(layers, 2, AW_AUDIT, &l->policy);
}

static void make_texts(struct loaded *l)
{
	memset(l->texts, 0, sizeof(l->texts));
	say_rules(&l->texts[SYSTEM]);
	say_mode(&l->texts[SYSTEM]);
	say_limits(&l->texts[SYSTEM]);
	say_environment(&l->texts[SYSTEM]);
	if (roll(4)) {
		say_rules(&l->texts[TRUSTED]);
		say_environment(&l->texts[TRUSTED]);
	}
	say_mode(&l->texts[TRUSTED]);
	say_limits(&l->texts[TRUSTED]);
	say_trusted_keys(&l->texts[TRUSTED], false);
	say_rules(&l->texts[UNTRUSTED]);
	say_mode(&l->texts[UNTRUSTED]);
	say_limits(&l->texts[UNTRUSTED]);
	say_environment(&l->texts[UNTRUSTED]);
	say_trusted_keys(&l->texts[UNTRUSTED], true);
	if (roll(4) == 0)
		say(&l->texts[UNTRUSTED], "merge: replace\n");
}

static void an_untrusted_file_never_loosens(void)
{
	static struct loaded base, strict;

	wrong = 0;
	for (unsigned i = 0; i < ROUNDS && !wrong; i++) {
		unsigned which = 1u << TRUSTED | (roll(2) ? 1u << SYSTEM : 0);

		make_texts(&base);
		memcpy(strict.texts, base.texts, sizeof(base.texts));
		load_some(&base, which);
		load_some(&strict, which | 1u << UNTRUSTED);
		compare(&base, &strict);
		compare_choices(&base, &strict);
		aw_policy_release(&base.policy);
		aw_policy_release(&strict.policy);
	}
	ok(!wrong, "%d untrusted files loosen nothing", ROUNDS);
}

/* The file's own verdict: that of a system policy with its rules, and nothing else. */
static void what_an_untrusted_file_denies_is_denied(void)
{
	static struct loaded own, strict;

	wrong = 0;
	for (unsigned i = 0; i < ROUNDS / 4 && !wrong; i++) {
		make_texts(&strict);
		memset(own.texts, 0, sizeof(own.texts));
		say_rules(&own.texts[SYSTEM]);
		strict.texts[UNTRUSTED] = own.texts[SYSTEM];
		say(&own.texts[SYSTEM], "base: open\nprotections: off\n");
		load_some(&own, 1u << SYSTEM);
		load_some(&strict, 1u << TRUSTED | 1u << UNTRUSTED);
		compare_verdicts(&own, &strict);
		aw_policy_release(&own.policy);
		aw_policy_release(&strict.policy);
	}
	ok(!wrong, "%d untrusted files have their own denials", ROUNDS / 4);
}

static void nothing_loosens_the_system(void)
{
	static struct loaded base, strict;

	wrong = 0;
	for (unsigned i = 0; i < ROUNDS / 4 && !wrong; i++) {
		make_texts(&base);
		/* the system says nothing of protections, so others may */
		say(&base.texts[SYSTEM], "protections: off\n");
		memcpy(strict.texts, base.texts, sizeof(base.texts));
		/* what others may open, too, is not the system's */
		say(&base.texts[SYSTEM], "base: open\n");
		load_some(&base, 1u << SYSTEM);
		load_some(&strict, 1u << SYSTEM | 1u << TRUSTED);
		compare(&base, &strict);
		aw_policy_release(&base.policy);
		aw_policy_release(&strict.policy);
	}
	ok(!wrong, "%d trusted files loosen nothing of the system's", ROUNDS / 4);
}

/* A trusted file of a workspace with little in it. */
static void say_little(struct text *t)
{
	static const struct {
		const char *section, *list;
		void (*entry)(struct text *);
	} kinds[] = {
		{"filesystem", "read", say_pattern},
		{"filesystem", "write", say_pattern},
		{"filesystem", "deny", say_pattern},
		{"filesystem", "deny_write", say_pattern},
		{"filesystem", "hide", say_pattern},
		{"filesystem", "ask", say_pattern},
		{"exec", "allow", say_program},
		{"exec", "deny", say_program},
		{"exec", "ask", say_program},
		{"network", "allow", say_address},
		{"network", "deny", say_address},
		{"network", "listen", say_address},
		{"environment", "unset", say_name},
	};
	unsigned i = roll(sizeof(kinds) / sizeof(*kinds));

	say(t, "%s:\n", kinds[i].section);
	if (roll(4) == 0 && strcmp(kinds[i].section, "environment") != 0)
		say(t, "  default: %s\n", roll(2) ? "allow" : "deny");
	say(t, "  %s: ['%s", kinds[i].list, roll(3) ? "" : "!");
	kinds[i].entry(t);
	say(t, "']\n");
	if (roll(4) == 0)
		say_limits(t);
	if (roll(8) == 0)
		say_mode(t);
}

/* What `agentwatch trust` tells of a file: where it says nothing there is nothing. */
static void nothing_is_loosened_untold(void)
{
	static struct loaded base, strict;
	FILE *out = fopen("/dev/null", "w");
	unsigned silent = 0;

	if (!out)
		abort();
	wrong = 0;
	for (unsigned i = 0; i < ROUNDS / 2 && !wrong; i++) {
		struct text little = {.len = 0};

		make_texts(&base);
		memcpy(strict.texts, base.texts, sizeof(base.texts));
		say_little(&little);
		strict.texts[UNTRUSTED] = little;
		load_some(&base, 1u << TRUSTED);
		load_trusting(&strict);
		if (!aw_permission_diff_print(&base.policy, &strict.policy, out)) {
			silent++;
			compare(&base, &strict);
		}
		aw_policy_release(&base.policy);
		aw_policy_release(&strict.policy);
	}
	fclose(out);
	ok(!wrong && silent > ROUNDS / 20,
		"%u of %d trusted files loosen nothing, as they are said to", silent,
		ROUNDS / 2);
}

int main(void)
{
	start_dice();
	forget_environment();
	an_untrusted_file_never_loosens();
	what_an_untrusted_file_denies_is_denied();
	nothing_loosens_the_system();
	nothing_is_loosened_untold();
	return done();
}
