#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""faults.py: breaks a session in every way there is.

Each fault of table.py alone; with --pairs each two of them; with --points each process of a run
killed at its system calls, and left without memory, descriptors, threads and disk from one of
them on.  Prints TAP, and with --page the page docs/FAULTS.md.
"""
import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys

import page
import points
import table
from session import WORKED, Session

NOT_BEGUN = (125, 126, 127)  # status of a run or a command that could not be started

KINDS = table.HYBRID
MORE_KINDS = table.SESSIONS[len(KINDS):]


def judge(session, faults):
    """What happened, against what was promised; an empty list is good."""
    # which of two signals comes first is not ours to say
    signals = sum("front: SIG" in f.name or f.name == "service: SIGKILL" for f in faults)
    session.may_fail |= signals > 1  # nobody may be left who lets calls go on
    promise = table.ENDS if signals > 1 else max((f.promise[session.mode] for f in faults), key=table.ORDER.index)
    refused = session.status in NOT_BEGUN and not session.report()
    if promise == table.REFUSED or (promise == table.EITHER and refused):
        return promise, judge_refusal(session, faults[0], refused)
    loses = any(f.loses if isinstance(f.loses, bool) else {session.mode, session.engine} & f.loses for f in faults)
    promise = table.LOGS_LESS if loses and promise == table.GOES_ON and session.engine == "preload" else promise
    if promise == table.STOPPED and any("room again" in f.name for f in faults):
        loses |= "are not in the audit log" in session.said()  # it may be over before there is room
    problems = session.problems(complete=not loses)
    status, finished = session.status, session.report().get("finished")
    if promise in (table.GOES_ON, table.LOGS_LESS, table.EITHER) and not finished:
        problems.append("the command did not come to its end")
    if promise == table.STOPPED and finished:
        problems.append("the command came to its end")
    if len(faults) == 1:
        want = faults[0].status or {}
        want = want.get(session.mode, WORKED if finished and promise != table.ENDS else None)
        if want is not None and status != want:
            problems.append(f"status {status} instead of {want}")
        says = (faults[0].says or {}).get(session.mode)
        if says and says not in session.said():
            problems.append(f"it does not say '{says}' but '{session.said().strip()[-200:]}'")
        missed = faults[0].prove and faults[0].prove(session)
        if missed:
            problems.append(f"it did not strike: {missed}")
    if promise == table.STOPPED and status == 0:
        problems.append("status 0")
    return promise, problems


def judge_refusal(session, fault, refused):
    problems = session.problems(complete=False)
    said, says = session.said(), (fault.says or {}).get(session.mode, "agentwatch: ")
    if not refused:
        problems.append(f"status {session.status}, and the command was begun: {bool(session.report())}")
    if says not in said and "loading shared libraries" not in said:
        problems.append(f"it does not say '{says}' but '{said.strip()[-200:]}'")
    return problems


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
                except (OSError, subprocess.CalledProcessError) as error:
                    if len(faults) == 1:  # else it has ended by an earlier one
                        return "", [f"it could not be done: {error}"]
        session.wait(40 if any(f.slow for f in faults) else 15)
        if not started and session.status == WORKED and any(f.during for f in faults):
            return "", ["the run ended before anything could be done to it"]
        promise, problems = judge(session, faults)
        if problems and os.environ.get("FAULTS_VERBOSE"):
            problems.append("said: " + session.said().strip()[-300:])
        return promise, problems
    finally:
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

    def tell(self, sort, kind, name, promise, problems, skipped=None):
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
        self.rows.append((sort, where, name, promise, problems, skipped))


def singles(output, asked):
    for fault in table.FAULTS:
        if asked.only and not re.search(asked.only, fault.name):
            continue
        reason = usable(fault)
        few = asked.quick or fault.slow or (fault.name.startswith("start:") and not asked.everywhere)
        kinds = fault.kinds or KINDS + ([] if few else MORE_KINDS)
        for kind in kinds:
            if reason:
                output.tell("fault", kind, fault.name, "", [], reason)
                continue
            output.tell("fault", kind, fault.name, *inject([fault], kind, 400))


def pairs(output, asked):
    able = [f for f in table.FAULTS if not (usable(f) or f.kinds or f.slow or f.alone or f.name == "nothing")]
    number, kinds = 0, KINDS + (MORE_KINDS if asked.everywhere else [])
    for i, first in enumerate(able):
        for second in able[i + 1:]:
            name = f"{first.name} + {second.name}"
            if (asked.only and not re.search(asked.only, name)) or not can_meet(first, second):
                continue
            number += 1
            for k, kind in enumerate(kinds):
                if (number + k) % asked.pairs == asked.offset % asked.pairs:
                    output.tell("pair", kind, name, *inject([first, second], kind, 900))
    output.rows.append(("pairs", "", "", number, [], None))  # how many there are


def can_meet(first, second):
    """Not two places for one log, nor two homes for one process."""
    both = (first.before, second.before)
    return "group" not in first.name + second.name and \
        not (all(both) and "log" in first.name and "log" in second.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="REGEX")
    parser.add_argument("--quick", action="store_true", help="the usual engines alone")
    parser.add_argument("--everywhere", action="store_true", help="also where one engine tells as much as another")
    parser.add_argument("--no-singles", action="store_true", help="pairs and points alone")
    parser.add_argument("--pairs", type=int, default=0, metavar="N", help="each N-th pair")
    parser.add_argument("--points", type=int, default=0, metavar="N", help="each N-th point")
    parser.add_argument("--offset", type=int, default=0, metavar="K", help="of these not the first but the K-th next")
    parser.add_argument("--rows", metavar="FILE", help="keep what has come out, for --page")
    parser.add_argument("--page", metavar="FILE")
    parser.add_argument("--with-rows", nargs="*", default=[], metavar="FILE", help="for the page: of earlier runs")
    asked = parser.parse_args()
    # a shell that starts us in the background has these two ignored
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGQUIT, signal.SIG_DFL)
    output = Output()
    if not asked.no_singles:
        singles(output, asked)
    if asked.pairs:
        pairs(output, asked)
    if asked.points:
        points.sweep_all(output, asked)
    print(f"1..{output.count}")
    if asked.rows:
        with open(asked.rows, "w", encoding="utf-8") as file:
            json.dump(output.rows, file)
    if asked.page:
        page.write(asked.page, output.rows, asked.with_rows)
    return 1 if output.failed else 0


if __name__ == "__main__":
    sys.exit(main())
