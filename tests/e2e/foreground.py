# SPDX-License-Identifier: Apache-2.0
"""foreground.py COMMAND... - a terminal whose foreground program is not of the session.

The command runs in the background on a new terminal, asks for signals when there is
something to read there, and something is typed.  Prints what became of the program in the
foreground, which did not ask for any.
"""
import fcntl
import os
import pty
import signal
import sys
import termios
import time

INSIDE = """
import fcntl, os, signal, time
signal.signal(signal.SIGIO, lambda *_: open("came", "w").close())
try:
    fcntl.fcntl(0, fcntl.F_SETFL, fcntl.fcntl(0, fcntl.F_GETFL) | os.O_ASYNC)
except PermissionError:
    open("refused", "w").close()
open("asked", "w").close()
time.sleep(2)
"""


def in_background(slave, command):
    os.setpgid(0, 0)
    os.dup2(slave, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execvp(command[0], command)


def on_terminal(name, command):
    os.setsid()
    slave = os.open(name, os.O_RDWR)
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    victim = os.fork()
    if victim == 0:
        os.setpgid(0, 0)
        time.sleep(60)
        os._exit(0)
    time.sleep(0.2)
    os.tcsetpgrp(slave, victim)
    agent = os.fork()
    if agent == 0:
        in_background(slave, command)
    os.waitpid(agent, 0)
    ended = os.waitpid(victim, os.WNOHANG)[0] == victim
    if not ended:
        os.kill(victim, signal.SIGKILL)
    print("the foreground", "was killed" if ended else "is there")


def main():
    master, slave = pty.openpty()
    name = os.ttyname(slave)
    child = os.fork()
    if child == 0:
        on_terminal(name, sys.argv[1:] + [sys.executable, "-c", INSIDE])
        sys.stdout.flush()
        os._exit(0)
    deadline = time.monotonic() + 30
    while not os.path.exists("asked") and time.monotonic() < deadline:
        time.sleep(0.05)
    time.sleep(0.3)
    os.write(master, b"hello\n")
    os.waitpid(child, 0)
    print("the signal", "was refused" if os.path.exists("refused") else
          "came" if os.path.exists("came") else "did not come")


main()
