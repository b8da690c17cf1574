#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench.py [ROW...] - what watching costs, as ratios to the bare command.

Bare and watched runs alternate; a ratio is the median of the ratios of neighbours, printed
with its quartiles, so that a load on the machine that lasts longer than one pair cancels out.
"noise" is the same figure for bare against bare.  With --check, a ratio above its budget by
more than the noise fails; rows marked abs are reported and never fail.

  AGENTWATCH   the program (build/agentwatch)     BENCH_PAIRS   pairs a row (15; 5 with --quick)
  AW_AGENTS_DIR   installed agents, for the agent rows (build/agents)
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
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
AGENTWATCH = os.path.join(ROOT, os.environ.get("AGENTWATCH", "build/agentwatch"))
AGENTS = os.path.join(ROOT, os.environ.get("AW_AGENTS_DIR", "build/agents"))

# row | title | engines with their budgets (None: no budget) | weight: how many pairs, relative
ROWS = [
    ("open", "open+close, burst", {"preload": 1.12, "hybrid": 1.20}, 1),
    ("sustained", "open+close, 10 s, every line written", {"hybrid": 1.6}, 0.2),
    ("cat", "cat 20,000 files", {"preload": 1.05, "hybrid": 1.07}, 1),
    ("git", "git status + log, 4,000 files", {"hybrid": 1.10}, 2),
    ("make", "make -j2 of a small C project", {"hybrid": 1.12}, 1),
    ("node", "node with 740 modules", {"hybrid": 1.06}, 1.5),
    ("python", "python with many imports", {"hybrid": 1.06}, 1.5),
    ("exec", "500 x fork+exec, dynamic", {"preload": 1.15, "hybrid": 1.30}, 1),
    ("exec-static", "500 x fork+exec, static", {"hybrid": 1.30}, 1),
    ("claude", "claude end to end", {"hybrid": 1.05}, 1),
    ("codex", "codex end to end", {"hybrid": 1.05}, 1),
    ("start", "start-up: true (abs)", {"hybrid": None}, 3),
    ("static-open", "open in a static program (abs)", {"hybrid": None}, 1),
    ("memory", "memory (abs)", {"hybrid": None}, 0.1),
]


class Bench:
    def __init__(self, scratch, pairs):
        self.scratch, self.pairs, self.made = scratch, pairs, {}
        self.failures = []

    def path(self, name):
        return os.path.join(self.scratch, name)

    def compiled(self, name, *flags):
        out = self.path(name + ("-static" if "-static" in flags else ""))
        if not os.path.exists(out):
            subprocess.run([os.environ.get("CC", "cc"), "-O2", *flags, "-o", out, f"{HERE}/{name}.c"], check=True)
        return out

    def once(self, name, make):
        if name not in self.made:
            self.made[name] = make(self.path(name))
        return self.path(name)

    def watch(self, engine, command, log="none"):
        return [AGENTWATCH, "run", "--quiet", "--engine", engine, "--log", log, "--", *command]

    def seconds(self, command, cwd=None, env=None):
        start = time.perf_counter()
        done = subprocess.run(command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE)
        took = time.perf_counter() - start
        if done.returncode:
            raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[-200:].decode(errors='replace')}")
        return took

    def pairs_of(self, bare, watched, weight, cwd=None, before=None):
        """(seconds bare, seconds watched) for each pair; the order within a pair alternates."""
        found = []
        for number in range(max(3, round(self.pairs * weight)) + 1):
            took = {}
            for which in (("bare", "watched") if number % 2 else ("watched", "bare")):
                if before:
                    before()
                took[which] = self.seconds(bare if which == "bare" else watched, cwd)
            if number:  # the first warms the caches
                found.append((took["bare"], took["watched"]))
        return found


def summary(pairs):
    ratios = sorted(w / b for b, w in pairs)
    low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
    return statistics.median(ratios), low, high


# --- what is measured: each returns (command, folder, what to do before each run)

def row_open(bench):
    return [bench.compiled("open_loop"), "100000"], None, None


def many_files(path):
    os.makedirs(path)
    for number in range(20000):
        with open(f"{path}/{number}", "w") as file:
            file.write("some text\n")


def row_cat(bench):
    folder = bench.once("files", many_files)
    return ["sh", "-c", "ls | xargs -n 5000 cat"], folder, None


def repository(path):
    os.makedirs(path)
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-C", path]
    subprocess.run([*git, "init", "-q"], check=True)
    for number in range(4000):
        os.makedirs(f"{path}/d{number % 80}", exist_ok=True)
        with open(f"{path}/d{number % 80}/f{number}", "w") as file:
            file.write(str(number))
    for number in range(20):
        with open(f"{path}/count", "w") as file:
            file.write(str(number))
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-qm", str(number)], check=True)


