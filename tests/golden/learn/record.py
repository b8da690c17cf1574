#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""record.py LOG BASE [FROM=TO...] - a real log as a golden one, on standard output.

BASE holds the folders home, w and tmp of the run; they become @HOME@, @WORKSPACE@ and @TMPDIR@.
What learning does not look at is left out, and so are repetitions and what is above BASE.
"""
import json
import sys

KEPT = ("v", "seq", "pid", "exe", "event", "call", "action", "path", "path2", "raw", "argv",
        "address", "port", "host", "family", "verdict", "result")


def main(log, base, *renamed):
    names = [(f"{base}/home", "@HOME@"), (f"{base}/w", "@WORKSPACE@"), (f"{base}/tmp", "@TMPDIR@")]
    names += [tuple(pair.split("=")) for pair in renamed]
    above, seen, count = set(), {}, 0
    for at, sign in enumerate(base):
        if sign == "/":
            above.add(base[:at] or "/")
    above.add(base)
    for line in open(log, encoding="utf-8"):
        event = json.loads(line)
        path = event.get("path", "")
        if event["event"] not in ("call", "exec") or path in above:
            continue
        if path.startswith(base) and not path.startswith(tuple(n for n, _ in names)):
            continue
        if any(path.startswith(f"{folder}/") and folder != "/" and folder not in ("/tmp",)
               and not path.startswith(base) for folder in above if folder.count("/") > 1):
            continue
        if path.startswith("/proc/") and path.split("/")[2].isdigit() and int(path.split("/")[2]) % 50:
            if path.split("/")[2] != str(event["pid"]):
                continue
        if "argv" in event:
            event["argv"] = [word[:40] for word in event["argv"][:3]]
        key = json.dumps([event.get(k) for k in KEPT[3:]])
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > (1 if path.startswith("/usr/") else 2):
            continue
        count += 1
        kept = {k: event[k] for k in KEPT if k in event}
        kept["seq"] = count
        text = json.dumps(kept, separators=(",", ":"), ensure_ascii=False)
        for old, new in names:
            text = text.replace(old, new)
        print(text)


if __name__ == "__main__":
    main(*sys.argv[1:])
