# SPDX-License-Identifier: Apache-2.0
"""table.py: what goes wrong, one row a fault, and what was promised for it."""
import contextlib
import os
import signal
import subprocess
import time

import at_start
from session import children

# What a command may come to; in pairs the row that is further down holds.
GOES_ON = "the command goes on"    # it comes to its own end, and each of its calls is in the log
LOGS_LESS = "the command goes on, not all is in the log"
STOPPED = "the command is ended"   # fail closed
ENDS = "the command ends"          # either; nothing hangs or is left
REFUSED = "it does not start, and says why"
EITHER = "it goes on, or does not start and says why"
ORDER = [GOES_ON, LOGS_LESS, STOPPED, ENDS, EITHER, REFUSED]


class Fault:
    """before(session) prepares, during(session) happens while the command works, and
    prove(session) says what speaks against its having struck at all."""

    def __init__(self, name, audit, enforce, before=None, during=None, status=None, says=None,
                 leaves=(), loses=False, fails=False, root=False, kinds=None, slow=False, alone=False,
                 prove=None):
        self.name, self.promise = name, {"audit": audit, "enforce": enforce}
        self.before, self.during = before, during
        self.status, self.says, self.leaves = status, says, set(leaves)
        self.loses, self.fails = loses, fails  # events (a set: in these modes and engines); calls, in audit too
        self.root, self.kinds, self.slow, self.alone = root, kinds, slow, alone
        self.prove = prove


def kill(pid, number):
    try:
        os.kill(pid, number)
    except OSError:
        pass


def limit(which, value):
    """A resource limit of the service, from outside; of descriptors, so many more than it has, 0: none."""
    def during(session):
        held = len(os.listdir(f"/proc/{session.service}/fd")) if value else 0
        number = held + value if which == "nofile" else value
        subprocess.run(["prlimit", f"--pid={session.service}", f"--{which}={number}:{number}"], check=True)
        time.sleep(0.2)
    return during


def without_front(limit_it):
    """The service, which has to end the command in enforce, by itself."""
    def during(session):
        limit_it(session)
        kill(session.front, signal.SIGKILL)
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
    session.mounts.append(session.path("small"))


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


def renamed(session):
    os.rename(session.log, session.log + ".1")
    session.log += ".1"


def pipe(session):
    """The log is a pipe, which somebody reads for a while."""
    session.log = session.path("pipe")
    os.mkfifo(session.log)
    session.reader = subprocess.Popen(["cat", session.log], stdout=subprocess.DEVNULL)


def reader_killed(session):
    session.reader.kill()
    session.reader.wait()


def full_group(session):
    """A control group in which there is no memory left, for the service."""
    group = memory_group(session, 4096)
    with open(f"{group}/cgroup.procs", "w", encoding="ascii") as file:
        file.write(str(session.service))


def memory_group(session, size):
    group = f"{MEMORY}/aw-fault.{os.getpid()}.{len(session.groups)}"
    os.mkdir(group)
    session.groups.append(group)
    with open(f"{group}/memory.limit_in_bytes", "w", encoding="ascii") as file:
        file.write(str(size))
    return group


def small_group(session):
    """The whole run in one, and the command eats it up."""
    group = memory_group(session, 64 << 20)
    session.habits.append("eat")

    def enter():
        with open(f"{group}/cgroup.procs", "w", encoding="ascii") as file:
            file.write("0")
    session.prepare = enter


def read_only(session):
    if os.path.dirname(session.log) == session.dir:  # not /dev
        os.chmod(session.dir, 0o500)
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
    """A clock of its own, which is moved meanwhile."""
    session.clock = session.path("clock")
    with open(session.clock, "w", encoding="ascii") as file:
        file.write("+0\n")
    session.environment.update(FAKETIME_TIMESTAMP_FILE=session.clock, FAKETIME_NO_CACHE="1",
                               DONT_FAKE_MONOTONIC="1", FAKETIME_DONT_FAKE_MONOTONIC="1",
                               LD_PRELOAD=FAKETIME)


MEMORY = "/sys/fs/cgroup/memory"
FAKETIME = "/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1"


def clock_set(*offsets):
    def during(session):
        for offset in offsets:
            with open(session.clock, "w", encoding="ascii") as file:
                file.write(f"{offset:+}\n")
            time.sleep(0.05)
    return during


# --- proofs ---

def clock_moved(session):
    days = [event["ts"][:13] for event in session.events() or []]  # to the hour
    return None if len(set(days)) > 1 else "no line of the log has the other time"


def without_ring(session):
    report = session.report()
    if session.engine == "kernel" or report.get("bare") or report.get("failed") or not report.get("finished"):
        return None
    if any(e["event"] == "warning" and e["kind"] == "limits" for e in session.events() or []):
        return None  # it has noticed by itself
    return "no program had the library and was left without a ring"


def was_killed(session):
    return None if "the supervisor was killed" in session.said() else "the service was not killed"


def was_refused(session):
    return None if session.report().get("refused_files") else "no file was too large"


def wall_killed(session):
    for child in children(session.service):
        kill(child, signal.SIGKILL)


def command_killed(session):
    for pid in session.left_running():
        with contextlib.suppress(FileNotFoundError), open(f"/proc/{pid}/comm", encoding="ascii") as file:
            if file.read().strip() == "work":
                kill(pid, signal.SIGKILL)


