/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_gitconfig.c - git's configuration is read as git reads it, and keys that run
 * programs are told from others.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

#include "policy/git/gitconfig.h"
#include "tests/unit/tap.h"

#define BAD "not a configuration"

/* Texts, each alone: "" when nothing runs a program, else the first key and its line. */
static const struct {
	const char *text, *what;
	unsigned line;
} cases[] = {
	{"", "", 0},
	{"\n\n# nothing\n; nothing\n", "", 0},
	{"[core]\n\tbare = false\n\tfilemode = true\n", "", 0},
	{"[user]\n\tname = A B\n\temail = a@b\n\tsigningkey = 1\n", "", 0},
	{"[remote \"origin\"]\n\turl = https://h/x\n\tfetch = +refs/*:refs/*\n", "", 0},
	{"[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n", "", 0},
	{"[submodule \"x\"]\n\tactive = true\n\turl = ../x\n", "", 0},
	{"[core]\n\tworktree = ../../../x\n", "", 0},
	{"[extensions]\n\tworktreeConfig = true\n", "", 0},
	{"[core]\n\tsparseCheckout\n\tsparseCheckoutCone = true\n", "", 0},
	{"[ssh]\n\tvariant = simple\n", "", 0},
	{"[core]\n\tfsmonitor = true\n", "", 0},
	{"[core]\n\tfsmonitor\n", "", 0},
	{"[core]\n\tfsmonitor = 0\n", "", 0},
	{"[core]\n\tfsmonitor =\n", "", 0},
	{"[core]\n\tfsmonitor = /tmp/x\n", "core.fsmonitor", 2},
	{"[core]\n\tfsmonitor = truely\n", "core.fsmonitor", 2},
	{"[CORE]\n\tFSMonitor = x\n", "core.fsmonitor", 2},
	{"[core] fsmonitor = x\n", "core.fsmonitor", 1},
	{"[core]fsmonitor=x", "core.fsmonitor", 1},
	{"[user]name=x\n[core]hooksPath=y", "core.hookspath", 2},
	{"\xef\xbb\xbf[core]\n\tpager = less\n", "core.pager", 2},
	{"[core]\r\n\tpager = less\r\n", "core.pager", 2},
	{"[core]\n\t# pager = x\n\t; pager = x\n", "", 0},
	{"[core]\n\teol = y # \\\n\tpager = less\n", "core.pager", 3},
	{"[core]\n\teol = \"y # \\\n\tpager = less\"\n", "", 0},
	{"[core]\n\teol = y \\\n\tpager = less\n", "", 0},
	{"[core]\n\teol = \"a;b\"\n\teditor = vi\n", "core.editor", 3},
	{"[core \"x\"]\n\tpager = less\n", "core.x.pager", 2},
	{"[user \"x\"]\n\tpager = less\n", "", 0},
	{"[core]\n\tsshCommand = ssh -i k\n", "core.sshcommand", 2},
	{"[core]\n\tgitProxy = p for h\n", "core.gitproxy", 2},
	{"[core]\n\taskPass = x\n", "core.askpass", 2},
	{"[core]\n\talternateRefsCommand = x\n", "core.alternaterefscommand", 2},
	{"[core]\n\thooksPath\n", "core.hookspath", 2},
	{"[sequence]\n\teditor = x\n", "sequence.editor", 2},
	{"[credential]\n\thelper = store\n", "credential.helper", 2},
	{"[credential]\n\thelper =\n", "", 0},
	{"[credential \"https://h.x\"]\n\thelper = !x\n",
		"credential.https://h.x.helper", 2},
	{"[credential \"https://h.x\"]\n\tusername = x\n", "", 0},
	{"[filter \"lfs\"]\n\tclean = c\n", "filter.lfs.clean", 2},
	{"[filter.lfs]\n\tsmudge = c\n", "filter.lfs.smudge", 2},
	{"[filter \"a.b\"]\n\tprocess = c\n", "filter.a.b.process", 2},
	{"[filter \"lfs\"]\n\trequired = true\n", "", 0},
	{"[filter   \"l\\\"f\"]\n\tclean = c\n", "filter.l\"f.clean", 2},
	{"[diff]\n\texternal = x\n", "diff.external", 2},
	{"[diff]\n\talgorithm = patience\n", "", 0},
	{"[diff \"x\"]\n\tcommand = x\n", "diff.x.command", 2},
	{"[diff \"x\"]\n\ttextconv = x\n", "diff.x.textconv", 2},
	{"[diff \"x\"]\n\txfuncname = x\n", "", 0},
	{"[merge \"x\"]\n\tdriver = x\n", "merge.x.driver", 2},
	{"[merge]\n\tff = only\n\ttool = vimdiff\n", "", 0},
	{"[mergetool \"x\"]\n\tcmd = x\n", "mergetool.x.cmd", 2},
	{"[difftool \"x\"]\n\tpath = x\n", "difftool.x.path", 2},
	{"[gpg]\n\tprogram = x\n", "gpg.program", 2},
	{"[gpg \"ssh\"]\n\tdefaultKeyCommand = x\n", "gpg.ssh.defaultkeycommand", 2},
	{"[gpg]\n\tformat = ssh\n", "", 0},
	{"[alias]\n\tst = status -sb\n\tlg = log --graph\n", "", 0},
	{"[alias]\n\tx = !sh\n", "alias.x", 2},
	{"[alias]\n\tx = \"!sh\"\n", "alias.x", 2},
	{"[alias]\n\tx = \\\n!sh\n", "alias.x", 2},
	{"[alias]\n\tx = -c core.pager=y log\n", "alias.x", 2},
	{"[alias]\n\tx = rebase -x y\n", "alias.x", 2},
	{"[alias]\n\tx = rebase '--exec=y'\n", "alias.x", 2},
	{"[alias]\n\tx = submodule foreach y\n", "alias.x", 2},
	{"[alias]\n\tx = grep --open-files=./evil .\n", "alias.x", 2},
	{"[alias]\n\tx = grep -nO./evil .\n", "alias.x", 2},
	{"[alias]\n\tx = grep -n -O ./evil\n", "alias.x", 2},
	{"[alias]\n\tx = rebase --exe=./evil\n", "alias.x", 2},
	{"[alias]\n\tx = rebase -ix./evil\n", "alias.x", 2},
	{"[alias]\n\tx = rebase -i\\\"x\\\"./evil\n", "alias.x", 2},
	{"[alias]\n\tx = \"rebase '-'x ./evil\"\n", "alias.x", 2},
	{"[alias]\n\tx = rebase '-\\\\x' ./evil\n", "alias.x", 2},
	{"[alias]\n\tx = ls-remote --upload-pac=./evil .\n", "alias.x", 2},
	{"[alias]\n\tx = fetch --upload-p ./evil\n", "alias.x", 2},
	{"[alias]\n\tx = fetch ext::./evil\n", "alias.x", 2},
	{"[alias]\n\tx = difftool -yx./evil\n", "alias.x", 2},
	{"[alias]\n\tx = clone -u ./evil\n", "alias.x", 2},
	{"[alias]\n\tx = config core.fsmonitor ./evil\n", "alias.x", 2},
	{"[alias]\n\tx = log --output=/home/u/.bashrc\n", "alias.x", 2},
	{"[alias]\n\tx = log --outpu /home/u/.bashrc\n", "alias.x", 2},
	{"[alias]\n\tx = submodule --quiet foreach y\n", "alias.x", 2},
	{"[alias]\n\tx = log 'open\n", "alias.x", 2},
	{"[alias]\n\tx = foo\n", "alias.x", 2},
	{"[alias]\n\tx = --no-pager log -1\n", "", 0},
	{"[alias]\n\tx = --exec-path=. log\n", "alias.x", 2},
	{"[alias]\n\tst = push https://h/x HEAD\n", "alias.st", 2},
	{"[alias]\n\tst = push me@h:x\n", "alias.st", 2},
	{"[alias]\n\tst = push h:x\n", "alias.st", 2},
	{"[alias]\n\tst = push me@h:refs/x\n", "alias.st", 2},
	{"[alias]\n\tst = push h.example:refs/x\n", "alias.st", 2},
	{"[alias]\n\tst = remote set-url origin https://h/x\n", "alias.st", 2},
	{"[alias]\n\tst = fetch 0123456789012345678901234567890123456789012345678901234"
	 "5678901234567890@h:x\n",
		"alias.st", 2},
	{"[alias]\n\treview = push origin HEAD:refs/for/main\n", "", 0},
	{"[alias]\n\tpr = fetch origin pull/1/head:pr\n\tsee = show HEAD:a\n", "", 0},
	{"[alias]\n\tlg = log --graph --abbrev-commit --decorate --date=relative "
	 "--format=format:'%C(bold blue)%h%C(reset) - %s::%an' --all\n",
		"", 0},
	{"[alias]\n\tco = checkout\n\tci = commit -v\n\tbr = branch\n", "", 0},
	{"[alias]\n\tunstage = reset HEAD --\n\tlast = log -1 HEAD\n", "", 0},
	{"[alias]\n\tamend = commit --amend --no-edit\n\tdf = diff --cached\n", "", 0},
	{"[alias]\n\tsup = submodule update --init --recursive\n", "", 0},
	{"[alias]\n\tpf = push --force-with-lease\n\tpu = push -u origin HEAD\n", "",
		0},
	{"[alias]\n\tri = rebase -i --autosquash\n\tgr = grep -nI\n", "", 0},
	{"[delta]\n\tpager = x\n", "delta.pager", 2},
	{"[tig]\n\tbind = x\n", "tig.bind", 2},
	{"[jump]\n\tgrepCmd = x\n", "jump.grepcmd", 2},
	{"[gitflow \"path\"]\n\thooks = x\n", "gitflow.path.hooks", 2},
	{"[gitflow \"branch\"]\n\tmaster = main\n", "", 0},
	{"[gitflow]\n\tbranch = main\n", "gitflow.branch", 2},
	{"[secrets]\n\tproviders = x\n", "secrets.providers", 2},
	{"[cinnabar]\n\thelper = x\n", "cinnabar.helper", 2},
	{"[annex]\n\tsecure-erase-command = x\n", "annex.secure-erase-command", 2},
	{"[remote \"o\"]\n\tannex-externaltype = x\n", "remote.o.annex-externaltype",
		2},
	{"[remote \"o\"]\n\tgh-resolved = base\n", "", 0},
	{"[branch \"b\"]\n\tvscode-merge-base = origin/main\n", "", 0},
	{"[core]\n\tnewCommand = x\n", "core.newcommand", 2},
	{"[trace2]\n\teventTarget = /x\n", "trace2.eventtarget", 2},
	{"[http]\n\tcookieFile = x\n", "http.cookiefile", 2},
	{"[http \"https://h\"]\n\tsaveCookies = true\n", "http.https://h.savecookies",
		2},
	{"[http \"https://h\"]\n\textraHeader = a: b\n", "http.https://h.extraheader",
		2},
	{"[format]\n\toutputDirectory = x\n", "format.outputdirectory", 2},
	{"[merge]\n\ttool = ../../../w/evil\n", "merge.tool", 2},
	{"[lfs]\n\trepositoryformatversion = 0\n", "", 0},
	{"[lfs \"https://h/x.git/info/lfs\"]\n\tlocksverify = true\n", "", 0},
	{"[alias \"x\"]\n\tcommand = !y\n", "alias.x.command", 2},
	{"[include]\n\tpath = x\n", "include.path", 2},
	{"[includeIf \"gitdir:~/x\"]\n\tpath = y\n", "includeif.gitdir:~/x.path", 2},
	{"[pager]\n\tlog = false\n\tdiff = 1\n", "", 0},
	{"[pager]\n\tlog = x\n", "pager.log", 2},
	{"[interactive]\n\tdiffFilter = x\n", "interactive.difffilter", 2},
	{"[uploadpack]\n\tpackObjectsHook = x\n", "uploadpack.packobjectshook", 2},
	{"[uploadpack]\n\tallowFilter = true\n", "", 0},
	{"[remote \"o\"]\n\tuploadpack = x\n", "remote.o.uploadpack", 2},
	{"[remote \"o\"]\n\treceivepack = x\n", "remote.o.receivepack", 2},
	{"[remote \"o\"]\n\tvcs = x\n", "remote.o.vcs", 2},
	{"[remote \"o\"]\n\turl = ext::sh -c x\n", "remote.o.url", 2},
	{"[remote \"o\"]\n\tproxy = http://p\n", "remote.o.proxy", 2},
	{"[protocol]\n\tversion = 2\n", "", 0},
	{"[protocol]\n\tallow = never\n", "", 0},
	{"[protocol]\n\tallow = user\n", "protocol.allow", 2},
	{"[protocol \"ext\"]\n\tallow = user\n", "protocol.ext.allow", 2},
	{"[protocol \"file\"]\n\tallow = always\n", "protocol.file.allow", 2},
	{"[protocol \"file\"]\n\tallow = user\n", "", 0},
	{"[protocol \"https\"]\n\tallow = always\n", "", 0},
	{"[url \"ext::sh -c x\"]\n\tinsteadOf = https://\n",
		"url.ext::sh -c x.insteadof", 2},
	{"[url \"git@h:\"]\n\tinsteadOf = https://h/\n", "url.git@h:.insteadof", 2},
	{"[submodule \"x\"]\n\tupdate = !x\n", "submodule.x.update", 2},
	{"[submodule \"x\"]\n\tupdate = rebase\n", "", 0},
	{"[trailer \"x\"]\n\tcmd = x\n", "trailer.x.cmd", 2},
	{"[trailer \"x\"]\n\tifexists = add\n", "", 0},
	{"[browser \"x\"]\n\tcmd = x\n", "browser.x.cmd", 2},
	{"[man \"x\"]\n\tpath = x\n", "man.x.path", 2},
	{"[guitool \"x\"]\n\tcmd = x\n", "guitool.x.cmd", 2},
	{"[init]\n\ttemplateDir = x\n", "init.templatedir", 2},
	{"[init]\n\tdefaultBranch = main\n", "", 0},
	{"[sendemail]\n\tsendmailCmd = x\n", "sendemail.sendmailcmd", 2},
	{"[sendemail \"x\"]\n\ttoCmd = x\n", "sendemail.x.tocmd", 2},
	{"[sendemail]\n\tsmtpServer = h.x\n", "sendemail.smtpserver", 2},
	{"[sendemail]\n\tsmtpServer = /x\n", "sendemail.smtpserver", 2},
	{"[hook \"x\"]\n\tcommand = x\n", "hook.x.command", 2},
	{"[tar \"x\"]\n\tcommand = x\n", "tar.x.command", 2},
	{"[imap]\n\ttunnel = x\n", "imap.tunnel", 2},
	{"[gc]\n\trecentObjectsHook = x\n", "gc.recentobjectshook", 2},
	{"[lfs \"customtransfer.x\"]\n\tpath = x\n", "lfs.customtransfer.x.path", 2},
	{"[core\n", BAD, 1},
	{"[core] pager\n[x", "core.pager", 1},
	{"[user]\n\tname = \"x\n", BAD, 2},
	{"[user]\n\tname = x\\y\n", BAD, 2},
	{"[user]\n\tna_me = x\n", BAD, 2},
	{"[user]\n\t1 = x\n", BAD, 2},
	{"[us er]\n", BAD, 1},
	{"[user \"x\" ]\n", BAD, 1},
	{"[\"user\"]\n", BAD, 1},
	{"0123456789abcdef0123456789abcdef01234567\n", BAD, 1},
	{"\xef\xbb[core]\n", BAD, 1},
};

