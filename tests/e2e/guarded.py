# SPDX-License-Identifier: Apache-2.0
"""guarded.py: ways to make another file be what a guarded name means, and names that may be made.

Runs in a folder that test_guarded.sh has made, with HOME in it; prints TAP lines without numbers.
"""
import ctypes
import errno
import os

libc = ctypes.CDLL(None, use_errno=True)
HOME = os.environ["HOME"]


def say(good, sentence, more=""):
    print(("ok - " if good else "not ok - ") + sentence + (f" ({more})" if more and not good else ""), flush=True)


def exchange(old, new):
    if libc.renameat2(-100, old.encode(), -100, new.encode(), 2) < 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def hard_link(old, new):
    os.link(old, new, follow_symlinks=False)


def result(function, *args):
    try:
        function(*args)
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]


def put(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write("mine\n")


def refused(sentence, guarded, *steps):
    """The steps of which the last must fail; what is guarded must not be there by that name."""
    for step in steps[:-1]:
        step[0](*step[1:])
    ended = result(*steps[-1])
    say(ended == "EACCES" and not os.path.exists(guarded), sentence, ended)


def allowed(sentence, *steps):
    ended = [result(*step) for step in steps]
    say(set(ended) == {"ok"}, sentence, " ".join(ended))


put("x/settings.json")
put("x/tasks.json")
put("x/hooks/pre-commit")
put("x/fish/config.fish")
os.makedirs("below/.vscode2")
os.symlink("x", "plain")

refused("a link at a missing folder with a guarded file", ".claude/settings.json", (os.symlink, "x", ".claude"))
refused("with an absolute text", ".claude/settings.json", (os.symlink, os.path.abspath("x"), ".claude"))
refused("below another folder", "below/.vscode/tasks.json", (os.symlink, "../x", "below/.vscode"))
refused("to a folder that is not there yet", ".gemini/settings.json", (os.symlink, "later", ".gemini"))
refused("in a repository", "sub.git/hooks/pre-commit", (os.symlink, "x", "sub.git"))
refused("in the home folder, where a rule names it", HOME + "/.config/fish/config.fish",
        (os.symlink, os.path.abspath("x"), HOME + "/.config"))
refused("to a folder that the session may not change, with a part that it may",
        "below/.claude/settings.json", (os.symlink, "/", "below/.claude"))
refused("a link that is renamed there", ".claude/settings.json", (os.rename, "plain", ".claude"))
refused("or exchanged for a folder there", "below/.cursor/mcp.json", (os.mkdir, "below/.cursor"),
        (put, "below/x/mcp.json"), (os.symlink, "x", "below/other"), (exchange, "below/other", "below/.cursor"))
refused("or exchanged for it, the other way", "below/.cursor/mcp.json", (exchange, "below/.cursor", "below/other"))
refused("or has a second name there", ".claude/settings.json", (hard_link, "plain", ".claude"))
refused("a link to a link", ".claude/settings.json", (os.symlink, "plain", ".claude"))
refused("a folder that is renamed there", ".claude/settings.json", (os.rename, "x", ".claude"))

allowed("a link beside them", (os.symlink, "x", ".claude2"), (os.rename, ".claude2", ".claude3"))
allowed("a link to a folder of the same name", (os.mkdir, "real"), (os.mkdir, "real/.claude"),
        (os.symlink, "real/.claude", ".claude"), (os.unlink, ".claude"))
allowed("a link to what is guarded as well", (os.symlink, "../real/.claude", "below/.claude"))
allowed("the folder itself, and a file in it that is not guarded", (os.mkdir, ".claude"), (put, ".claude/notes"))
allowed("a link to system files, where a pattern of the policy is about the folder", (os.symlink, "/usr/bin/env", "patterned/env"))
allowed("a link with a text that is no path", (os.symlink, "ann@host.123:456", ".#file"))
refused("but not to other files that may be changed", "patterned/sub/secret.env",
        (put, "x/secret.env"), (os.symlink, HOME, "patterned/sub"))

refused("a folder into the place of an exception", "open/vault/pattern.env", (os.rename, "vault", "open/vault"))
refused("or exchanged for one there", "open/other/pattern.env", (os.mkdir, "open/other"), (exchange, "vault", "open/other"))
refused("or the other way", "open/other/pattern.env", (exchange, "open/other", "vault"))
refused("a folder out of it, with what could not be made outside", "mine/pattern.env",
        (put, "open/mine/pattern.env"), (os.rename, "open/mine", "mine"))
allowed("a folder within it", (os.rename, "open/inside", "open/mine/inside"), (os.rename, "open/mine", "open/again"))
allowed("and what is in it is read", (open, "open/again/inside/pattern.env"))
allowed("folders and files outside of it", (os.makedirs, "apart/sub"), (os.rename, "apart", "away"),
        (put, "away/file"), (os.rename, "away/file", "open/file"))

refused("the folder of a program that may not be run", "moved/evil", (os.rename, "bin", "moved"))
refused("or exchanged for another one", "empty/evil", (os.mkdir, "empty"), (exchange, "bin", "empty"))
refused("or the other way", "empty/evil", (exchange, "empty", "bin"))
refused("the program itself", "evil2", (os.rename, "bin/evil", "evil2"))
refused("exchanged for another one", "bin/evil2", (put, "bin/plain"), (exchange, "bin/plain", "bin/evil"))
refused("or a second name for it", "evil2", (hard_link, "bin/evil", "evil2"))
refused("a folder that may have it, to where an exception allows it", "tools/open/a/evil", (os.rename, "tools/a", "tools/open/a"))
refused("or away from the pattern", "a/evil", (os.rename, "tools/a", "a"))
allowed("folders within the pattern, and programs beside it", (os.rename, "tools/a", "tools/b"),
        (os.rename, "bin/fine", "fine"), (os.link, "fine", "bin/fine"), (os.rename, "empty", "bin/empty"))
say(result(os.execv, "tools/b/evil", ["evil"]) == "EACCES", "where it is denied as before")
