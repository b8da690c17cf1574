#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench.py [ROW...] - what watching costs, as ratios to the bare command.

Bare and watched runs alternate; a ratio is the median of the ratios of neighbours, printed
with its quartiles, so that a load on the machine that lasts longer than one pair cancels out.
"noise" is the same figure for bare against bare.  With --check, a ratio above its budget by
more than the noise fails; rows marked abs are reported and never fail.  Some rows are also run
behind what people would use instead (peers.py), as far as that is installed.

  AGENTWATCH   the program (build/agentwatch)     BENCH_PAIRS   pairs a row (15; 5 with --quick)
  BENCH_USER   as whom, by root: "root awtest" runs the table once for each
  AW_AGENTS_DIR   installed agents, for the agent and MCP rows (build/agents)
  AW_PEERS_DIR    other tools from npm (build/peers); `make bench-peers` installs them
"""
import argparse
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import peers
import rows
import servers
import work

ROOT = os.path.dirname(os.path.dirname(work.HERE))
AGENTWATCH = os.path.join(ROOT, os.environ.get("AGENTWATCH", "build/agentwatch"))
AGENTS = os.path.join(ROOT, os.environ.get("AW_AGENTS_DIR", "build/agents"))


class Bench:
    """The scratch folder with all that was made in it, and how runs are timed."""

    def __init__(self, scratch, pairs):
        self.scratch, self.pairs, self.made = scratch, pairs, set()
        self.failures, self.figures, self.later, self.server = [], [], [], None
        self.peers, self.noise, self.agents = {}, {}, AGENTS
        for name, variable in (("state", "XDG_STATE_HOME"), ("run", "XDG_RUNTIME_DIR"), ("tmp", "TMPDIR"), ("config", "XDG_CONFIG_HOME")):
            os.mkdir(self.path(name), 0o700)
            os.environ[variable] = self.path(name)

    def path(self, name):
        return os.path.join(self.scratch, name)

    def compiled(self, name, *flags):
        out = self.path(name + ("-static" if "-static" in flags else ""))
        if not os.path.exists(out):
            subprocess.run([os.environ.get("CC", "cc"), "-O2", *flags, "-o", out, f"{work.HERE}/{name}.c"], check=True)
        return out

    def once(self, name, make):
        if name not in self.made:
            make(self.path(name))
            self.made.add(name)
        return self.path(name)

    def policy(self, rules=None):
        if rules:
            with open(self.path(f"rules-{rules}.yaml"), "w") as file:
                file.write(work.many_rules(int(rules)))
            return self.path(f"rules-{rules}.yaml")
        port = self.server and self.served_port()
        with open(self.path("rules.yaml"), "w") as file:
            file.write(work.policy_text(port))
        return self.path("rules.yaml")

    def served_port(self):
        if not self.server:
            server = subprocess.Popen([self.compiled("connect_loop"), "serve"], stdout=subprocess.PIPE)
            self.server = server, int(server.stdout.readline())
        return self.server[1]

    def remove_later(self, path):
        self.later.append(path)

    def close(self):
        if self.server:
            self.server[0].kill()
            self.server[0].wait()
        for path in self.later:
            shutil.rmtree(path, ignore_errors=True)

    def watch(self, how, command, log="none"):
        if isinstance(how, peers.Peer):
            return [*peers.words(self, how), *command]
        how = [self.policy(option[6:]) if option.split(":")[0] == "RULES" else option for option in how]
        return [AGENTWATCH, "run", "--quiet", *how, "--log", log, "--", *command]

    def log_of(self, way):
        """A file for the lines, anew each time; or none."""
        return self.path("calls.jsonl") if way.log else "none"

    def wall_of_last_run(self):
        """The wall's command line as plan.txt of the last session has it, up to its "--"."""
        sessions = self.path("state/agentwatch/sessions")
        last = max((f"{sessions}/{name}" for name in os.listdir(sessions)), key=os.path.getctime)
        text = open(f"{last}/plan.txt").read()
        words = shlex.split(text[text.index("\nrunner"):].split("\n", 2)[2].replace("\\\n", " "))
        return words[:words.index("--") + 1]

    def seconds(self, command, cwd):
        start = time.perf_counter()
        done = subprocess.run(command, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        took = time.perf_counter() - start
        if done.returncode:
            raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[-200:].decode(errors='replace')}")
        return took

    def pairs_of(self, bare, watched, weight, cwd=None, before=None, most=None):
        """(seconds bare, seconds watched) for each pair; the order within a pair alternates. No more after most seconds."""
        found = []
        start = time.monotonic()
        for number in range(max(3, round(self.pairs * weight)) + 1):
            if most and found and time.monotonic() - start > most:
                break
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