enum { CASES = sizeof(cases) / sizeof(cases[0]) };

static bool may_replace(const char *text, size_t len, const char *before,
	struct aw_gitconfig_finding *ret)
{
	size_t before_len = before ? strlen(before) : 0;
	char *scratch =
		malloc(AW_GITCONFIG_SCRATCH(len) + AW_GITCONFIG_SCRATCH(before_len));
	bool may = aw_gitconfig_may_replace(
		text, len, before, before_len, NULL, scratch, ret);

	free(scratch);
	return may;
}

static void each_alone(void)
{
	struct aw_gitconfig_finding f;

	for (size_t i = 0; i < CASES; i++) {
		/* exact, so that reading past it is noticed */
		size_t len = strlen(cases[i].text);
		char *text = malloc(len + !len);
		bool may;

		memcpy(text, cases[i].text, len);
		f = (struct aw_gitconfig_finding){.line = 0};
		may = may_replace(text, len, NULL, &f);
		ok(may == !cases[i].what[0] && strcasecmp(f.what, cases[i].what) == 0 &&
				f.line == cases[i].line,
			"text %zu: %s", i,
			cases[i].what[0] ? cases[i].what : "runs nothing");
		if (may == !!cases[i].what[0] || strcasecmp(f.what, cases[i].what) != 0)
			note("found '%s' in line %u of: %s", f.what, f.line,
				cases[i].text);
		free(text);
	}
}

