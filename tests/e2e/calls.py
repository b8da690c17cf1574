#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""calls.py - what test_calls.sh asks the probes, and judges their answers by.

  calls.py plan LIST ROOT CASE...          input for `probe --batch`, a line a call and case
  calls.py judge LIST ROOT LOG BARE WATCHED CASE...
  calls.py covered CALLS.DEF LIST...       every row of the table has a probe

CASE is allowed, denied or hidden: the folders below ROOT that the policy speaks of.
Prints `ok - sentence` and `not ok - sentence`; the caller numbers them.
"""
import json
import os
import re
import sys

NETWORK = {"connect", "bind", "send"}
CHANGES = {"write", "create", "delete", "rename"}
INET = {"allowed": "127.1.%d.%d", "denied": "127.2.%d.%d"}
HOST = {"allowed": "localhost", "denied": "denied.test"}

# Its own folder is /tmp whatever we say; test_calls.sh has a case of its own.
NO_SUBJECT = {"none"}


def rows(path):
    return [line.split() for line in open(path)]


def folder(case, action, kind):
    if case != "denied":
        return case
    if kind == "dgram" or kind == "stream" or action in CHANGES or action == "bind":
        return "readonly"
    return "denied"


def subject(root, case, index, call, kind, action):
    """The subject of one call, or None where the case says nothing about it."""
    if kind in NO_SUBJECT:
        return None
    if case == "hidden":
        return f"{root}/hidden/{call}" if action == "metadata" else None
    if action == "metadata" and case == "denied":
        return None
    if kind == "inet":
        return INET[case] % (index // 250, index % 250 + 1)
    if kind == "host":
        return HOST[case]
    return f"{root}/{folder(case, action, kind)}/{call}"


def cases(path, root, wanted):
    for case in wanted:
        for index, (call, kind, action) in enumerate(rows(path)):
            what = subject(root, case, index, call, kind, action)
            if what:
                yield case, call, kind, action, what


def plan(path, root, *wanted):
    for _case, call, _kind, _action, what in cases(path, root, wanted):
        print(call, what, what + ".to")


def about(event, what, kind):
    if kind == "template":
        return str(event.get("path", "")).startswith(what + ".")
    return what in (event.get("path"), event.get("path2"), event.get("address"), event.get("host"))


class Log:
    """Call events, found by any of their subjects."""

    def __init__(self, path):
        self.by, self.all = {}, []
        for line in open(path, encoding="utf-8"):
            event = json.loads(line)
            if event["event"] == "exec":  # an exec that worked has a kind of its own
                event.setdefault("action", "exec")
                event.setdefault("verdict", "allow")
            elif event["event"] != "call":
                continue
            self.all.append(event)
            for key in {event.get(k) for k in ("path", "path2", "address", "host")}:
                self.by.setdefault(key, []).append(event)

    def about(self, what, kind):
        if kind == "template":
            return [e for e in self.all if about(e, what, kind)]
        return self.by.get(what, [])


def expected_count(call):
    # fchdir's folder is opened first, and both are reads of it; remove() tries unlink, then rmdir.
    return 2 if call.split(":")[-1] in ("fchdir", "remove.dir") else 1


def problems(case, call, kind, action, bare, answer, log, what):
    """What is wrong with one call, in sentences."""
    if case == "allowed":
        refused = "open_by_handle_at" in call and answer == "EACCES"  # enforce: it has no name to judge
        # so has a descriptor, which may be another file by the time that it is run
        refused = refused or (action == "exec" and kind == "opened" and answer == "EACCES")
        if answer != bare and not refused:
            yield f"bare: {bare}, watched: {answer}"
    else:
        right = {"denied": {"EACCES"}, "hidden": {"ENOENT"}}[case]
        if answer not in right:
            yield f"expected {' or '.join(right)}, got {answer}"
    if action == "metadata" and case == "allowed":
        return
    events = log.about(what, kind)
    verdict = {"allowed": "allow", "denied": "deny", "hidden": "hide"}[case]
    logged = {"metadata": "read"}.get(action, action)
    if case == "denied" and kind == "opened":
        logged = None  # opening the file first is refused already
    if kind == "host":
        if not os.environ.get("AW_SHIMMED"):
            return  # a look-up is a function, not a system call
        events, logged = events[:1], None
    if "open_by_handle_at" in call:  # a handle has no name; what it was looked up beside has
        events, logged = [e for e in log.all if e["call"] == "open_by_handle_at"][:1], None
        verdict = events[0]["verdict"] if events else None
    if action == "exec" and kind == "opened" and case == "allowed" and answer == "EACCES":
        verdict = "deny"
    mine = [e for e in events if logged is None or e.get("action") == logged]
    count = len(mine)
    want = 1 if case != "allowed" else expected_count(call)
    if logged is None:
        count = min(count, 1)
    if count != want:
        seen = [(e.get("call"), e.get("action"), e.get("source")) for e in events]
        yield f"{want} line(s) in the log for {action} expected, got {count}: {seen}"
    for event in mine:
        if event.get("verdict") != verdict:
            yield f"verdict {event.get('verdict')} logged, not {verdict}"
        if bool(event.get("enforced")) != (case != "allowed") and case != "allowed":
            yield "a refusal that was carried out is logged as not enforced"
        if case != "allowed" and action not in NETWORK and "handle" not in call and not event.get("rule"):
            yield "no rule in the log"


def judge(path, root, log, bare, watched, *wanted):
    log = Log(log)
    bare, watched = rows(bare), rows(watched)
    for index, (case, call, kind, action, what) in enumerate(cases(path, root, wanted)):
        sentence = f"{call} is {case}"
        if index >= len(watched) or watched[index][0] != call:
            print(f"not ok - {sentence}\n# no answer: the driver ended early")
            continue
        wrong = list(problems(case, call, kind, action, bare[index][1],
                              watched[index][1], log, what))
        print(f"{'not ok' if wrong else 'ok'} - {sentence}")
        for line in wrong:
            print(f"# {line}")


# Rows that no probe can stand for; each has a test of its own.
PAGES = "fight/edges.c: pages that are read, barred and unmapped"
INTERRUPTED = "test_interrupted.sh"
ELSEWHERE = {
    "mmap": PAGES,
    "mmap64": PAGES,
    "munmap": PAGES,
    "mprotect": PAGES,
    "mremap": PAGES,
    "dl_iterate_phdr": "test_same.sh: programs with AddressSanitizer",
    "kill": INTERRUPTED,
    "raise": INTERRUPTED,
    "sigqueue": INTERRUPTED,
    "pthread_kill": INTERRUPTED,
    "prctl": "test_fight.sh",
    "raw:io_uring_setup": "test_calls.sh",
    "raw:unshare": "test_fight.sh",
    "raw:setns": "test_fight.sh",
    "raw:pivot_root": "test_fight.sh",
    "raw:mount": "test_fight.sh",
    "raw:move_mount": "test_filter.c",
    "raw:clone": "test_filter.c",
    "raw:seccomp": "test_fight.sh",
    "raw:prctl": "test_fight.sh",
    "syscall": "every sys: probe",
}


def covered(table, *lists):
    text = open(table).read()
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    probes = {row[0] for path in lists for row in rows(path)}
    wanted = ["raw:" + name for name in re.findall(r"^AW_(?:SYS|OLD)\(\s*(\w+)\s*,", text, re.M)]
    # those of enforce alone are in test_held.sh, which is made from the table, and in test_machine.sh
    held = r"^AW_(?:SYS|OLD)\(\s*(\w+)\s*,\s*(?:SOCKET|LISTEN|OPTION|PROCESS|UMASK|CREDS|IOCTL|CLONE3|REFUSE|MACHINE|OWNER|LANDLOCK)\b"
    wanted = [name for name in wanted if name[4:] not in re.findall(held, text, re.M)]
    wanted += re.findall(r"^AW_FN\([^,]*,\s*(\w+)\s*,", text, re.M)
    wanted += re.findall(r"^AW_(?:HAND|ALIAS)\(\s*(\w+)\s*,", text, re.M)
    if not wanted:
        print("not ok - the table has rows\n# nothing found in " + table)
    for call in wanted:
        there = call in probes or call in ELSEWHERE
        print(f"{'ok' if there else 'not ok'} - {call} has a probe")
        if not there:
            print(f"# add a row to probe_libc.c or probe_raw.c")


if __name__ == "__main__":
    {"plan": plan, "judge": judge, "covered": covered}[sys.argv[1]](*sys.argv[2:])