HYBRID = [("audit", "hybrid", "exec"), ("enforce", "hybrid", "exec")]
SESSIONS = HYBRID + [("audit", "kernel", "exec"), ("audit", "preload", "exec"), ("enforce", "kernel", "exec"),
                     ("enforce", "hybrid", "landlock")]
BWRAP = [("audit", "hybrid", "bwrap"), ("enforce", "hybrid", "bwrap")]
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
    Fault("log: larger than the service may make it", LOGS_LESS, STOPPED, during=limit("fsize", 40000), loses=True,
          root=True, says={"audit": "File too large", "enforce": "File too large"}),
    Fault("log: renamed", GOES_ON, GOES_ON, during=renamed, alone=True),
    Fault("log: a pipe, whose reader is killed", LOGS_LESS, STOPPED, before=pipe, during=reader_killed, loses=True,
          alone=True, says={"audit": "Broken pipe", "enforce": "Broken pipe"}),
    Fault("log: deleted", LOGS_LESS, STOPPED, during=remove("log"), loses=True,
          says={"audit": "was deleted", "enforce": "was deleted"}),
    Fault("log: its folder and the session's read-only", GOES_ON, GOES_ON, during=read_only),
    Fault("runtime folder removed", GOES_ON, GOES_ON, during=remove("run"), loses={"preload"}),
    Fault("session's folder removed", GOES_ON, GOES_ON, during=remove("state")),
    Fault("policy: broken, and read again", GOES_ON, GOES_ON, during=broken_reload,
          says={"audit": "the old policy stays", "enforce": "the old policy stays"}),
    Fault("policy: read again and again", GOES_ON, GOES_ON, during=reload),
    Fault("memory: none left for the service", GOES_ON, ENDS, during=limit("as", 4 << 20), prove=without_ring, root=True,
          loses={"preload"}),
    Fault("memory: none left in the service's control group", LOGS_LESS, STOPPED, during=full_group, loses=True,
          root=True, leaves={"socket"}, prove=was_killed),
    Fault("memory: none left in the session's control group", STOPPED, STOPPED, before=small_group, root=True,
          status={"audit": KILLED, "enforce": KILLED}),
    Fault("memory: none left for the shim and its program", GOES_ON, GOES_ON, before=habit("little-memory"),
          prove=without_ring, loses={"preload"}),
    Fault("memory: too little for new programs and the shim in them", GOES_ON, GOES_ON, before=habit("tight"),
          prove=without_ring, loses={"preload"}, alone=True),
    Fault("files: larger than the program may make them", GOES_ON, GOES_ON, before=habit("small-files"),
          prove=was_refused),
    Fault("descriptors: few left for the service", GOES_ON, ENDS, during=limit("nofile", 8), root=True),
    Fault("descriptors: none left for the service", LOGS_LESS, ENDS, during=limit("nofile", 0), loses=True,
          kinds=HYBRID + [("audit", "preload", "exec")], prove=without_ring, root=True),
    *[Fault(f"{name} for the service, and the front is killed", LOGS_LESS, STOPPED, loses=True, alone=True,
            during=without_front(limit(which, value)), kinds=HYBRID, root=True, status={"audit": -9, "enforce": -9})
      for name, which, value in (("memory: none left", "as", 4 << 20), ("descriptors: none at all", "nofile", 0),
                                 ("descriptors: none free", "nofile", -4))],
    Fault("descriptors: none left for the program", GOES_ON, GOES_ON, before=habit("few-files"), fails=True,
          loses={"preload"}),
    Fault("clock: put back by an hour", GOES_ON, GOES_ON, before=clock, during=clock_set(-3600), prove=clock_moved),
    Fault("clock: put forward by a year", GOES_ON, GOES_ON, before=clock, during=clock_set(365 * 86400),
          prove=clock_moved),
    Fault("clock: forward, back and forward again", GOES_ON, GOES_ON, before=clock, prove=clock_moved,
          during=clock_set(86400, -86400, 7200, -7200, 3600), alone=True),
    Fault("ring: scribbled over by its program", LOGS_LESS, GOES_ON, before=habit("scribble"), loses={"audit"}),
    Fault("control socket: 10,000 connections with garbage", GOES_ON, GOES_ON, slow=True,
          before=habit("garbage={run}/agentwatch/s.control")),
    Fault("hello: said 10,000 times", GOES_ON, GOES_ON, before=habit("hellos"), slow=True),
    Fault("the command: SIGKILL", STOPPED, STOPPED, during=command_killed,
          status={"audit": KILLED, "enforce": KILLED}),
    Fault("bwrap: SIGKILL", STOPPED, STOPPED, during=wall_killed,
          kinds=BWRAP,
          status={"audit": KILLED, "enforce": KILLED}),
    *[Fault(name, *promise, before=before, alone=True, root=root, loses=loses, fails=True,
            says=says and {"audit": says, "enforce": says})
      for name, promise, before, root, loses, says in at_start.rows(GOES_ON, LOGS_LESS, STOPPED, REFUSED, EITHER)],
    Fault("start: without seccomp", REFUSED, REFUSED, before=at_start.no_seccomp, alone=True,
          kinds=[kind for kind in SESSIONS if kind[1] != "preload"],
          says={"audit": "cannot be used here: seccomp", "enforce": "cannot be used here: seccomp"}),
    Fault("start: without seccomp, engine auto", LOGS_LESS, ENDS, before=at_start.no_seccomp, alone=True, loses=True,
          kinds=[("audit", "auto", "exec")]),
]
