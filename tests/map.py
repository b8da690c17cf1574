#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""map.py [ROOT] - print tests/README.md: which test covers which directory of the sources.

A unit test, a fuzzer or a test of the log covers the directories whose headers it includes.  An
end-to-end test runs the whole program; its own first sentence says what it is about.  The sentence
of every test is the one in its head comment.
"""
import glob
import os
import re
import sys

INCLUDE = re.compile(r'^#include "((?:policy|preload|supervisor)(?:/[^"/]+)*)/[^"/]+\.h"', re.M)
HELPER = re.compile(r'^#include "(tests/[^"]+\.h)"', re.M)
WIDTH = 100
HEAD = """# Tests: which one covers what

Made by `make tests/README.md` from the head comments and the includes of the tests; do not edit.

| run | command |
|---|---|
| everything that can run here | `make check` |
| all unit tests and the fuzzers' corpus | `make unit` |
| one unit test | `make build/tests/unit/test_ring && build/tests/unit/test_ring` |
| one end-to-end test | `tests/e2e/test_run.sh` |
| all escape attempts | `make escapes` |
"""


def sentence(path):
    """The first sentence of a head comment, without the file's name."""
    with open(path, encoding="utf-8") as file:
        text = "".join(next(file, "") for _ in range(8))
    name = re.escape(os.path.basename(path))
    match = re.search(name + r" - (.*?)(?:\.\s|\.?\s*\*/|\n[ *#]*\n|\Z)", text, re.S)
    if not match:
        sys.exit(f"{path}: no sentence in its head comment")
    return re.sub(r"\s+[*#]*\s*", " ", match.group(1)).strip().rstrip(".")


def wrap(words, indent):
    """Words as lines of a list item."""
    lines, line = [], indent
    for word in words.split(" "):
        if len(line) + len(word) + 1 > WIDTH and line.strip(" -"):
            lines.append(line.rstrip())
            line = " " * len(indent)
        line += word + " "
    return lines + [line.rstrip()]


def item(path):
    name = os.path.splitext(os.path.basename(path))[0]
    return wrap(f"`{name}`: {sentence(path)}.", "- ")


def covered():
    """Directory of sources -> tests that include its headers."""
    found = {}
    for path in sorted(glob.glob("tests/unit/test_*.c") + glob.glob("tests/audit/test_*.c") + glob.glob("tests/fuzz/fuzz_*.c")):
        for directory in included(path):
            found.setdefault(directory, []).append(path)
    return found


def included(path):
    """Directories of the headers that a file includes, itself or by a helper in tests/."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    return set(INCLUDE.findall(text)).union(*(included(helper) for helper in HELPER.findall(text)))


def page():
    lines = HEAD.splitlines()
    lines += ["", "## Directories and the tests that include their headers", ""]
    found = covered()
    for directory in sorted(set(os.path.dirname(f) for d in ("policy", "preload", "supervisor") for f in
                                glob.glob(f"{d}/**/*.c", recursive=True))):
        names = [f"`{os.path.splitext(os.path.basename(path))[0]}`" for path in found.get(directory, [])]
        lines += wrap(f"`{directory}/`: {', '.join(names) or 'end-to-end tests only'}", "- ")
    for title, pattern in (("Unit tests", "tests/unit/test_*.c"), ("Tests of the log and of sessions", "tests/audit/test_*.c"),
                           ("Fuzzers", "tests/fuzz/fuzz_*.c"), ("End-to-end tests", "tests/e2e/test_*.sh")):
        lines += ["", f"## {title}", ""]
        for path in sorted(glob.glob(pattern)):
            lines += item(path)
    return "\n".join(lines) + "\n"


os.chdir(sys.argv[1] if len(sys.argv) > 1 else ".")
sys.stdout.write(page())