static const struct {
	const char *before, *after, *what, *sentence;
} changes[] = {
	{"[core]\npager = less\n", "[core]\npager = less\n[user]\nname = x\n", "",
		"a key that was there may stay"},
	{"[core]\npager = less\n", "[core]\npager = more\n", "core.pager",
		"with another value it may not"},
	{"[core]\npager = less\n", "[CORE]\n\tPager = \"less\"\n", "",
		"written in another way it is the same"},
	{"[core]\npager = less\n", "[user]\nname = x\n", "", "it may go"},
	{"[core]\npager = a\neditor = b\n", "[core]\neditor = b\npager = a\n", "",
		"the order may change"},
	{"[credential]\nhelper = a\n", "[credential]\nhelper = a\nhelper = b\n",
		"credential.helper", "a second value is new"},
	{"[filter \"a\"]\nclean = x\n", "[filter \"A\"]\nclean = x\n", "filter.A.clean",
		"the name between counts with its case"},
	{"[core]\npager\n", "[core]\npager =\n", "core.pager",
		"no value and an empty one are two"},
	{"[core]\npager = x\n[bad", "[core]\npager = x\n", "",
		"what stood before a mistake was there"},
	{"[bad\npager = x\n", "[core]\npager = x\n", "core.pager",
		"what stood behind one was not"},
	{NULL, "[core]\npager = x\n", "core.pager", "nothing there, nothing kept"},
};

