# SPDX-License-Identifier: Apache-2.0
"""page.py: docs/FAULTS.md, from what a run has come to."""
import json
import re

INTRO = """# Faults

What goes wrong, what was promised for it, and whether a run kept that. `make docs/FAULTS.md` writes this page from a run as
root. `tests/faults/table.py` and `at_start.py` have the faults, and `session.py` what must hold whatever happens: nothing
that was refused gets through, audit does not break a call, no process, socket or file is left, `seq` has no gaps, and what
was let go on is in the log. Where it cannot be seen otherwise that a fault has struck, the row has a proof, or has failed.

The sessions are mode, engine and runner; a dash is one in which the fault was not tried.
"""
PAIRS = """
## Two faults at once

Pairs of those above that can meet and are no faults of the start: how many were tried in each session, and how many kept the
promise of the graver one.
"""
POINTS = """
## At each system call

A run of 15 ms, once for each system call that one of its processes makes. SIGKILL comes before and behind the call. With *memory*,
*descriptors*, *threads* or *disk* there is none left from that call on, so all that ask for it fail (ENOMEM, EMFILE, EAGAIN,
ENOSPC); with *allocations* it is `malloc` that fails, in front and service together, from that one on or that one alone. The child is the
command's, or what a sandbox's program starts. Nothing may hang, crash or be left; what audit has begun comes to its end; what
is not begun is told why.

Cells have the points that struck, and how many the longest run had: runs differ in length, so the last ones are not met by each;
where far fewer struck each N-th was tried. A dash: not tried, or no such process. One point is not ours: without memory for its first look-up getpwuid(3) of glibc 2.36
crashes, before anything has begun.
"""


def order(values):
    return list(dict.fromkeys(values))


def table(out, head, rows):
    out.append("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head) + "\n")
    out.extend("| " + " | ".join(row) + " |\n" for row in rows)


def cell(rows):
    if not rows or rows[0][5]:
        return f"not tried: {rows[0][5]}" if rows else "–"
    kept = sum(not row[4] for row in rows)
    return f"{kept} of {len(rows)}" if len(rows) > 1 else "yes" if kept else "no"


def families(names):
    """Names at the start that differ in a number alone are one row."""
    found = {}
    for name in names:
        found.setdefault(re.sub(r"\d+", "N", name) if name.startswith("start:") else name, []).append(name)
    return found.values()


def name_of(family):
    numbers = [re.findall(r"\d+", name) for name in family]
    if len(family) == 1:
        return family[0]
    return re.sub(r"\d+", ", ".join(number[0] for number in numbers), family[0])


def promise_of(rows, mode):
    """The promises in this mode; engines that promise less are told."""
    found = {}
    for _, kind, _, promise, *_ in rows:
        if kind.startswith(mode) and promise:
            found.setdefault(promise, []).append(kind.split("/")[1])
    if not found:
        return "–"
    most = max(found, key=lambda promise: len(found[promise]))
    return "; ".join([most] + [f"{p} ({', '.join(order(e))})" for p, e in found.items() if p != most])


def faults(out, rows):
    kinds, names = order(r[1] for r in rows), order(r[2] for r in rows)
    lines = []
    for family in families(names):
        mine = [r for r in rows if r[2] in family]
        lines.append([name_of(family), promise_of(mine, "audit"), promise_of(mine, "enforce"),
                      *[cell([r for r in mine if r[1] == kind]) for kind in kinds]])
    table(out, ["fault", "promised in audit", "promised in enforce", *[kind.replace("/", " ") for kind in kinds]], lines)


def exceptions(out, rows):
    bad = [r for r in rows if r[4]]
    if bad:
        out.append("\nNot kept:\n\n")
    for _, kind, name, promise, problems, _ in bad:
        out.append(f"- {kind}: {name} ({promise}): {'; '.join(problems)}\n")


def pairs(out, rows, number):
    out.append(PAIRS)
    lines = []
    for kind in order(r[1] for r in rows):
        mine = [r for r in rows if r[1] == kind]
        lines.append([kind.replace("/", " "), f"{len(mine)} of {number}", str(sum(not r[4] for r in mine))])
    table(out, ["session", "pairs tried", "kept"], lines)


def points_cell(rows):
    """Of several runs with different points, all together."""
    if not rows:
        return "–"
    counts = [[int(word) for word in row[3].split(" of ")] for row in rows]
    tried, stops = sum(count[0] for count in counts), max(count[1] for count in counts)
    bad = sum(len(order(problem.split(":")[0] for problem in row[4])) for row in rows)
    return f"{tried} of {max(tried, stops)}" + (f", {bad} not kept" if bad else "")


def points(out, rows):
    out.append(POINTS)
    kinds, names = order(r[1] for r in rows), order(r[2] for r in rows)
    lines = []
    for name in names:
        line = [name]
        for kind in kinds:
            line.append(points_cell([r for r in rows if (r[1], r[2]) == (kind, name) and not r[5]]))
        if set(line[1:]) != {"–"}:
            lines.append(line)
    table(out, ["who: what", *[kind.replace("/", " ") for kind in kinds]], lines)


def write(path, rows, more):
    """rows, and those that earlier runs have left in the files of more."""
    rows = [list(row) for row in rows]
    for name in more:
        with open(name, encoding="utf-8") as file:
            rows += json.load(file)
    out = [INTRO]
    number = max((row[3] for row in rows if row[0] == "pairs"), default=0)
    # of one that was tried again the last time counts
    rows = list({tuple(row[:3]) if row[0] in ("fault", "pair") else id(row): row for row in rows}.values())
    for sort, section in (("fault", faults), ("pair", lambda o, r: pairs(o, r, number)), ("point", points)):
        mine = [row for row in rows if row[0] == sort]
        if mine:
            section(out, mine)
            exceptions(out, mine)
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(out))