# --- rows that measure by themselves: each returns pairs

def agent(bench, row, way):
    """Milliseconds as agent.sh measured them: the agent alone, not the stand-in's start."""
    if not os.access(f"{AGENTS}/node_modules/.bin/{row.name}", os.X_OK):
        raise LookupError(f"{row.name} is not installed in AW_AGENTS_DIR")
    script = f"{ROOT}/tests/agents/agent.sh"
    found = []
    alone = ["unshare", "-n" if os.geteuid() == 0 else "-rn", "bash", "-c", 'ip link set lo up; exec "$@"', "bash"]
    for number in range(max(3, round(bench.pairs * row.weight)) + 1):
        took = {}
        for which in ("bare", "watched") if number % 2 else ("watched", "bare"):
            prefix = bench.watch(way.how, [], f"{bench.scratch}/agent.jsonl") if which == "watched" else []
            out = subprocess.run([*alone, "bash", script, AGENTS, row.name, *prefix], stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True).stdout
            match = re.search(r"PASS rc=0 (\d+)ms", out)
            if not match:
                raise RuntimeError(f"{row.name} failed ({which}): {out[:200]}")
            took[which] = int(match.group(1)) / 1000
        if number:
            found.append((took["bare"], took["watched"]))
    return found


def sustained(bench, _row, way):
    """Opens a second for 10 s, bare against watched with the log on disk; each line must be there."""
    loop = bench.compiled("open_loop")
    log = bench.path("sustained.jsonl")
    found = []
    for _ in range(2):
        bare = int(subprocess.check_output([loop, "10s"]))
        watched = int(subprocess.check_output(bench.watch(way.how, [loop, "10s"], log)))
        lines = int(subprocess.check_output(["grep", "-c", '"/etc/passwd"', log]))
        if lines < watched:
            bench.failures.append(f"sustained: {watched} opens, {lines} lines")
        found.append((1 / bare, 1 / watched))
        os.unlink(log)
    return found


def lookup(bench, row, way):
    """Seconds that one look-up takes, asking a name server that the bench has in namespaces of its own."""
    loop = bench.compiled("lookup_loop")
    with open(bench.path("names.yaml"), "w") as file:
        json.dump({"version": 1, "mode": "enforce", "network": {"default": "deny", "allow": ["*.example"]}}, file)
    with open(bench.path("resolv.conf"), "w") as file:
        file.write("nameserver 192.0.2.53\n")
    how = [bench.path("names.yaml") if option == "RULES" else option for option in way.how]
    command = [loop, "2000", *(["fresh"] if row.name.endswith("fresh") else [])]
    script = """ip link set lo up && ip address add 192.0.2.53/32 dev lo && mount --bind "$1" /etc/resolv.conf || exit
        "$2" serve 192.0.2.53 & sleep 0.1; shift 2; "$@"; kill $!"""
    found = []
    for number in range(max(3, round(bench.pairs * row.weight)) + 1):
        took = {}
        for which in ("bare", "watched") if number % 2 else ("watched", "bare"):
            words = bench.watch(how, command) if which == "watched" else command
            out = subprocess.check_output(["unshare", "-mn" if os.geteuid() == 0 else "-rmn", "bash", "-c", script, "bash",
                                           bench.path("resolv.conf"), loop, *words])
            took[which] = float(out) / 1e6
        if number:
            found.append((took["bare"], took["watched"]))
    return found


