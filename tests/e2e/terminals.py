# SPDX-License-Identifier: Apache-2.0
"""terminals.py AGENTWATCH POLICY RUNNER ENGINE MODE - whose terminal can be opened by its name.

Outside: two ptys, one of which the session begins with.  Inside: each is opened by its
path, and so is one that the session makes.  Prints a line for each.
"""
import os
import pty
import subprocess
import sys

INSIDE = r"""
import errno, os, pty, subprocess, sys
def attempt(what, path, flags=os.O_RDWR | os.O_NOCTTY):
    try:
        os.close(os.open(path, flags)); print(what, "opens")
    except OSError as e: print(what, errno.errorcode[e.errno])
foreign, begun = sys.argv[1:3]
attempt("foreign", foreign)
attempt("foreign for reading", foreign, os.O_RDONLY | os.O_NOCTTY)
attempt("begun with", begun)
master, slave = pty.openpty()
name = os.ttyname(slave)
os.close(slave)
attempt("made inside", name)
pid = os.fork()
if pid == 0:
    os.setsid()
    os.close(master)
    attempt("begun with, without a controlling one", begun)
    attempt("made by the parent", name)
    sys.stdout.flush()
    os._exit(0)
os.waitpid(pid, 0)
os.close(master)
print("stat", os.stat(foreign).st_mode != 0)
"""


def main():
    agentwatch, policy, runner, engine, mode = sys.argv[1:]
    foreign, foreign_slave = pty.openpty()
    begun, begun_slave = pty.openpty()
    names = os.ttyname(foreign_slave), os.ttyname(begun_slave)
    command = [agentwatch, "run", "--quiet", "--policy", policy, "--runner", runner,
               "--engine", engine, "--mode", mode, "--log", os.environ["LOG"], "--",
               sys.executable, "-c", INSIDE, *names]
    watched = subprocess.run(command, stdin=begun_slave, stdout=subprocess.PIPE, check=False)
    sys.stdout.write(watched.stdout.decode())


main()
