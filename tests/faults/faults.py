#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""faults.py [--only REGEX] [--pairs] [--points N] [--page]: breaks a session in every way there is.

Each fault of table.py alone; with --pairs each two of them; with --points N the front, the
service and the command killed at each N-th of their system calls.  Prints TAP, or with --page
the page docs/FAULTS.md, in which a fault without a blemish has its promise.
"""
import argparse
import json
import os
import re
import shutil
import subprocess
import sys

import table
from session import KILLPOINT, WORKED, Session

KINDS = [("audit", "hybrid", "exec"), ("enforce", "hybrid", "exec")]
MORE_KINDS = [("audit", "kernel", "exec"), ("audit", "preload", "exec"), ("enforce", "kernel", "exec"),
              ("enforce", "hybrid", "landlock")]


def judge(session, faults):
    """What happened, against what was promised; an empty list is good."""
    # which of two signals comes first is not ours to say
    signals = sum("front: SIG" in f.name or f.name == "service: SIGKILL" for f in faults)
    promise = table.ENDS if signals > 1 else max((f.promise[session.mode] for f in faults), key=table.ORDER.index)
    loses = any(f.loses if isinstance(f.loses, bool) else session.mode in f.loses for f in faults)
    problems = session.problems(complete=not loses)
    status, finished = session.status, session.report().get("finished")
    if promise in (table.GOES_ON, table.LOGS_LESS) and not finished:
        problems.append("the command did not come to its end")
    if promise == table.STOPPED and finished:
        problems.append("the command came to its end")
    if len(faults) == 1:
        want = faults[0].status or {}
        want = want.get(session.mode, WORKED if promise in (table.GOES_ON, table.LOGS_LESS) else None)
        if want is not None and status != want:
            problems.append(f"status {status} instead of {want}")
        says = (faults[0].says or {}).get(session.mode)
        if says and says not in session.said():
            problems.append(f"it does not say '{says}' but '{session.said().strip()[-200:]}'")
    if promise == table.STOPPED and status == 0:
        problems.append("status 0")
    return promise, problems


def inject(faults, kind, milliseconds):
    session = Session(kind, milliseconds)
    try:
        for fault in faults:
            session.may_leave |= fault.leaves
            session.may_fail |= fault.fails
            if fault.before:
                fault.before(session)
        started = session.start()
        for fault in faults:
            if fault.during and started:
                try:
                    fault.during(session)
                except (OSError, subprocess.CalledProcessError):
                    pass  # it has ended by an earlier one
        session.wait(40 if any(f.slow for f in faults) else 15)
        if not started and session.status == WORKED and any(f.during for f in faults):
            return "", ["the run ended before anything could be done to it"]
        promise, problems = judge(session, faults)
        if problems and os.environ.get("FAULTS_VERBOSE"):
            problems.append("said: " + session.said().strip()[-300:])
        return promise, problems
    finally:
        if hasattr(session, "unmount"):
            subprocess.run(["umount", "-l", session.unmount], check=False)
        session.end()


def usable(fault):
    if fault.root and os.geteuid() != 0:
        return "needs root"
    if "clock" in fault.name and not os.path.exists(table.FAKETIME):
        return "libfaketime is not there"
    if "bwrap" in fault.name and not shutil.which("bwrap"):
        return "bwrap is not there"
    return None


class Output:
    """TAP as it goes, and rows for the page."""

    def __init__(self):
        self.count = self.failed = 0
        self.rows = []

    def tell(self, kind, name, promise, problems, skipped=None):
        self.count += 1
        where = "/".join(kind)
        if skipped:
            print(f"ok {self.count} - {where}: {name} # SKIP {skipped}", flush=True)
        else:
            word = "not ok" if problems else "ok"
            print(f"{word} {self.count} - {where}: {name}: {promise}", flush=True)
            for problem in problems:
                print(f"# {problem}", flush=True)
        self.failed += bool(problems)
        self.rows.append((kind, name, promise, problems, skipped))


def singles(output, only, quick):
    for fault in table.FAULTS:
        if only and not re.search(only, fault.name):
            continue
        reason = usable(fault)
        kinds = fault.kinds or KINDS + ([] if quick or fault.slow else MORE_KINDS)
        for kind in kinds:
            if reason:
                output.tell(kind, fault.name, "", [], reason)
                continue
            output.tell(kind, fault.name, *inject([fault], kind, 400))


def pairs(output, only, every):
    able = [f for f in table.FAULTS if not (usable(f) or f.kinds or f.slow or f.alone or f.name == "nothing")]
    number = 0
    for i, first in enumerate(able):
        for second in able[i + 1:]:
            name = f"{first.name} + {second.name}"
            number += 1
            if (only and not re.search(only, name)) or number % every or \
                    (first.before and second.before and "log" in first.name and "log" in second.name):
                continue
            kind = KINDS[number // every % 2]
            output.tell(kind, name, *inject([first, second], kind, 900))


def at_point(kind, who, point):
    """One run in which who is killed at that point; None: it does not get so far."""
    session = Session(kind, 15)
    session.may_leave = {"socket", "file"}
    session.wrap = [KILLPOINT, who, str(point), "9", "10"]
    try:
        session.errors = open(session.path("err"), "w+", encoding="utf-8")
        out = subprocess.run(session.argv(), env=session.environment, stdin=subprocess.DEVNULL, cwd=session.data,
                             stdout=subprocess.PIPE, stderr=session.errors, check=True)
        told = json.loads(out.stdout)
        session.status, session.hung = told["status"], told["hung"]
        problems = session.problems(complete=who == "command")
        report = session.report()
        if told["fired"] and kind[0] == "audit" and who == "service" and report and not report["finished"] and \
                session.status != WORKED:
            problems.append(f"the command was begun and not let come to its end, status {session.status}")
        if told["fired"] and who == "service" and report.get("finished") and kind[0] == "audit" and \
                session.status != WORKED:
            problems.append(f"status {session.status} of a command that ended with {WORKED}")
        return told, problems
    finally:
        session.end()


def points(output, every):
    for kind in KINDS:
        for who in ("front", "service", "command"):
            told, problems = at_point(kind, who, 0)
            tried, bad = 0, problems
            for point in range(1, told["stops"] + 1, every):
                one, problems = at_point(kind, who, point)
                tried += one["fired"]
                bad += [f"at point {point} (system call {one['call']}): {p}" for p in problems]
            output.tell(kind, f"{who}: SIGKILL at {tried} of its {told['stops']} points",
                        "nothing hangs or is left", bad)


def page(output):
    print("# Faults\n\nWhat goes wrong, what was promised for it, and whether a run kept that. `make docs/FAULTS.md` "
          "writes this page from\na run as root: `tests/faults/table.py` has the faults, and `tests/faults/session.py` what "
          "must hold whatever happens: nothing that was\nrefused gets through, audit does not break a call, no process, "
          "socket or file is left, `seq` has no gaps, and what was let go on is in the log.\n")
    print("| fault | session | promised | kept |\n|---|---|---|---|")
    for kind, name, promise, problems, skipped in output.rows:
        kept = f"not tried: {skipped}" if skipped else "; ".join(problems) if problems else "yes"
        print(f"| {name} | {'/'.join(kind)} | {promise} | {kept} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only")
    parser.add_argument("--quick", action="store_true", help="the usual engines alone")
    parser.add_argument("--pairs", type=int, default=0, metavar="N", help="each N-th pair")
    parser.add_argument("--points", type=int, default=0, metavar="N", help="each N-th point")
    parser.add_argument("--page", metavar="FILE")
    asked = parser.parse_args()
    output = Output()
    singles(output, asked.only, asked.quick)
    if asked.pairs:
        pairs(output, asked.only, asked.pairs)
    if asked.points:
        points(output, asked.points)
    print(f"1..{output.count}")
    if asked.page:
        sys.stdout = open(asked.page, "w", encoding="utf-8")
        page(output)
    return 1 if output.failed else 0


if __name__ == "__main__":
    sys.exit(main())
