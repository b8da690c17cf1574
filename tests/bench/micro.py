#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""micro.py MICRO [STEP...] - what single steps cost: nanoseconds, and instructions.

Instructions are counted by callgrind with two counts of the step, whose difference has nothing
of the start-up; they do not depend on what else the machine does.  Steps that go through the
kernel are timed as a whole, bare and watched in turn, and have no count: an instruction counter
of the processor would be needed in all processes at once.
"""
import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

import bench as benches

STEPS = [("verdict-10", "verdict, 10 rules"), ("verdict-100", "verdict, 100 rules"), ("verdict-1000", "verdict, 1,000 rules"),
         ("verdict-10000", "verdict, 10,000 rules"), ("normalise", "a path made absolute and clean"),
         ("ring-write", "record and result written to a ring"), ("ring-write-read", "record written and read"),
         ("line", "line of JSON")]
LOW, HIGH = 1000, 3000


def nanoseconds(micro, step):
    return min(float(subprocess.check_output([micro, step, "200000"])) for _ in range(5))


def instructions(micro, step):
    if not shutil.which("valgrind"):
        return None
    total = []
    for count in (LOW, HIGH):
        with tempfile.NamedTemporaryFile(prefix="aw-callgrind.") as out:
            said = subprocess.run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out.name}", micro, step, str(count)],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=True).stderr
        total.append(int(re.search(r"Collected : (\d+)", said).group(1)))
    return (total[1] - total[0]) / (HIGH - LOW)


# --- through the kernel: microseconds more than bare, one of so many

def opens(bench, how, static):
    loop = bench.compiled("open_loop", *(["-static"] if static else []))
    command = [loop, "20000"]
    return statistics.median(w - b for b, w in bench.pairs_of(command, bench.watch(how, command), 1)) / 20000 * 1e9


def hello(bench, how):
    """What an open adds in a fresh child, watched, beyond what it adds bare."""
    loop = bench.compiled("fork_loop")
    added = {}
    for kind in ("none", "open"):
        command = [loop, "1000", kind]
        added[kind] = statistics.median(w - b for b, w in bench.pairs_of(command, bench.watch(how, command), 1))
    return (added["open"] - added["none"]) / 1000 * 1e9


ROUND_TRIPS = [
    ("ask", "question to the supervisor (engine preload, verdicts ask)", lambda b: opens(b, ["--engine", "preload", "--verdicts", "ask"], False)),
    ("notification", "notification (engine hybrid, a static program)", lambda b: opens(b, ["--engine", "hybrid"], True)),
    ("notification-enforce", "call made by the supervisor (mode enforce)", lambda b: opens(b, ["--mode", "enforce", "--runner", "exec"], True)),
    ("hello", "hello of a forked child (engine hybrid)", lambda b: hello(b, ["--engine", "hybrid"])),
    ("hello-preload", "hello of a forked child (engine preload)", lambda b: hello(b, ["--engine", "preload"])),
]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("micro", help="the program that has the steps")
    parser.add_argument("steps", nargs="*", metavar="STEP", help=", ".join(name for name, *_ in STEPS + ROUND_TRIPS))
    parser.add_argument("--json", metavar="FILE", help="also write the figures there")
    options = parser.parse_args()
    unknown = set(options.steps) - {name for name, *_ in STEPS + ROUND_TRIPS}
    if unknown:
        parser.error(f"no such step: {', '.join(sorted(unknown))}")
    os.chdir(benches.ROOT)
    figures = []

    def report(name, title, cost, count):
        figures.append({"step": name, "title": title, "ns": cost, "instructions": count})
        print(f"{title:62} {cost:10.0f} {1e9 / cost if cost > 0 else 0:12,.0f} {f'{count:,.0f}' if count is not None else '-':>12}", flush=True)

    print(f"{'step':62} {'ns':>10} {'a second':>12} {'instructions':>12}")
    for name, title in STEPS:
        if not options.steps or name in options.steps:
            report(name, title, nanoseconds(os.path.abspath(options.micro), name), instructions(os.path.abspath(options.micro), name))
    with tempfile.TemporaryDirectory(prefix="aw-bench.") as scratch:
        bench = benches.Bench(scratch, int(os.environ.get("BENCH_PAIRS", "9")))
        for name, title, measure in ROUND_TRIPS:
            if not options.steps or name in options.steps:
                report(name, title, measure(bench), None)
    if not shutil.which("valgrind"):
        print("no instructions were counted: valgrind is not installed")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"figures": figures}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
