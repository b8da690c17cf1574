# SPDX-License-Identifier: Apache-2.0
"""handed_down.py outside COMMAND... | inside PID READABLE DENIED [same] - where descriptors from outside lead.

Outside: hands the root directory down as descriptor 3, and a socket whose signals come to
this process as 4, and starts the command.  Inside: tries to reach the process PID by them
and the file DENIED, and to make whoever opens the file READABLE wait.  Prints what must not
have worked.  With "same", in a pid namespace of its own, a process inside has that number too.
"""
import fcntl
import os
import signal
import socket
import subprocess
import sys
import time

F_SETSIG, F_SETLEASE = 10, 1024


def outside(command):
    signal.signal(signal.SIGIO, lambda *_: None)
    near, far = socket.socketpair()
    fcntl.fcntl(near, fcntl.F_SETOWN, os.getpid())
    near, far = (fcntl.fcntl(s, fcntl.F_DUPFD, 20) for s in (near, far))
    root = fcntl.fcntl(os.open("/", os.O_RDONLY | os.O_DIRECTORY), fcntl.F_DUPFD, 30)
    for fd, at in ((root, 3), (near, 4), (far, 5)):
        os.dup2(fd, at, inheritable=True)
    pid = str(os.getpid())
    print("status", subprocess.call([word.replace("PID", pid) for word in command], close_fds=False))


def attempt(what, call):
    try:
        print(what, "->", repr(call())[:100])
    except OSError:
        pass


def opened(name, flags):
    return os.open(name, flags, dir_fd=3)


def take_number(number):
    for _ in range(100):
        if os.getpid() == number:
            return
        child = os.fork()
        if child == 0:
            time.sleep(20)
            os._exit(0)
        if child == number:
            return
    print("nobody inside is", number)


def inside(pid, readable, denied, same=""):
    if same:
        take_number(int(pid))
    for name in (denied, "proc/self/root" + denied, "proc/%s/root%s" % (pid, denied)):
        attempt("denied " + name, lambda name=name: os.read(opened(name.lstrip("/"), os.O_RDONLY), 9))
    for name in ("environ", "maps", "mem", "fd/1", "root/etc/passwd", "cwd/.", "task/" + pid + "/mem"):
        attempt("read " + name, lambda name=name: opened("proc/%s/%s" % (pid, name), os.O_RDONLY))
    for name in ("mem", "oom_score_adj", "comm", "coredump_filter"):
        attempt("write " + name, lambda name=name: opened("proc/%s/%s" % (pid, name), os.O_WRONLY))
    attempt("setting", lambda: opened("proc/sys/vm/swappiness", os.O_WRONLY))
    attempt("signal", lambda: fcntl.fcntl(4, F_SETSIG, signal.SIGKILL))
    flags = fcntl.fcntl(4, fcntl.F_GETFL) | os.O_ASYNC
    attempt("asking for signals", lambda: fcntl.fcntl(4, fcntl.F_SETFL, flags))
    os.write(5, b"x")
    fd = os.open(readable, os.O_RDONLY)
    for kind in (fcntl.F_RDLCK, fcntl.F_WRLCK):
        attempt("lease", lambda kind=kind: fcntl.fcntl(fd, F_SETLEASE, kind))
    own = os.open("own", os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.fcntl(own, F_SETLEASE, fcntl.F_WRLCK)
    print("own lease", fcntl.fcntl(own, 1025) == fcntl.F_WRLCK)
    os.close(own)
    print("tried")


if sys.argv[1] == "outside":
    outside(sys.argv[2:])
else:
    inside(*sys.argv[2:])