def row_git(bench):
    return ["sh", "-c", "git status >/dev/null; git --no-pager log --stat >/dev/null"], bench.once("repo", repository), None


def project(path):
    os.makedirs(path)
    with open(f"{path}/Makefile", "w") as file:
        names = [f"f{number}" for number in range(12)]
        file.write("all: " + " ".join(n + ".o" for n in names) + "\n\tcc -o all $^\n%.o: %.c\n\tcc -O1 -c -o $@ $<\n")
    for name in names:
        with open(f"{path}/{name}.c", "w") as file:
            file.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n")
            file.write(f"int {name}(void) {{ puts(\"{name}\"); return 0; }}\n")
    with open(f"{path}/f0.c", "a") as file:
        file.write("int main(void) { return f0(); }\n")


def row_make(bench):
    folder = bench.once("project", project)

    def clean():
        for name in os.listdir(folder):
            if name.endswith(".o") or name == "all":
                os.unlink(f"{folder}/{name}")
    return ["make", "-s", "-j2"], folder, clean


def modules(path):
    os.makedirs(path)
    for number in range(740):
        with open(f"{path}/m{number}.js", "w") as file:
            file.write(f"exports.value = {number};\n")
    with open(f"{path}/main.js", "w") as file:
        file.write("let sum = 0; for (let n = 0; n < 740; n++) sum += require('./m' + n).value; console.log(sum);\n")


def row_node(bench):
    if not shutil.which("node"):
        raise LookupError("no node")
    return ["node", "main.js"], bench.once("modules", modules), None


def row_python(bench):
    imports = "import asyncio, json, email.message, http.server, unittest, xml.dom.minidom, logging.config, " \
              "multiprocessing.pool, ssl, urllib.request, zipfile, tarfile, decimal, difflib, pydoc, ctypes, curses"
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    return [python, "-c", imports], None, None


def row_exec(bench):
    return [bench.compiled("spawn_loop"), "500", shutil.which("true")], None, None


def row_exec_static(bench):
    return [bench.compiled("spawn_loop"), "500", bench.compiled("nothing", "-static")], None, None


def row_start(bench):
    return [shutil.which("true")], None, None


def row_static_open(bench):
    return [bench.compiled("open_loop", "-static"), "20000"], None, None


def agent(bench, name, engine, pairs):
    """Milliseconds as agent.sh measured them: the agent alone, not the stand-in's start."""
    if not os.access(f"{AGENTS}/node_modules/.bin/{name}", os.X_OK):
        raise LookupError(f"{name} is not installed in AW_AGENTS_DIR")
    script = f"{ROOT}/tests/agents/agent.sh"
    found = []
    alone = ["unshare", "-n" if os.geteuid() == 0 else "-rn", "bash", "-c", 'ip link set lo up; exec "$@"', "bash"]
    for number in range(max(3, pairs) + 1):
        took = {}
        for which in ("bare", "watched") if number % 2 else ("watched", "bare"):
            prefix = bench.watch(engine, [], f"{bench.scratch}/agent.jsonl") if which == "watched" else []
            out = subprocess.run([*alone, "bash", script, AGENTS, name, *prefix], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True).stdout
            match = re.search(r"PASS rc=0 (\d+)ms", out)
            if not match:
                raise RuntimeError(f"{name} failed ({which}): {out[:200]}")
            took[which] = int(match.group(1)) / 1000
        if number:
            found.append((took["bare"], took["watched"]))
    return found


def sustained(bench, engine):
    """Opens a second for 10 s, bare against watched with the log on disk; each line must be there."""
    loop = bench.compiled("open_loop")
    log = bench.path("sustained.jsonl")
    found = []
    for _ in range(2):
        bare = int(subprocess.check_output([loop, "10s"]))
        watched = int(subprocess.check_output(bench.watch(engine, [loop, "10s"], log)))
        lines = int(subprocess.check_output(["grep", "-c", '"/etc/passwd"', log]))
        if lines < watched:
            bench.failures.append(f"sustained: {watched} opens, {lines} lines")
        found.append((1 / bare, 1 / watched))
        os.unlink(log)
    return found


