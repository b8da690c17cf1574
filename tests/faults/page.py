# SPDX-License-Identifier: Apache-2.0
"""page.py: docs/FAULTS.md, from what a run has come to."""
import json

INTRO = """# Faults

What goes wrong, what was promised for it, and whether a run kept that. `make docs/FAULTS.md` writes this page from a
run as root. `tests/faults/table.py` and `at_start.py` have the faults, and `session.py` what must hold whatever
happens: nothing that was refused gets through, audit does not break a call, no process, socket or file is left, `seq` has no
gaps, and what was let go on is in the log. A fault must be seen to have struck, else its row has failed.

The sessions are mode, engine and runner; a dash is one in which the fault was not tried.
"""
PAIRS = """
## Two faults at once

Pairs of those above that can meet: how many were tried in each session, and how many kept the promise of the graver one.
"""
POINTS = """
## At each system call

A run of 15 ms, once for each system call that one of its processes makes. SIGKILL comes before and behind the call. With *memory*, *descriptors*,
*threads* or *disk* there is none left from that call on, so all that ask for it fail (ENOMEM, EMFILE, EAGAIN, ENOSPC); with
*allocations* it is `malloc` that fails, in front and service together, from that one on or that one alone. The child is the command's, or what a wall's
program starts. Nothing may hang, crash or be left; what audit has begun comes to its end; what is not begun is told why.

Runs differ in length, so the last points are not met by each.
"""


def order(values):
    return list(dict.fromkeys(values))


def table(out, head, rows):
    out.append("\n| " + " | ".join(head) + " |\n|" + "---|" * len(head) + "\n")
    out.extend("| " + " | ".join(row) + " |\n" for row in rows)


def cell(row):
    if not row:
        return "–"
    problems, skipped = row[4], row[5]
    return f"not tried: {skipped}" if skipped else "no" if problems else "yes"


def promise_of(by_kind, mode):
    """The promises in this mode; engines that promise less are told."""
    found = {}
    for kind, row in by_kind.items():
        if kind.startswith(mode) and row[3]:
            found.setdefault(row[3], []).append(kind.split("/")[1])
    if not found:
        return "–"
    most = max(found, key=lambda promise: len(found[promise]))
    return "; ".join([most] + [f"{p} ({', '.join(order(e))})" for p, e in found.items() if p != most])


def faults(out, rows):
    kinds, names = order(r[1] for r in rows), order(r[2] for r in rows)
    lines = []
    for name in names:
        by_kind = {r[1]: r for r in rows if r[2] == name}
        lines.append([name, promise_of(by_kind, "audit"), promise_of(by_kind, "enforce"),
                      *[cell(by_kind.get(kind)) for kind in kinds]])
    table(out, ["fault", "promised in audit", "promised in enforce", *[kind.replace("/", " ") for kind in kinds]], lines)


def exceptions(out, rows):
    bad = [r for r in rows if r[4]]
    if bad:
        out.append("\nNot kept:\n\n")
    for _, kind, name, promise, problems, _ in bad:
        out.append(f"- {kind}: {name} ({promise}): {'; '.join(problems)}\n")


def pairs(out, rows, number):
    out.append(PAIRS + f"\n{len(rows)} of {number} pairs and sessions were tried.\n")
    lines = []
    for kind in order(r[1] for r in rows):
        mine = [r for r in rows if r[1] == kind]
        lines.append([kind.replace("/", " "), str(len(mine)), str(sum(not r[4] for r in mine))])
    table(out, ["session", "pairs", "kept"], lines)


def points(out, rows):
    out.append(POINTS)
    kinds, names = order(r[1] for r in rows), order(r[2] for r in rows)
    lines = []
    for name in names:
        line = [name]
        for kind in kinds:
            row = [r for r in rows if (r[1], r[2]) == (kind, name)]
            told = row and not row[0][5]
            bad = len(order(p.split(":")[0] for p in row[0][4])) if told else 0
            line.append((row[0][3] + (f", {bad} not kept" if bad else "")) if told else "–")
        lines.append(line)
    table(out, ["who: what", *[kind.replace("/", " ") for kind in kinds]], lines)


def write(path, rows, more):
    """rows, and those that earlier runs have left in the files of more."""
    rows = [list(row) for row in rows]
    for name in more:
        with open(name, encoding="utf-8") as file:
            rows += json.load(file)
    out = [INTRO]
    number = sum(row[3] for row in rows if row[0] == "pairs")
    for sort, section in (("fault", faults), ("pair", lambda o, r: pairs(o, r, number)), ("point", points)):
        mine = [row for row in rows if row[0] == sort]
        if mine:
            section(out, mine)
            exceptions(out, mine)
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join(out))