static void each_change(void)
{
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		struct aw_gitconfig_finding f = {.line = 0};
		bool may = may_replace(changes[i].after, strlen(changes[i].after),
			changes[i].before, &f);

		ok(may == !changes[i].what[0] &&
				strcasecmp(f.what, changes[i].what) == 0,
			"%s", changes[i].sentence);
	}
}

static void what_is_too_much(void)
{
	static char big[AW_GITCONFIG_MAX + 2];
	static const char nul[] = "[core]\npager = x\0y\n";
	struct aw_gitconfig_finding f;
	size_t n = 0;

	memset(big, '\n', sizeof(big));
	ok(!may_replace(big, AW_GITCONFIG_MAX + 1, NULL, &f) &&
			strcmp(f.what, "larger than 1 MiB") == 0,
		"more than 1 MiB is refused unread");
	ok(may_replace(big, AW_GITCONFIG_MAX, NULL, &f), "1 MiB is read");
	for (int i = 0; i < 201; i++)
		n += (size_t)sprintf(big + n, "[filter \"%d\"]\nclean=x\n", i);
	ok(!may_replace(big, n, big, &f) && strstr(f.what, "too many"),
		"so are more than 200 keys that run programs");
	ok(!may_replace(nul, sizeof(nul) - 1, NULL, &f) && strcmp(f.what, BAD) == 0,
		"a NUL is in no configuration");
	ok(aw_gitconfig_includes("include.path", 12) &&
			aw_gitconfig_includes("includeif.a.b.path", 18) &&
			!aw_gitconfig_includes("include.x.path", 14) &&
			!aw_gitconfig_includes("includeif.path", 14),
		"what brings in another file is known");
}

