# SPDX-License-Identifier: Apache-2.0
"""rows.py - the table of what is measured: command, ways to watch it, budgets."""
import collections
import functools

import peers
import work

# how: options of `agentwatch run`, or a peer; RULES stands for a policy of the bench's own, RULES:N for one with N rules;
# log: a line for each call is written to a file
Way = collections.namedtuple("Way", "label how budget log", defaults=(None, False))
# what: a function of work.py, or the name of one in bench.py that measures by itself
# weight: how many pairs, relative; calls, extra: abs rows, microseconds more for one of so many calls
# network: by connections; curve: (what grows, how much of it)
Row = collections.namedtuple("Row", "name title what ways weight calls extra quick network curve",
                             defaults=(1, 0, None, True, False, None))


def engines(**budgets):
    return [Way(name, ["--engine", name], budget) for name, budget in budgets.items()]


def walls(budget, *runners):
    """Mode enforce: with rules that leave all reading to the wall, and with what is protected without any."""
    found = []
    for runner in runners or ("bwrap", "landlock"):
        found.append(Way(f"{runner}", ["--runner", runner, "--policy", "RULES"], budget))
        found.append(Way(f"{runner}, prot.", ["--runner", runner, "--mode", "enforce"], budget))
    return found


def rules(budget, *runners):
    return [Way(runner, ["--runner", runner, "--policy", "RULES"], budget) for runner in runners]


def grow(what, unit, amounts, make, how=("--engine", "hybrid")):
    """How the cost of a call grows: make(amount) is a work and how many calls it makes."""
    return [Row(f"grow-{what}", f"open, {amount:,} {unit} (abs)", functools.partial(make, amount),
                [Way("hybrid", [option.replace("AMOUNT", str(amount)) for option in how])], 0.5, work.calls_of(make, amount),
                quick=False, curve=(what, amount)) for amount in amounts]


LOGGED = [Way("hybrid, log", ["--engine", "hybrid"], None, True)]
COMPARED = {"start", "open", "cat", "find", "status", "git", "make", "node", "python", "exec", "exec-static", "npm", "connect",
            "throughput", "mcp"}

ROWS = [
    Row("open", "open+close, burst", work.open_burst, engines(preload=1.12, hybrid=1.20)),
    Row("sustained", "open+close, 10 s, every line written", "sustained", engines(hybrid=1.6), quick=False),
    Row("cat", "cat 20,000 files", work.cat, engines(preload=1.05, hybrid=1.07)),
    Row("git", "git status + log, 4,000 files", work.git_status, engines(hybrid=1.10), 2),
    Row("make", "make -j2 of a small C project", work.make, engines(hybrid=1.12)),
    Row("node", "node with 740 modules", work.node, engines(hybrid=1.06), 1.5),
    Row("python", "python with many imports", work.python, engines(hybrid=1.06), 1.5),
    Row("exec", "500 x fork+exec, dynamic", work.spawn, engines(preload=1.15, hybrid=1.30)),
    Row("exec-static", "500 x fork+exec, static", work.spawn_static, engines(hybrid=1.30)),
    Row("claude", "claude end to end", "agent", engines(hybrid=1.05), 0.5, quick=False),
    Row("codex", "codex end to end", "agent", engines(hybrid=1.05), 0.5, quick=False),
    Row("start", "start-up: true (abs)", work.start, engines(hybrid=None), 3, 1, 8000),
    Row("static-open", "open in a static program (abs)", work.static_open, engines(hybrid=None), 1, 20000, 15),
    Row("memory", "memory (abs)", "memory", engines(hybrid=None)),
    # beside the budgets
    Row("find", "find -size of 20,000 files", work.find, engines(hybrid=None)),
    Row("status", "git status, 20,000 files", work.status, engines(hybrid=None)),
    Row("npm", "npm install of 40 local tarballs", work.npm, engines(hybrid=None), 0.5, quick=False),
    Row("connect", "2,000 x connect on loopback", work.connect, engines(hybrid=None), network=True),
    Row("throughput", "2 GB over one connection", "throughput", [*engines(hybrid=1.01), *rules(1.01, "exec")], network=True),
    Row("mcp", "1,000 MCP calls, stdio", "mcp", [*engines(hybrid=None), *walls(None, "bwrap")[1:]]),
    # in mode enforce; what is short is repeated, since the start-up of a wall has a row of its own
    Row("wall-start", "start-up beside bwrap alone (abs)", work.start_walled, rules(None, "bwrap"), 3, 1, 10000),
    Row("wall-start-prot", "start-up beside bwrap with the same mounts (abs)", functools.partial(work.start_walled, protected=True),
        walls(None, "bwrap")[1:], 3, 1, 10000),
    Row("wall-cat", "2 x cat 20,000 files", work.again(work.cat, 2), walls(1.15)),
    Row("wall-git", "4 x git status + log, 4,000 files", work.again(work.git_status, 4), walls(1.20)),
    Row("wall-make", "make -j2 of a small C project", work.make, walls(1.25)),
    Row("wall-node", "4 x node with 740 modules", work.again(work.node, 4), walls(1.10)),
    Row("wall-open", "gated read, path proven (abs)", work.open_burst, rules(None, "bwrap", "landlock"), 1, 100000, 3),
    Row("wall-tar", "tar x of 4,000 files on tmpfs", work.untar, walls(5)),
    Row("wall-checkout", "git checkout of 5,000 files on disk", work.checkout, walls(1.6)),
    Row("lookup", "looking a name up, kept", "lookup", rules(None, "bwrap", "exec")),
    Row("lookup-fresh", "looking names up, each another", "lookup", rules(None, "bwrap", "exec")),
    Row("wall-connect", "connect on loopback (abs)", work.connect, rules(None, "exec", "landlock"), 1, 2000, 60),
    # how the cost of a call grows
    *grow("rules", "rules", (10, 100, 1000, 10000), work.open_many_rules, ("--engine", "hybrid", "--policy", "RULES:AMOUNT")),
    *grow("processes", "processes at once", (1, 4, 16, 64), work.open_side_by_side),
    *grow("events", "calls", (1000, 10000, 100000, 1000000), work.open_often),
    *grow("depth", "folders deep", (1, 8, 32, 128), work.open_deep),
]


def ways_of(row, with_peers):
    """Those of the row; with the log written, and behind peers, where it is compared."""
    if row.name not in COMPARED or not with_peers:
        return row.ways
    return [*row.ways, *LOGGED, *(Way(peer.label, peer) for peer in peers.PEERS)]
