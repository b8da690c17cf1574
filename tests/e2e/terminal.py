#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""terminal.py AGENTWATCH DIR - drive `agentwatch run` on a pseudo terminal, as a person would."""
import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

AW, DIR = sys.argv[1:3]
RUN = [AW, "run", "--quiet", "--log", f"{DIR}/tty.jsonl", "--"]


class Terminal:
    """A program that leads a session on a terminal of its own."""

    def __init__(self, argv):
        self.seen = b""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.environ.update(PS1="PROMPT$ ", TERM="dumb", HISTFILE="/dev/null")
            os.execvp(argv[0], argv)
        self.resize(40, 100)

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, text):
        os.write(self.fd, text.encode())

    def expect(self, pattern, seconds=5):
        """Wait for a match in what has come since the last one."""
        until = time.time() + seconds
        while True:
            found = re.search(pattern.encode(), self.seen)
            if found:
                self.seen = self.seen[found.end():]
                return True
            left = until - time.time()
            if left <= 0 or not select.select([self.fd], [], [], left)[0]:
                return False
            try:
                more = os.read(self.fd, 65536)
            except OSError:
                more = b""
            if not more:
                return bool(re.search(pattern.encode(), self.seen))
            self.seen += more

    def end(self):
        """The wait status, killing what does not end."""
        for _ in range(100):
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.fd)
                return os.waitstatus_to_exitcode(status)
            if select.select([self.fd], [], [], 0.05)[0]:
                try:
                    self.seen += os.read(self.fd, 65536)
                except OSError:
                    time.sleep(0.05)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.fd)
        return "it did not end"


def check(good, sentence, *notes):
    print(f"{'ok' if good else 'not ok'} - {sentence}")
    if not good:
        for line in notes:
            print("# " + str(line).replace("\n", " "))


def capture(prefix):
    bash = Terminal(["bash", "--norc", "-i"])
    bash.expect(r"PROMPT\$ ")
    bash.type(" ".join(prefix) + f" python3 {DIR}/facts.py > {DIR}/facts.out < /dev/tty 2>&1; echo DO''NE\n")
    bash.expect("DONE", 10)
    bash.type("exit\n")
    bash.end()
    return open(f"{DIR}/facts.out").read()


def terminal_stays():
    open(f"{DIR}/facts.py", "w").write(
        "import os,sys,termios,signal\n"
        "print([os.isatty(n) for n in (0,2)], os.ttyname(0)[:9], os.getpgrp()==os.tcgetpgrp(0),\n"
        " open('/dev/tty').isatty(), tuple(os.get_terminal_size(0)), termios.tcgetattr(0)[:4],\n"
        " sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),\n"
        " [str(signal.getsignal(n)) for n in range(1,32) if n not in (9,19)])\n")
    bare, watched = capture([]), capture(RUN)
    check(bare == watched, "a terminal stays a terminal, in the foreground, with its settings",
          "bare: " + bare, "watched: " + watched)


def interrupt():
    term = Terminal(RUN + ["python3", "-c",
        "import time\ntry:\n print('up', flush=True)\n time.sleep(20)\nexcept KeyboardInterrupt:\n print('got it')\n raise SystemExit(9)"])
    check(term.expect("up", 10), "a command runs on a terminal", term.seen)
    term.type("\x03")
    check(term.expect("got it"), "Ctrl-C reaches it", term.seen)
    status = term.end()
    check(status == 9, "and its own status comes back", status)

    term = Terminal(RUN + ["sh", "-c", "echo up; sleep 20"])
    term.expect("up", 10)
    time.sleep(0.2)
    term.type("\x03")
    status = term.end()
    check(status in (130, -2), "a command that dies of Ctrl-C gives 130", status)

    term = Terminal(RUN + ["sh", "-c", "trap 'echo once' INT; echo up; sleep 0.7; sleep 0.7; echo over"])
    term.expect("up", 10)
    time.sleep(0.2)
    term.type("\x03")
    term.expect("over", 6)
    term.end()
    check(term.seen.count(b"once") <= 1, "Ctrl-C arrives once, not twice", term.seen)


def stop_and_continue():
    bash = Terminal(["bash", "--norc", "-i"])
    bash.expect(r"PROMPT\$ ")
    bash.type(" ".join(RUN) + " sh -c 'echo u''p; while :; do sleep 0.1; done'\n")
    check(bash.expect("up", 10), "a command runs from an interactive shell", bash.seen)
    time.sleep(0.2)
    bash.type("\x1a")
    check(bash.expect("Stopped", 5), "Ctrl-Z stops it and the shell is back", bash.seen)
    bash.type("jobs -l; echo MA''RK\n")
    check(bash.expect("MARK"), "the shell answers meanwhile", bash.seen)
    bash.type("fg\n")
    bash.expect("run")
    time.sleep(0.3)
    bash.type("\x03")
    check(bash.expect(r"PROMPT\$ ", 5), "fg continues it, and Ctrl-C then ends it", bash.seen)
    bash.type("echo STATUS $?\n")
    check(bash.expect(r"STATUS 130"), "with status 130", bash.seen)
    bash.type(" ".join(RUN) + " sleep 0.3 & wait; echo BACK''GROUND $?\n")
    check(bash.expect("BACKGROUND 0", 6), "in the background it works as well", bash.seen)
    bash.type(" ".join(RUN) + " cat &\nsleep 0.5; jobs; echo LIS''TED\n")
    check(bash.expect("Stopped", 4), "reading the terminal from the background stops it", bash.seen)
    bash.type("kill %%; kill -CONT %%; wait; exit\n")
    bash.end()


def window_size():
    code = ("import os,signal,time\n"
            "signal.signal(signal.SIGWINCH, lambda *a: print('SIZE', *os.get_terminal_size(0), flush=True))\n"
            "print('up', *os.get_terminal_size(0), flush=True)\n"
            "end=time.time()+5\n"
            "while time.time()<end: time.sleep(0.1)\n")
    term = Terminal(RUN + ["python3", "-c", code])
    check(term.expect("up 100 40", 10), "the window size is the terminal's", term.seen)
    term.resize(50, 132)
    check(term.expect("SIZE 132 50"), "a new size is told to the command", term.seen)
    term.type("\x03")
    term.end()


def hang_up():
    term = Terminal(RUN + ["sh", "-c", f"trap 'echo hup > {DIR}/hup; exit' HUP; echo up; while :; do sleep 0.1; done"])
    term.expect("up", 10)
    time.sleep(0.3)
    os.close(term.fd)
    for _ in range(60):
        if os.path.exists(f"{DIR}/hup"):
            break
        time.sleep(0.05)
    check(os.path.exists(f"{DIR}/hup"), "when the terminal goes away the command gets SIGHUP")
    for _ in range(60):
        ended, _status = os.waitpid(term.pid, os.WNOHANG)
        if ended:
            break
        time.sleep(0.05)
    check(ended, "and agentwatch ends with it")
    if not ended:
        os.kill(term.pid, signal.SIGKILL)
        os.waitpid(term.pid, 0)


for test in (terminal_stays, interrupt, stop_and_continue, window_size, hang_up):
    try:
        test()
    except Exception as problem:  # a broken terminal must not hide the tests behind it
        check(False, test.__name__.replace("_", " "), repr(problem))
