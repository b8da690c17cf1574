# SPDX-License-Identifier: Apache-2.0
"""at_start.py: what is wrong already when a run begins: faults of table.py."""
import contextlib
import ctypes
import os
import struct
import subprocess


def limited(*words):
    """Limits of whoever starts it, which the command has too."""
    def before(session):
        session.wrap = ["prlimit", *words, *session.wrap]
    return before


def few_processes(count):
    """Room for so many processes and threads; as a user who has no others."""
    def before(session):
        user = 50000 + os.getpid() % 10000
        session.wrap = ["prlimit", f"--nproc={count}:{count}"]
        session.belongs_to(user)
    return before


def shell(words):
    def before(session):
        session.wrap = ["sh", "-c", words.format(dir=session.dir), "sh", *session.wrap]
    return before


def mounted(name, options, fill=False):
    """A file system of its own for one of the folders."""
    def before(session):
        folder = session.path(name)
        os.makedirs(folder, exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", folder], check=True)
        session.mounts.append(folder)
        if fill and "nr_inodes" in options:
            os.mkdir(os.path.join(folder, "full"))
        elif fill:
            with open(os.path.join(folder, "full"), "wb", buffering=0) as file, contextlib.suppress(OSError):
                while file.write(bytes(4096)):
                    pass
        if name == "tmp":
            session.environment["TMPDIR"] = folder
        if name == "logs":
            session.log = os.path.join(folder, "log")
    return before


def closed_error(session):
    """Standard error is a pipe that nobody reads."""
    session.wrap = ["bash", "-c", 'exec "$@" 2> >(exec true)', "bash", *session.wrap]


def no_seccomp(session):
    """A filter from outside that knows no seccomp(2), nor prctl(PR_SET_SECCOMP)."""
    def instruction(code, true, false, value):
        return struct.pack("=HBBI", code, true, false, value)
    load, equal, give = 0x20, 0x15, 0x06
    refuse, allow = 0x00050000 | 38, 0x7fff0000  # ENOSYS
    code = b"".join([instruction(load, 0, 0, 0), instruction(equal, 4, 0, 317), instruction(equal, 0, 2, 157),
                     instruction(load, 0, 0, 16), instruction(equal, 1, 0, 22), instruction(give, 0, 0, allow),
                     instruction(give, 0, 0, refuse)])

    def enter():
        libc, room = ctypes.CDLL(None), ctypes.create_string_buffer(code)
        program = ctypes.create_string_buffer(struct.pack("HxxxxxxP", len(code) // 8, ctypes.addressof(room)))
        if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
            raise OSError("no filter")
    session.prepare = enter


def rows(goes_on, logs_less, stopped, refused, either):
    """name, promises, before, root, loses, says"""
    both, none, either = (goes_on, goes_on), (refused, refused), (either, either)
    full, fixed = "No space left", "Read-only file system"
    return [
        ("start: files of 100 KB at most", (logs_less, stopped), limited("--fsize=100000:100000"), False, True,
         "File too large"),
        ("start: files of 200 bytes at most", none, limited("--fsize=200:200"), False, False, "agentwatch: "),
        *[(f"start: room for {count} processes and threads", either, few_processes(count), True, False, None)
          for count in (1, 2, 3, 4, 5, 6, 7, 8, 10, 16)],
        *[(f"start: {size} MB of address space", either, limited(f"--as={size << 20}:{size << 20}"), False, False, None)
          for size in (4, 6, 8, 12, 16, 24, 32, 40, 48, 64, 96)],
        *[(f"start: {count} descriptors", either, limited(f"--nofile={count}:{count}"), False, count < 24, None)
          for count in (3, 4, 5, 6, 8, 10, 12, 14, 16, 18, 20, 24, 28, 32)],
        *[(f"start: a stack of {size} KB", either, limited(f"--stack={size << 10}:{size << 10}"), False, False, None)
          for size in (64, 128, 256)],
        ("start: a stack without limit", both, limited("--stack=unlimited:unlimited"), False, False, None),
        ("start: no locked memory, no queued signals", both, limited("--memlock=0:0", "--sigpending=0:0"), False, False,
         None),
        ("start: standard descriptors closed", both, shell('exec "$@" <&- >&- 2>&-'), False, False, None),
        ("start: standard error full", both, shell('exec "$@" 2>/dev/full'), False, False, None),
        ("start: standard error a pipe that nobody reads", both, closed_error, False, False, None),
        ("start: working directory removed", either, shell('mkdir {dir}/x && cd {dir}/x && rmdir {dir}/x && exec "$@"'),
         False, False, None),
        ("start: log in a folder that is not there", none,
         lambda s: setattr(s, "log", s.path("no/log")), False, False, "No such file"),
        ("start: log on a read-only file system", none, mounted("logs", "ro"), True, False, fixed),
        ("start: log on a full file system", (logs_less, stopped), mounted("logs", "size=16k", True), True, True, full),
        ("start: state folder on a read-only file system", none, mounted("state", "ro"), True, False, fixed),
        ("start: state folder on a full file system", none, mounted("state", "size=16k", True), True, False, full),
        ("start: state folder without inodes", none, mounted("state", "nr_inodes=2", True), True, False, full),
        ("start: runtime folder on a read-only file system", none, mounted("run", "ro"), True, False, fixed),
        ("start: runtime folder without inodes", none, mounted("run", "nr_inodes=2", True), True, False, full),
        ("start: temporary folder on a read-only file system", both, mounted("tmp", "ro"), True, False, None),
        ("start: temporary folder on a full file system", both, mounted("tmp", "size=16k", True), True, False, None),
    ]
