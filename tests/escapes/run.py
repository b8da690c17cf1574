#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""run.py - run the attempts bare and under every engine and runner; called by `run`.

Prints `ok - ` and `not ok - ` lines that test_escapes.sh numbers, or with --table the page
docs/ESCAPES.md, made from what happened.
"""
import argparse
import os
import pty
import pwd
import re
import socket
import subprocess
import sys
import termios
import fcntl

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from judge import Expected, Run  # noqa: E402
from stage import Stage  # noqa: E402
import basics  # noqa: E402
import loosen  # noqa: E402
import same  # noqa: E402
import table  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
ENGINES, RUNNERS = ["hybrid", "kernel", "preload"], ["exec", "landlock", "bwrap", "firejail"]


class Attempt:
    def __init__(self, line):
        self.name, self.kind, self.theme, self.what = line.rstrip("\n").split("\t")


class Config:
    def __init__(self, engine, runner, user, build):
        self.engine, self.runner, self.user, self.build = engine, runner, user, build

    def __str__(self):
        return f"{self.engine}, {self.runner}, {self.user}, {self.build}"


def ids_of(user):
    entry = pwd.getpwnam(user)
    return entry.pw_uid, entry.pw_gid


def environment(stage, session):
    return {"PATH": "/usr/bin:/bin", "HOME": stage.w + "/home", "LANG": "C", "TERM": "dumb",
            "XDG_RUNTIME_DIR": stage.root + "/rt", "XDG_STATE_HOME": stage.w + "/state",
            "XDG_CONFIG_HOME": stage.root + "/outside", "ESC_SESSION": session,
            "ESC_AGENTWATCH": stage.root + "/aw/agentwatch"}


def command(stage, config, session, log):
    if config.engine == "bare":
        return []
    return [stage.root + "/aw/agentwatch", "run", "--quiet", "--mode", "enforce", "--engine", config.engine,
            "--runner", config.runner, "--policy", stage.policy, "--workspace", stage.w,
            "--session", session, "--log", log, "--"]


def take(fd):
    try:
        return os.read(fd, 65536).decode(errors="replace")
    except OSError:
        return ""
    finally:
        os.close(fd)


def on_terminal(argv, stage, env):
    """Run with a terminal of its own; its output, and what is left in its input queue."""
    master, slave = pty.openpty()
    settings = termios.tcgetattr(slave)
    settings[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(slave, termios.TCSANOW, settings)
    process = subprocess.Popen(argv, cwd=stage.w, env=env, stdin=slave, stdout=slave, stderr=slave,
                               preexec_fn=lambda: (os.setsid(), fcntl.ioctl(0, termios.TIOCSCTTY, 0)),
                               **stage.as_user())
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    os.set_blocking(slave, False)
    os.set_blocking(master, False)
    queue, text = (take(fd) for fd in (slave, master))
    return text.replace("\r\n", "\n") + f"\nin the queue: {queue!r} after {argv[-1]}\n"


def launch(stage, config, names, tries, number, patience, argv=None):
    """One run of the program, or of argv; its output, and whether it came to its end."""
    session = "esc%d" % number
    env = environment(stage, session)
    argv = command(stage, config, session, f"{stage.root}/log/{number}.jsonl") + \
        (argv or [stage.w + "/escape", stage.root, str(tries), *names])
    if any(name.startswith("tty_") for name in names):
        text = on_terminal(argv, stage, env)
        return text, "\nEND" in text, ""
    before = [socket.socket(socket.AF_INET, kind) for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM)]
    env["ESC_SOCKETS"] = " ".join(str(s.fileno()) for s in before)
    with open(stage.root + "/log/out", "wb+") as out, open(stage.root + "/log/err", "wb+") as err:
        process = subprocess.Popen(argv, cwd=stage.w, env=env, stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=err, pass_fds=[s.fileno() for s in before], **stage.as_user())
        for sock in before:
            sock.close()
        try:
            process.wait(patience)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        out.seek(0)
        err.seek(0)
        text = out.read().decode(errors="replace")
        return text, text.endswith("END\n"), err.read().decode(errors="replace")


def join_logs(stage):
    folder = stage.root + "/log"
    with open(folder + "/all", "wb") as joined:
        for name in sorted(os.listdir(folder)):
            if name.endswith(".jsonl"):
                with open(f"{folder}/{name}", "rb") as file:
                    joined.write(file.read())


def perform(attempts, bins, config, options):
    """All attempts under one configuration: (index, attempt) -> outcome."""
    uid, gid = ids_of(config.user)
    root = uid == 0
    mine = [a for a in attempts if root or "R" not in a.kind]
    stage = Stage(mine, {**bins, "escape": bins[config.build]}, uid, gid)
    try:
        together = [a.name for a in mine if "1" not in a.kind and not isinstance(a, basics.Basic)]
        alone = [a.name for a in mine if "1" in a.kind and a.name != "kill_all"]
        text = ""
        for number, name in enumerate(alone, 1):
            text += launch(stage, config, [name], options.tries, number, 40)[0] + "\n"
            stage.install()
        if any(isinstance(a, basics.Basic) for a in mine):
            script = basics.script(stage, options.bins, mine)
            text += launch(stage, config, [], options.tries, 9999, 60, ["/bin/sh", script])[0]
        more, ended, errors = launch(stage, config, together, options.tries, 0, options.patience) \
            if together else ("", True, "")
        text += more
        stage.settle()
        if any(a.name == "kill_all" for a in mine):
            text += launch(stage, config, ["kill_all"], options.tries, len(alone) + 1, 40)[0]
        join_logs(stage)
        if options.keep:
            print(text, errors, file=sys.stderr)
        run = Run(stage, text, ended, f"{stage.root}/log/all", (uid, gid))
        return {a.name: run.outcome(i, a) for i, a in enumerate(mine)}, not ended, errors
    finally:
        stage.close()


def available(bins, engine, runner):
    """None, or why this cannot be had here."""
    done = subprocess.run([bins["build"] + "/agentwatch", "run", "--quiet", "--log", "none", "--mode", "enforce",
                           "--engine", engine, "--runner", runner, "--", "true"], capture_output=True, text=True)
    return None if done.returncode == 0 else done.stderr.strip().splitlines()[-1] if done.stderr else f"status {done.returncode}"


def skipped(config, why):
    """What is not there is skipped; what is there and does not start is a failure."""
    if re.search("not (available|installed|found|usable|supported)|cannot be used", why):
        print(f"ok - {config} # SKIP {why}", flush=True)
    else:
        print(f"not ok - {config}: runs at all\n# {why}", flush=True)


def check_bare(outcomes, config, expected):
    """An attempt that fails where nothing holds it would prove nothing."""
    bad = []
    for name, outcome in outcomes.items():
        verdict, reason = expected.of(name, "bare", "bare", config.user)
        if outcome.result in ("HELD", "LOST") and verdict != "soft":
            bad.append(f"{name} does what it is meant to ({outcome.attempt.what}): {outcome.result} {outcome.detail}")
        if outcome.twin == "BROKEN" and expected.of(name, "bare", "bare", config.user, True)[0] != "refused":
            bad.append(f"{name}, where it is allowed, works: {outcome.twin_detail}")
    return bad


def report(config, outcomes, lost, errors, expected):
    wrong = []
    if config.engine == "bare":
        wrong = check_bare(outcomes, config, expected)
    else:
        for outcome in outcomes.values():
            wrong += expected.judge(outcome, config.engine, config.runner, config.user)[0]
    if lost:
        wrong.append("the run comes to its end")
    for sentence in wrong:
        print(f"not ok - {config}: {sentence}")
    if lost and errors:
        print("# " + errors.strip()[-600:].replace("\n", "\n# "))
    count = {word: sum(o.result == word for o in outcomes.values()) for word in ("HELD", "ESCAPED", "UNSUPPORTED")}
    broken = sum(o.twin == "BROKEN" for o in outcomes.values())
    if not wrong:
        print(f"ok - {config}: {count['HELD']} held, {count['ESCAPED']} not held as written down, "
              f"{count['UNSUPPORTED']} not possible here, {broken} twins refused")
    else:
        print(f"# {config}: {count}, {broken} twins broken")
    sys.stdout.flush()


def configurations(options, bins):
    for user in options.users:
        for build in options.builds:
            yield Config("bare", "bare", user, build), None
            for engine in options.engines:
                for runner in options.runners:
                    yield Config(engine, runner, user, build), available(bins, engine, runner)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--bins", required=True, help="folder of compiled programs")
    parser.add_argument("--build", required=True, help="folder of agentwatch")
    for name, default in (("engines", ENGINES), ("runners", RUNNERS), ("builds", ["glibc"])):
        parser.add_argument("--" + name, type=lambda s: s.split(","), default=default)
    parser.add_argument("--users", type=lambda s: s.split(","), default=[pwd.getpwuid(os.geteuid()).pw_name])
    parser.add_argument("--only", default="", help="attempts by regular expression")
    parser.add_argument("--tries", type=int, default=2000)
    parser.add_argument("--patience", type=int, default=0, help="seconds for one run")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--same", action="store_true", help="compare allowed calls with bare ones")
    parser.add_argument("--loosen", action="store_true", help="try policies that a workspace brings along")
    parser.add_argument("--keep", action="store_true", help="show what the program printed")
    options = parser.parse_args()
    options.patience = options.patience or 300 + options.tries // 100
    bins = {name: f"{options.bins}/{name}" for name in ("victim", "marker", "marker-dynamic", *options.builds)}
    bins["build"] = options.build
    listing = subprocess.run([bins[options.builds[0]], "--list"], capture_output=True, text=True, check=True).stdout
    attempts = [a for a in map(Attempt, listing.splitlines()) if re.search(options.only, a.name)]
    attempts += [b for b in basics.attempts(options.bins) if re.search(options.only, b.name)]
    expected = Expected(HERE + "/expected")
    if options.same:
        same.compare(lambda build: f"{options.bins}/same-{build}", options.build, configurations(options, bins),
                     ids_of, same.read_known(HERE + "/same.known"))
        return
    if options.loosen:
        loosen.try_all(options.bins + "/same-glibc", options.build, configurations(options, bins), ids_of)
        return
    results, missing = [], []
    for config, why in configurations(options, bins):
        if why:
            missing.append((config, why))
            if not options.table:
                skipped(config, why)
            continue
        outcomes, lost, errors = perform(attempts, bins, config, options)
        results.append((config, outcomes))
        if not options.table:
            report(config, outcomes, lost, errors, expected)
    if options.table:
        table.write(attempts, results, missing, expected, options.tries)


if __name__ == "__main__":
    main()
