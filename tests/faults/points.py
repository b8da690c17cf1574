# SPDX-License-Identifier: Apache-2.0
"""points.py: a run is killed, or runs short of something, at each of its system calls in turn."""
import functools
import json
import re
import subprocess

import table
from session import KILLPOINT, NOMEM, WORKED, Session

KINDS = [("audit", "preload", "exec"), ("enforce", "hybrid", "landlock"), table.BWRAP[1]]
SHORTAGES = ("memory", "descriptors", "threads", "disk")
KILL = "9"
FEW = 200  # points that are taken eight times as often
FEW_AT_END = 12  # points in a row that a run does not get to: runs differ in length


def at_point(kind, who, what, point):
    """One run in which who is killed, or runs short, at that point; None: it does not get so far."""
    session = Session(kind, 15)
    session.may_leave = {"socket", "file"}
    session.wrap = [KILLPOINT, who, str(point), what, "10"]
    try:
        session.errors = open(session.path("err"), "w+", encoding="utf-8")
        out = subprocess.run(session.argv(), env=session.environment, stdin=subprocess.DEVNULL, cwd=session.data,
                             stdout=subprocess.PIPE, stderr=session.errors, check=True)
        told = json.loads(out.stdout)
        session.status, session.hung = told["status"], told["hung"]
        if what == KILL:
            return told, after_kill(session, told, who)
        return told, after_shortage(session, told, who)
    finally:
        session.end()


def at_allocation(kind, many, point):
    """One run in which front and service get no memory from that allocation on, or for that one alone."""
    session = Session(kind, 15)
    session.may_leave = {"file"}
    count = session.path("count")
    with open(count, "wb") as file:
        file.write(bytes(8))
    session.environment.update(LD_PRELOAD=NOMEM, NOMEM=f"{point}:{many}:{count}")
    try:
        session.start(once=True)
        session.wait(10)
        with open(count, "rb") as file:
            stops = int.from_bytes(file.read(), "little")
        said = session.said()
        # the C library ends the program itself in some places
        crashed = (session.status or 0) < 0 and "Assertion" not in said and "Unexpected error" not in said
        told = {"stops": stops, "fired": 0 < point <= stops, "call": "malloc",
                "crashed": "front" if crashed else "service" if "the supervisor was killed" in said else ""}
        return told, after_shortage(session, told, "front")
    finally:
        session.end()


def after_kill(session, told, who):
    session.may_fail = who in ("child", "grandchild")
    problems = session.problems(complete=who != "service")
    report = session.report()
    if told["fired"] and session.mode == "audit" and who == "service" and session.status != WORKED:
        if report and not report["finished"]:
            problems.append(f"the command was begun and not let come to its end, status {session.status}")
        if report.get("finished"):
            problems.append(f"status {session.status} of a command that ended with {WORKED}")
    return problems


def after_shortage(session, told, who):
    session.may_fail = who not in ("front", "service")
    problems = session.problems(complete=False)
    report = session.report()
    if told["crashed"] in ("front", "service"):
        problems.append(f"{told['crashed']} crashed")
    if who in ("front", "service") and session.mode == "audit" and report and \
            (not report["finished"] or session.status != WORKED):
        problems.append(f"the command was begun and not let come to its end, status {session.status}")
    if told["fired"] and who in ("front", "service") and not report and not session.said():
        problems.append(f"status {session.status} without a word")
    return problems


def sweep_all(output, asked):
    for kind in table.HYBRID + (KINDS if asked.everywhere else []):
        for who in ("front", "service", "command", "child", "grandchild"):
            for what in (KILL, *SHORTAGES):
                if (what == KILL and (who != "grandchild" or kind in KINDS)) or who in ("front", "service"):
                    sweep(output, asked, kind, f"{who}: " + what.replace(KILL, "SIGKILL"),
                          functools.partial(at_point, kind, who, what))
        for name, many in (("front and service: allocations", 0), ("front and service: one allocation", 1)):
            sweep(output, asked, kind, name, functools.partial(at_allocation, kind, many))


def sweep(output, asked, kind, name, run):
    if asked.only and not re.search(asked.only, name):
        return
    told, bad = run(0)
    tried, missed, stops = 0, 0, told["stops"]
    every = asked.points if stops > FEW else (asked.points + 7) // 8
    point = 1 + asked.offset % every
    while stops and missed < FEW_AT_END and point < stops * 2:
        one, problems = run(point)
        if problems:  # once more: others use this machine, too
            _, problems = run(point)
        tried += one["fired"]
        missed = 0 if one["fired"] else missed + 1
        stops = max(stops, point if one["fired"] else 0)
        bad += [f"at point {point} (system call {one['call']}): {p}" for p in problems]
        point += every
    output.tell("point", kind, name, f"{tried} of {stops}", bad, None if stops else "no such process")
