# SPDX-License-Identifier: Apache-2.0
"""table.py: what goes wrong, one row a fault, and what was promised for it."""
import os
import signal
import subprocess
import time

from session import AGENTWATCH, WORKED, children, wait_for

# What a command may come to; in pairs the row that is further down holds.
GOES_ON = "the command goes on"    # it comes to its own end, and each of its calls is in the log
LOGS_LESS = "the command goes on, not all is in the log"
STOPPED = "the command is ended"   # fail closed
ENDS = "the command ends"          # either; nothing hangs or is left
ORDER = [GOES_ON, LOGS_LESS, STOPPED, ENDS]


class Fault:
    """before(session) prepares, during(session) happens while the command works."""

    def __init__(self, name, audit, enforce, before=None, during=None, status=None, says=None,
                 leaves=(), loses=False, fails=False, root=False, kinds=None, slow=False, alone=False):
        self.name, self.promise = name, {"audit": audit, "enforce": enforce}
        self.before, self.during = before, during
        self.status, self.says, self.leaves = status, says, set(leaves)
        self.loses, self.fails = loses, fails  # events; calls, in audit too
        self.root, self.kinds, self.slow, self.alone = root, kinds, slow, alone


def kill(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass


def limit(which, value):
    """A resource limit of the service, from outside."""
    def during(session):
        with open(f"/proc/{session.service}/statm", encoding="ascii") as file:
            pages = int(file.read().split()[0])
        held = len(os.listdir(f"/proc/{session.service}/fd"))
        number = {"as": pages * 4096 + value, "nofile": held + value}[which]
        subprocess.run(["prlimit", f"--pid={session.service}", f"--{which}={number}:{number}"], check=True)
        time.sleep(0.2)
    return during


def habit(*words):
    def before(session):
        session.habits += [word.format(run=session.path("run")) for word in words]
    return before


def log_to(path):
    def before(session):
        session.log = path
    return before


def small_disk(session):
    """A file system with room for the session and little more."""
    os.mkdir(session.path("small"))
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "none", session.path("small")], check=True)
    session.log = session.path("small/log")
    session.unmount = session.path("small")


def more_room(session):
    time.sleep(0.2)
    subprocess.run(["mount", "-o", "remount,size=64m", session.path("small")], check=True)


def remove(name):
    def during(session):
        path = session.path(name)
        subprocess.run(["rm", "-rf", path], check=True)
    return during


def stop_and_continue(who):
    def during(session):
        pid = getattr(session, who)
        kill(pid, signal.SIGSTOP)
        time.sleep(0.4)
        kill(pid, signal.SIGCONT)
    return during


def signals(who, numbers):
    def during(session):
        for number in numbers:
            kill(getattr(session, who), number)
    return during


def read_only(session):
    os.chmod(os.path.dirname(session.log), 0o500)
    os.chmod(session.path("state/agentwatch/sessions/s"), 0o500)


def broken_reload(session):
    with open(session.policy, "w", encoding="ascii") as file:
        file.write("version: 1\nfilesystem: [nonsense\n")
    for _ in range(5):
        kill(session.front, signal.SIGHUP)
        time.sleep(0.02)


def reload(session):
    for _ in range(5):
        kill(session.front, signal.SIGHUP)
        time.sleep(0.02)


def clock(session):
    """A clock of its own, put back by an hour meanwhile."""
    session.clock = session.path("clock")
    with open(session.clock, "w", encoding="ascii") as file:
        file.write("+0\n")
    session.environment.update(FAKETIME_TIMESTAMP_FILE=session.clock, FAKETIME_NO_CACHE="1",
                               DONT_FAKE_MONOTONIC="1", FAKETIME_DONT_FAKE_MONOTONIC="1",
                               LD_PRELOAD=FAKETIME)


FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"


def clock_back(session):
    with open(session.clock, "w", encoding="ascii") as file:
        file.write("-3600\n")


def wall_killed(session):
    for child in children(session.service):
        kill(child, signal.SIGKILL)


def command_killed(session):
    for pid in session.left_running():
        with open(f"/proc/{pid}/comm", encoding="ascii") as file:
            if file.read().strip() == "work":
                kill(pid, signal.SIGKILL)


HYBRID = [("audit", "hybrid", "exec"), ("enforce", "hybrid", "exec")]
# All that can be sent to the service are blocked there, but for two, and SIGUSR2, which means nothing.
HARMLESS = [n for n in range(1, 65) if n not in (signal.SIGKILL, signal.SIGSTOP, 32, 33)]
KILLED = 128 + signal.SIGKILL
AUDIT_SAYS = "goes on without being watched"
ENFORCE_SAYS = "the command is killed too"