static bool only_below_home(void *ctx, const char *path, size_t len)
{
	return !ctx && len >= 2 && memcmp(path, "/h", 2) == 0;
}

static void where_git_writes(void)
{
	static const struct {
		const char *file, *worktree;
		bool strays;
	} ways[] = {{"/w/.git/config", "..", false},
		{"/w/.git/config", "../sub", false},
		{"/w/.git/config", "/w/sub", false}, {"/w/.git/config", "../..", true},
		{"/w/.git/config", "../../wider", true},
		{"/w/.git/config", "/h", false}, {"/w/.git/config", "/etc", true},
		{"/w/.git/modules/a/b/config", "../../../../a/b", false},
		{"/w/.git/modules/a/config", "../../../../etc", true},
		{"/w/bare.git/config", "../files", false},
		{"/w/bare.git/config", "../../etc", true},
		{"/state/snapshot/config", "/h/x", false}};

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		const struct aw_gitconfig_place place = {
			ways[i].file, only_below_home, NULL};

		ok(aw_gitconfig_strays(&place, ways[i].worktree) == ways[i].strays,
			"a work tree at %s in %s %s", ways[i].worktree, ways[i].file,
			ways[i].strays ? "is outside" : "is no way out");
	}
}

/* What git says of a file: "key\nvalue" or "key", each with a NUL behind it. */
static size_t ask_git(const char *file, char *to, size_t size, bool *ret_good)
{
	char command[256];
	size_t n = 0;
	FILE *out;

	snprintf(command, sizeof(command),
		"git config --no-includes --list -z -f '%s' 2>/dev/null", file);
	out = popen(command, "r");
	if (out)
		n = fread(to, 1, size, out);
	*ret_good = out && pclose(out) == 0;
	return n;
}