def children(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        for child in open(f"/proc/{pid}/task/{task}/children").read().split():
            found += [int(child), *children(int(child))]
    return found


def memory(bench, way):
    """Peak resident memory of all supervisor processes, in KB, while a tree of programs runs."""
    worker = subprocess.Popen(bench.watch(way.how, ["sh", "-c", "for n in 1 2 3 4 5 6 7 8; do cat /etc/passwd; done; sleep 1"],
                                          bench.path("memory.jsonl")), stdout=subprocess.DEVNULL)
    time.sleep(0.7)
    high = pss = 0
    for pid in [worker.pid, *children(worker.pid)]:
        if os.readlink(f"/proc/{pid}/exe") == os.path.realpath(AGENTWATCH):
            high += int(re.search(r"VmHWM:\s+(\d+)", open(f"/proc/{pid}/status").read()).group(1))
            pss += int(re.search(r"Pss:\s+(\d+)", open(f"/proc/{pid}/smaps_rollup").read()).group(1))
    worker.wait()
    return high, pss


# --- the table

def line(*columns):
    print("%-37s %-15s %10s %10s %7s %15s %7s %7s  %s" % columns, flush=True)


def remark_of(extra, most):
    """Microseconds more, of one call or of a whole start; most is what is aimed at."""
    unit, name = (1000, "ms") if abs(extra) >= 1000 else (1, "us")
    return f"{extra / unit:+.2f} {name}" + (f" (abs: {most / unit:g})" if most else "")


# what watches each call of a burst takes minutes for one run of it
PATIENCE = 20
SELF_MEASURED = {"agent": agent, "sustained": sustained, "throughput": servers.throughput, "mcp": servers.mcp, "lookup": lookup}


def measure(bench, row, way):
    noise, unit, name = 1.0, 1e3, "ms"
    other = isinstance(way.how, peers.Peer)
    weight = row.weight / 3 if other else row.weight
    if other and row.network and not way.how.network:
        raise LookupError("it has no network of this machine's")
    if row.what == "memory":
        high, pss = memory(bench, way)
        line(row.title, way.label, "-", f"{high} KB", "-", f"Pss {pss} KB", "-", "10 MB", "" if high <= 10240 else "over")
        bench.figures.append({**figure_of(row, way), "remark": f"{high / 1024:.1f} MB", "memory_kb": high, "shared_kb": pss})
        return
    if isinstance(row.what, str):
        pairs = SELF_MEASURED[row.what](bench, row._replace(weight=weight), way)
        if row.what in ("sustained", "mcp", "lookup"):
            unit, name = 1e6, "us"
    else:
        job = row.what(bench)
        bare = job.bare or job.command
        pairs = bench.pairs_of(bare, bench.watch(way.how, job.command, bench.log_of(way)), weight, job.cwd, job.before,
                               PATIENCE if other else None)
        if row.title not in bench.noise:
            bench.noise[row.title] = summary(bench.pairs_of(bare, bare, row.weight / 2, job.cwd, job.before))[0]
        noise = bench.noise[row.title]
    ratio, low, high = summary(pairs)
    bare, watched = (statistics.median(p[n] for p in pairs) for n in (0, 1))
    over = way.budget is not None and ratio > way.budget * max(1.0, noise)
    remark = "OVER" if over else ""
    extra = None
    if row.what == "lookup":
        remark = f"{1 / watched:,.0f} a second; bare {1 / bare:,.0f}"
    if row.calls:
        extra = statistics.median(w - b for b, w in pairs) / row.calls * 1e6
        remark = remark_of(extra, None if other else row.extra)
    line(row.title, way.label, f"{bare * unit:.2f} {name}", f"{watched * unit:.2f}", f"{ratio:.3f}",
         f"{low:.3f}..{high:.3f}", f"{noise:.3f}", way.budget or "-", remark)
    bench.figures.append({**figure_of(row, way), "bare": bare, "watched": watched, "ratio": ratio, "low": low, "high": high, "noise": noise,
                          "over": over, "extra_us": extra, "remark": remark})


def figure_of(row, way):
    """What a figure is of; the numbers come on top."""
    return {"row": row.name, "title": row.title, "engine": way.label, "peer": isinstance(way.how, peers.Peer), "curve": row.curve,
            "user": "root" if os.geteuid() == 0 else "user", "budget": way.budget, "most_us": row.calls and row.extra or None,
            "bare": None, "watched": None, "ratio": None, "low": None, "high": None, "noise": None, "over": False, "extra_us": None}


def as_each(users, options):
    """The table once for each user, by processes of theirs; what they found, together. Other tools run as the first one alone."""
    worst, merged, more = 0, None, []
    os.environ.pop("BENCH_USER")
    rest = [word for number, word in enumerate(sys.argv[1:], 1) if word != "--json" and sys.argv[number - 1] != "--json"]
    for user in users:
        become = [] if user == "root" else ["runuser", "-u", user, "--"]
        with tempfile.TemporaryDirectory(prefix="aw-bench.") as folder:
            os.chmod(folder, 0o777)
            keep = ["--json", f"{folder}/found"] if options.json else []
            worst |= subprocess.run([*become, sys.executable, "-B", os.path.abspath(__file__), *keep, *rest, *more]).returncode
            more = ["--no-peers"]
            if keep and os.path.exists(keep[1]):
                with open(keep[1]) as file:
                    found = json.load(file)
                found["figures"] = (merged["figures"] if merged else []) + found["figures"]
                merged = found
        print()
    if merged:
        write_json(options.json, merged)
    return worst


def write_json(path, found):
    with open(path + ".new", "w") as file:
        json.dump(found, file, indent=1)
    os.replace(path + ".new", path)


def machine():
    """The class of machine, without its name."""
    with open("/proc/cpuinfo") as file:
        model = re.search(r"^(?:model name|CPU implementer)\s*:\s*(.*)", file.read(), re.M)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)
    return {"when": time.strftime("%Y-%m-%d"), "cpus": os.cpu_count(), "model": model.group(1) if model else os.uname().machine,
            "memory_gb": round(memory), "kernel": os.uname().release.split("-")[0], "system": system_name(),
            "virtual": subprocess.run(["systemd-detect-virt", "-q"], check=False).returncode == 0 if shutil.which("systemd-detect-virt")
            else "hypervisor" in open("/proc/cpuinfo").read()}