FAULTS = [
    Fault("nothing", GOES_ON, GOES_ON),
    Fault("service: every signal but SIGKILL and SIGSTOP", GOES_ON, GOES_ON, during=signals("service", HARMLESS)),
    Fault("service: SIGKILL", LOGS_LESS, STOPPED, during=signals("service", [signal.SIGKILL]),
          says={"audit": AUDIT_SAYS, "enforce": ENFORCE_SAYS}, leaves={"socket"}, loses=True),
    Fault("service: stopped and continued", GOES_ON, GOES_ON, during=stop_and_continue("service")),
    *[Fault(f"front: {name}", GOES_ON, STOPPED, during=signals("front", [number]),
            status={"audit": -number, "enforce": -number})
      for name, number in (("SIGKILL", signal.SIGKILL), ("SIGSEGV", signal.SIGSEGV), ("SIGABRT", signal.SIGABRT),
                           ("SIGBUS", signal.SIGBUS))],
    *[Fault(f"front: {name}", STOPPED, STOPPED, during=signals("front", [number]),
            status={"audit": 128 + number, "enforce": 128 + number})
      for name, number in (("SIGTERM", signal.SIGTERM), ("SIGINT", signal.SIGINT), ("SIGQUIT", signal.SIGQUIT),
                           ("SIGUSR1", signal.SIGUSR1), ("SIGALRM", signal.SIGALRM))],
    Fault("front: stopped and continued", GOES_ON, GOES_ON, during=stop_and_continue("front")),
    Fault("front and service: SIGKILL at once", ENDS, ENDS, alone=True, leaves={"socket"}, loses=True, fails=True,
          during=lambda s: (kill(s.front, signal.SIGKILL), kill(s.service, signal.SIGKILL))),
    Fault("log: the disk is full", LOGS_LESS, STOPPED, before=small_disk, loses=True, root=True,
          says={"audit": "No space left", "enforce": "No space left"}),
    Fault("log: the disk is full, and has room again", GOES_ON, STOPPED, before=small_disk, during=more_room, root=True,
          loses={"enforce"}, says={"audit": "No space left", "enforce": "No space left"}),
    Fault("log: /dev/full", LOGS_LESS, STOPPED, before=log_to("/dev/full"), loses=True,
          says={"audit": "No space left", "enforce": "No space left"}),
    Fault("log: deleted", LOGS_LESS, STOPPED, during=remove("log"), loses=True,
          says={"audit": "was deleted", "enforce": "was deleted"}),
    Fault("log: its folder and the session's read-only", GOES_ON, GOES_ON, during=read_only),
    Fault("runtime folder removed", GOES_ON, GOES_ON, during=remove("run")),
    Fault("session's folder removed", GOES_ON, GOES_ON, during=remove("state")),
    Fault("policy: broken, and read again", GOES_ON, GOES_ON, during=broken_reload,
          says={"audit": "the old policy stays", "enforce": "the old policy stays"}),
    Fault("policy: read again and again", GOES_ON, GOES_ON, during=reload),
    Fault("memory: none left for the service", GOES_ON, ENDS, during=limit("as", 0)),
    Fault("memory: none left for the shim and its program", GOES_ON, GOES_ON, before=habit("little-memory")),
    Fault("descriptors: few left for the service", GOES_ON, ENDS, during=limit("nofile", 8)),
    Fault("descriptors: none left for the service", LOGS_LESS, ENDS, during=limit("nofile", 0), loses=True, kinds=HYBRID),
    Fault("descriptors: none left for the program", GOES_ON, GOES_ON, before=habit("few-files"), fails=True),
    Fault("clock: put back by an hour", GOES_ON, GOES_ON, before=clock, during=clock_back),
    Fault("ring: scribbled over by its program", LOGS_LESS, GOES_ON, before=habit("scribble"), loses={"audit"}),
    Fault("control socket: 10,000 connections with garbage", GOES_ON, GOES_ON, slow=True,
          before=habit("garbage={run}/agentwatch/s.control")),
    Fault("hello: said 10,000 times", GOES_ON, GOES_ON, before=habit("hellos"), slow=True),
    Fault("the command: SIGKILL", STOPPED, STOPPED, during=command_killed,
          status={"audit": KILLED, "enforce": KILLED}),
    Fault("bwrap: SIGKILL", STOPPED, STOPPED, during=wall_killed,
          kinds=[("audit", "hybrid", "bwrap"), ("enforce", "hybrid", "bwrap")],
          status={"audit": KILLED, "enforce": KILLED}),
]