static size_t say_ourselves(
	const char *text, size_t len, char *to, size_t size, bool *ret_good)
{
	char *scratch = malloc(AW_GITCONFIG_SCRATCH(len));
	struct aw_gitconfig c;
	size_t n = 0;
	int more;

	aw_gitconfig_open(&c, text, len, scratch);
	while ((more = aw_gitconfig_next(&c)) == 1)
		n += (size_t)snprintf(to + n, size - n, "%s%s%s", c.name,
			     c.has_value ? "\n" : "", c.has_value ? c.value : "") +
		     1;
	*ret_good = more == 0;
	free(scratch);
	return n;
}

/* Newer versions keep tabs in the midst of a value as they are. */
static void level(char *text, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (text[i] == '\t' || text[i] == '\r')
			text[i] = ' ';
}

static unsigned roll(unsigned below)
{
	static unsigned state = 20240607;

	state = state * 1103515245 + 12345;
	return (state >> 16) % below;
}

static size_t make_up(char *to)
{
	static const char *const pieces[] = {"[core]\n", "[a \"b\"]\n", "[a.B]", "[x",
		"[a \"\\\"c\\\\\"]\n", "key = ", "Key=", "other", " = ", "value", "a b",
		"\"", "\"q ; r\"", "\\\n", "\\\\", "\\n", "\\t", "\\q", ";", "#c", "\n",
		"\n", "\n", "\r\n", "\r", "\t", " ", "]", "=", "-", "0", ".", "\\\"",
		"\xc3\xa4", "k1 = v\n", "\n[s]\n", "yes = \"a\\\nb\"\n"};
	size_t n = 0;

	for (unsigned i = roll(14) + 1; i; i--) {
		const char *piece = pieces[roll(sizeof(pieces) / sizeof(pieces[0]))];

		memcpy(to + n, piece, strlen(piece));
		n += strlen(piece);
	}
	return n;
}

static bool agrees(const char *file, const char *text, size_t len)
{
	static char git[65536], own[65536];
	bool git_good, own_good;
	size_t git_len, own_len;
	FILE *out = fopen(file, "wb");

	if (!out)
		return false;
	fwrite(text, 1, len, out);
	fclose(out);
	git_len = ask_git(file, git, sizeof(git), &git_good);
	own_len = say_ourselves(text, len, own, sizeof(own), &own_good);
	level(git, git_len);
	level(own, own_len);
	if (git_good == own_good && git_len == own_len && !memcmp(git, own, own_len))
		return true;
	note("git %s, %zu bytes: %.200s", git_good ? "reads" : "refuses", git_len, git);
	note("we %s, %zu bytes: %.200s", own_good ? "read" : "refuse", own_len, own);
	note("text: %.*s", (int)len, text);
	return false;
}

static void git_agrees(void)
{
	char file[] = "/tmp/aw-gitconfig.XXXXXX", text[1024];
	unsigned wrong = 0;
	int fd;

	if (system("git --version >/dev/null 2>&1") != 0) {
		ok(true, "git reads the same # SKIP no git");
		return;
	}
	fd = mkstemp(file);
	close(fd);
	for (size_t i = 0; i < CASES; i++)
		wrong += !agrees(file, cases[i].text, strlen(cases[i].text));
	for (int i = 0; i < 150; i++)
		wrong += !agrees(file, text, make_up(text));
	unlink(file);
	ok(!wrong, "git reads the same in each of these texts and in 150 random ones");
}

int main(void)
{
	each_alone();
	each_change();
	what_is_too_much();
	where_git_writes();
	git_agrees();
	return done();
}