def system_name():
    try:
        return re.search(r'^PRETTY_NAME="?([^"\n]*)', open("/etc/os-release").read(), re.M).group(1)
    except (OSError, AttributeError):
        return os.uname().sysname


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(row.name for row in rows.ROWS))
    parser.add_argument("--quick", action="store_true", help="five pairs a row, no ten-second and agent rows")
    parser.add_argument("--check", action="store_true", help="fail above the budget")
    parser.add_argument("--engine", help="only this engine, runner or other tool")
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="without other tools")
    parser.add_argument("--json", metavar="FILE", help="also write the figures there")
    options = parser.parse_args()
    if os.geteuid() == 0 and os.environ.get("BENCH_USER"):
        return as_each(os.environ["BENCH_USER"].split(), options)
    unknown = set(options.rows) - {row.name for row in rows.ROWS}
    if unknown:
        parser.error(f"no such row: {', '.join(sorted(unknown))}")
    pairs = int(os.environ.get("BENCH_PAIRS", "5" if options.quick else "15"))
    load = round(os.getloadavg()[0], 2)
    print(f"{os.cpu_count()} CPUs, load {load:.2f}, Linux {os.uname().release}, "
          f"{'root' if os.geteuid() == 0 else 'user'}; medians of {pairs} pairs; budget: ratio to bare\n")
    line("row", "engine/wall", "bare", "watched", "ratio", "quartiles", "noise", "budget", "")
    with tempfile.TemporaryDirectory(prefix="aw-bench.") as scratch:
        bench = Bench(scratch, pairs)
        try:
            run_rows(bench, options)
        finally:
            bench.close()
    if options.json:
        write_json(options.json, {"machine": {**machine(), "pairs": pairs, "load": load}, "figures": bench.figures})
    print()
    for failure in bench.failures:
        print("failed:", failure)
    over = [f"{f['row']}, {f['engine']}: {f['ratio']:.2f} > {f['budget']}" for f in bench.figures if f["over"]]
    for text in over:
        print("over budget:", text)
    return 1 if bench.failures or (options.check and over) else 0


def run_rows(bench, options):
    for row in rows.ROWS:
        if row.name not in options.rows if options.rows else options.quick and not row.quick:
            continue
        for way in rows.ways_of(row, options.peers):
            if options.engine and way.label.split(",")[0] != options.engine:
                continue
            try:
                measure(bench, row, way)
            except LookupError as reason:
                line(row.title, way.label, "-", "-", "-", "-", "-", way.budget or "-", f"skipped: {reason}")
            except (RuntimeError, subprocess.CalledProcessError, OSError) as problem:
                line(row.title, way.label, "-", "-", "-", "-", "-", way.budget or "-", f"FAILED: {str(problem)[:80]!r}")
                if not isinstance(way.how, peers.Peer):  # another tool that cannot run it is a dash in the table
                    bench.failures.append(f"{row.name}, {way.label}: {problem}")


if __name__ == "__main__":
    sys.exit(main())
