#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""agent_log.py LOG WORK PORT AGENT - what the log of an agent's run must show; prints ok lines."""
import json
import os
import re
import sys

SHELLS = {"sh", "dash", "bash", "zsh"}


def check(good, sentence, *notes):
    print(f"{'ok' if good else 'not ok'} - {sentence}")
    for line in [] if good else notes:
        print(f"# {line}"[:400])


def main(path, work, port, agent):
    events = [json.loads(line) for line in open(path, encoding="utf-8")]
    for e in events:
        if e["event"] == "exec":
            e.setdefault("action", "exec")
    calls = [e for e in events if e["event"] in ("call", "exec")]
    parent = {e["pid"]: e["ppid"] for e in events if e.get("ppid")}
    programs = {}  # pid: the programs that it was, in order
    for e in events:
        exe = e.get("exe")
        if exe and (not programs.get(e["pid"]) or programs[e["pid"]][-1] != exe):
            programs.setdefault(e["pid"], []).append(exe)
        if e.get("action") == "exec" and e.get("result", "ok") == "ok" and e.get("path"):
            programs.setdefault(e["pid"], []).append(e["path"])

    def chain(pid):
        names, seen = [], set()
        while pid in programs and pid not in seen:
            seen.add(pid)
            names[:0] = [os.path.basename(p) for p in programs[pid]]
            pid = parent.get(pid)
        return names

    def is_agent(name):
        return name in {"node", "claude.exe", "claude", "codex", "opencode", "bun"} or agent in name

    last = [e for e in calls if e["action"] == "exec" and os.path.basename(e.get("path", "")) == "true"]
    if agent == "codex":
        last = [e for e in calls if e["action"] == "exec" and os.path.basename(e.get("path", "")) == "id"]
    names = chain(last[0]["pid"]) if last else []
    positions = [next((i for i, n in enumerate(names) if test(n)), None)
                 for test in (is_agent, lambda n: n in SHELLS, lambda n: n in ("true", "id"))]
    check(None not in positions and positions == sorted(positions),
          "the log shows the chain agent, shell, tool", " > ".join(names))

    def writers(name):
        # written in place, or beside it and renamed
        return [e for e in calls if e["action"] in ("write", "create", "rename") and e.get("verdict") == "allow"
                and name in (e.get("path"), e.get("path2"))]

    ran = writers(f"{work}/agent-ran.txt")
    check(any(set(chain(e["pid"])) & SHELLS for e in ran), "and the shell's own write", len(ran))
    own = writers(f"{work}/written.txt")
    by = {os.path.basename(e.get("exe", "?")) for e in own}
    check(own and (agent == "codex" or any(is_agent(n) for n in by)), "and the agent's own write", by)
    connects = [e for e in calls if e["action"] == "connect" and str(e.get("port")) == port
                and re.match(r"127\.0\.0\.1$|::ffff:127", str(e.get("address")))]
    by = {os.path.basename(e.get("exe", "?")) for e in connects}
    check(connects and any(is_agent(n) for n in by), "and the agent's connect to its model", by)
    lost = [e for e in events if e["event"] == "lost-shim"]
    check(not lost, "and no process lost its shim", *[json.dumps(e) for e in lost[:3]])
    check(events[-1]["event"] in ("summary", "exit"), "and its end", events[-1]["event"])


if __name__ == "__main__":
    main(*sys.argv[1:])
