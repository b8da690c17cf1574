# SPDX-License-Identifier: Apache-2.0
"""session.py: one watched run in which something goes wrong, and what is left of it."""
import glob
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
AGENTWATCH = os.path.abspath(os.environ.get("AGENTWATCH", os.path.join(ROOT, "build/agentwatch")))
BUILD = os.environ.get("AW_TEST_BUILD", os.path.join(ROOT, "build/tests"))
WORK = os.path.join(BUILD, "faults/work")
KILLPOINT = os.path.join(BUILD, "faults/killpoint")
NOMEM = os.path.join(BUILD, "faults/nomem.so")
WORKED = 11  # status of a command that has come to its end

POLICY = """version: 1
filesystem: {default: allow, deny: ["%(dir)s/d/secret"]}
network: {default: allow}
"""


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


def wait_for(seconds, condition):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            return False
        time.sleep(0.01)
    return True


class Session:
    """A run of WORK in a folder of its own.  kind is (mode, engine, runner)."""

    def __init__(self, kind, milliseconds=500):
        self.mode, self.engine, self.runner = kind
        self.milliseconds = milliseconds
        self.dir = tempfile.mkdtemp(prefix="aw-fault.")
        os.chmod(self.dir, 0o755)
        self.data = os.path.join(self.dir, "d")
        for name in ("state", "run", "config", "d"):
            os.mkdir(os.path.join(self.dir, name), 0o700)
        for name in ("open", "raw", "forked", "secret"):
            open(os.path.join(self.data, name), "w", encoding="ascii").close()
        self.policy = os.path.join(self.dir, "policy.yaml")
        with open(self.policy, "w", encoding="ascii") as file:
            file.write(POLICY % {"dir": self.dir})
        self.log = os.path.join(self.dir, "log")
        self.environment = {**{k: v for k, v in os.environ.items() if not k.startswith("AGENTWATCH_")},
                            "XDG_STATE_HOME": self.path("state"), "XDG_RUNTIME_DIR": self.path("run"),
                            "XDG_CONFIG_HOME": self.path("config")}
        self.wrap, self.habits = [], []
        self.prepare = None     # called in the child that becomes the front
        self.mounts = []        # to be taken away again
        self.groups = []        # control groups, likewise
        self.front = self.service = self.errors = None
        self.status = None
        self.hung = False
        self.may_leave = set()  # what this fault makes it leave behind
        self.may_fail = False   # its calls may, in audit too

    def path(self, name):
        return os.path.join(self.dir, name)

    def argv(self):
        return [*self.wrap, AGENTWATCH, "run", "--quiet", "--session", "s", "--mode", self.mode, "--engine", self.engine,
                "--runner", self.runner, "--policy", self.policy, "--workspace", self.data, "--log", self.log,
                "--", WORK, self.data, str(self.milliseconds), *self.habits]

    def start(self, once=False):
        """Until it is at work; once: it may be too short to be seen at that."""
        self.errors = open(self.path("err"), "w+", encoding="utf-8")
        self.process = subprocess.Popen(self.argv(), env=self.environment, stdin=subprocess.DEVNULL,
                                        stdout=self.errors, stderr=self.errors, cwd=self.data,
                                        process_group=0, preexec_fn=self.prepare)
        self.front = self.process.pid
        # the service is the front's only child once the command runs
        if not once and wait_for(10, lambda: self.works() or self.process.poll() is not None) and self.works():
            self.service = (children(self.front) or [None])[0]
        return self.service is not None

    def works(self):
        return self.report().get("opened", 0) > 3

    def report(self):
        try:
            with open(os.path.join(self.data, "report"), encoding="ascii") as file:
                return json.loads(file.read() or "{}")
        except (OSError, ValueError):
            return {}

    def wait(self, seconds=15):
        """The end, and of all that descends from it."""
        try:
            self.status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.hung = True
        if not wait_for(3 + self.milliseconds / 1000, lambda: not self.left_running()):
            self.hung = self.hung or bool(self.left_running())
        return self.status

    def left_running(self):
        """Processes that have our folder in their command line."""
        mark, found = self.dir.encode(), []
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == os.getpid():
                continue
            try:
                with open(f"/proc/{name}/cmdline", "rb") as file:
                    if mark in file.read():
                        with open(f"/proc/{name}/stat", encoding="latin-1") as stat:
                            if stat.read().rsplit(")", 1)[1].split()[0] not in "ZX":
                                found.append(int(name))
            except OSError:
                continue
        return found

    def said(self):
        with open(self.path("err"), encoding="utf-8", errors="replace") as file:
            return file.read()

    def events(self, path=None):
        """The log's lines; a last one that is cut short is left out and told."""
        path = path or self.log
        if not os.path.isfile(path):
            return None
        with open(path, "rb") as file:
            lines = file.read().split(b"\n")
        self.torn = bool(lines.pop())
        return [json.loads(line) for line in lines]

    def leftovers(self):
        """What a run should have taken with it."""
        found = [f"socket {os.path.basename(p)}" for p in glob.glob(self.path("run") + "/**", recursive=True)
                 if os.path.lexists(p) and not os.path.isdir(p)]
        found += [f"file {os.path.basename(p)}" for p in glob.glob(self.path("state") + "/**/.*", recursive=True)]
        found += [f"process {pid}" for pid in self.left_running()]
        return [what for what in found if what.split()[0] not in self.may_leave]

    def problems(self, complete=True):
        """What must hold whatever happens; complete: each call is in the log."""
        found, report = [], self.report()
        if self.hung:
            found.append("something still ran in the end")
        if self.mode == "enforce" and report.get("leaked"):
            found.append(f"the secret was read {report['leaked']} times")
        if self.mode == "audit" and report.get("failed") and not self.may_fail:
            found.append(f"{report['failed']} allowed calls failed with {report['errno']}")
        found += [f"left behind: {what}" for what in self.leftovers()]
        try:
            events = self.events()
        except ValueError as error:
            return found + [f"the log is not JSON: {error}"]
        if events is not None and [e["seq"] for e in events] != list(range(1, len(events) + 1)):
            found.append("seq has gaps")
        if complete and events is not None:
            found += self.lost(events, report)
        return found

    def lost(self, events, report):
        found = []
        for name, key in (("open", "opened"), ("raw", "raw"), ("forked", "forked")):
            path = os.path.join(self.data, name)
            logged = sum(e.get("path") == path for e in events)
            if logged < report.get(key, 0) and not (self.engine in ("preload", "auto") and name == "raw"):
                found.append(f"{report[key]} calls on {name}, {logged} in the log")
        return found

    def belongs_to(self, user):
        """All of it, and the one who runs it; their processes are counted apart from anybody's."""
        subprocess.run(["chown", "-R", f"{user}:{user}", self.dir], check=True)
        self.environment["HOME"] = self.dir
        self.wrap = ["setpriv", f"--reuid={user}", f"--regid={user}", "--clear-groups", *self.wrap]

    def end(self):
        for pid in self.left_running():
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        if self.errors:
            self.errors.close()
        for folder in self.mounts:
            subprocess.run(["umount", "-l", folder], check=False)
        for group in self.groups:
            try:
                os.rmdir(group)
            except OSError:
                pass
        subprocess.run(["chmod", "-R", "u+rwX", self.dir], check=False)
        shutil.rmtree(self.dir, ignore_errors=True)