def children(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        for child in open(f"/proc/{pid}/task/{task}/children").read().split():
            found += [int(child), *children(int(child))]
    return found


def memory(bench, engine):
    """Peak resident memory of all supervisor processes, in KB, while a tree of programs runs."""
    worker = subprocess.Popen(bench.watch(engine, ["sh", "-c", "for n in 1 2 3 4 5 6 7 8; do cat /etc/passwd; done; sleep 1"],
                                          bench.path("memory.jsonl")), stdout=subprocess.DEVNULL)
    time.sleep(0.7)
    high = pss = 0
    for pid in [worker.pid, *children(worker.pid)]:
        if os.readlink(f"/proc/{pid}/exe") == os.path.realpath(AGENTWATCH):
            high += int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1))
            pss += int(re.search(r"Pss:\s+(\d+)", open(f"/proc/{pid}/smaps_rollup").read()).group(1))
    worker.wait()
    return high, pss


def line(*columns):
    print("%-40s %-8s %10s %10s %7s %15s %7s %7s  %s" % columns, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(row[0] for row in ROWS))
    parser.add_argument("--quick", action="store_true", help="five pairs a row, no ten-second and agent rows")
    parser.add_argument("--check", action="store_true", help="fail above the budget")
    parser.add_argument("--engine", help="only this engine")
    parser.add_argument("--json", metavar="FILE", help="also write the figures there")
    options = parser.parse_args()
    pairs = int(os.environ.get("BENCH_PAIRS", "5" if options.quick else "15"))
    figures = []
    print(f"{os.cpu_count()} CPUs, load {os.getloadavg()[0]:.2f}, Linux {os.uname().release}, "
          f"{'root' if os.geteuid() == 0 else 'user'}; medians of {pairs} pairs; budget: ratio to bare\n")
    line("row", "engine", "bare", "watched", "ratio", "quartiles", "noise", "budget", "")
    with tempfile.TemporaryDirectory(prefix="aw-bench.") as scratch:
        bench = Bench(scratch, pairs)
        for name, title, engines, weight in ROWS:
            if options.rows and name not in options.rows:
                continue
            if options.quick and not options.rows and name in ("sustained", "claude", "codex"):
                continue
            for engine, budget in engines.items():
                if options.engine and engine != options.engine:
                    continue
                try:
                    measure(bench, name, title, engine, budget, weight, figures)
                except LookupError as reason:
                    line(title, engine, "-", "-", "-", "-", "-", budget or "-", f"skipped: {reason}")
                except (RuntimeError, subprocess.CalledProcessError, OSError) as problem:
                    line(title, engine, "-", "-", "-", "-", "-", budget or "-", "FAILED")
                    bench.failures.append(f"{name}, {engine}: {problem}")
    if options.json:
        with open(options.json, "w") as file:
            json.dump(figures, file, indent=1)
    print()
    for failure in bench.failures:
        print("failed:", failure)
    over = [f"{f['row']}, {f['engine']}: {f['ratio']:.2f} > {f['budget']}" for f in figures if f["over"]]
    for text in over:
        print("over budget:", text)
    return 1 if bench.failures or (options.check and over) else 0


def measure(bench, name, title, engine, budget, weight, figures):
    noise = 1.0
    if name == "memory":
        high, pss = memory(bench, engine)
        line(title, engine, "-", f"{high} KB", "-", f"Pss {pss} KB", "-", "10 MB", "" if high <= 10240 else "over")
        return
    if name in ("claude", "codex"):
        pairs = agent(bench, name, engine, round(bench.pairs * weight / 2))
    elif name == "sustained":
        pairs = sustained(bench, engine)
    else:
        command, cwd, before = globals()["row_" + name.replace("-", "_")](bench)
        pairs = bench.pairs_of(command, bench.watch(engine, command), weight, cwd, before)
        noise = summary(bench.pairs_of(command, command, weight / 2, cwd, before))[0]
    ratio, low, high = summary(pairs)
    bare, watched = (statistics.median(p[n] for p in pairs) for n in (0, 1))
    remark = ""
    if name == "start":
        remark = f"+{(watched - bare) * 1000:.1f} ms (abs: 8)"
    elif name == "static-open":
        remark = f"+{(watched - bare) / 20000 * 1e6:.1f} us an open (abs: 15)"
    over = budget is not None and ratio > budget * max(1.0, noise)
    unit = 1e6 if name == "sustained" else 1e3
    line(title, engine, f"{bare * unit:.2f} {'us' if name == 'sustained' else 'ms'}", f"{watched * unit:.2f}", f"{ratio:.3f}",
         f"{low:.3f}..{high:.3f}", f"{noise:.3f}", budget or "-", remark or ("OVER" if over else ""))
    figures.append({"row": name, "engine": engine, "bare": bare, "watched": watched, "ratio": ratio,
                    "low": low, "high": high, "noise": noise, "budget": budget, "over": over})


if __name__ == "__main__":
    sys.exit(main())
