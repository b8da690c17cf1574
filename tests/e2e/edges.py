#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""edges.py DIR - the largest and the oddest that a program may do with files, a line each.

Lines that begin with "deep" are about a folder whose name is longer than anybody may say.
"""
import os
import resource
import shutil
import socket
import sys

LONGEST = 4095


def say(what, call):
    try:
        call()
        print(what, "ok")
    except OSError as error:
        print(what, os.strerror(error.errno))


def make(path):
    os.close(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600))


def many_descriptors():
    """10,000 of them, or as many as there may be, and the same calls as ever."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    count = min(10000, hard - 64)
    resource.setrlimit(resource.RLIMIT_NOFILE, (count + 64, hard))
    held = [os.open("/etc/hostname", os.O_RDONLY) for _ in range(count)]
    print(count >= 1000, "descriptors")
    server, client = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    say("bind", lambda: server.bind("sock"))
    server.listen(1)
    say("connect", lambda: client.connect("sock"))
    say("mkdir", lambda: os.mkdir("made"))
    say("rename", lambda: os.rename("made", "moved"))
    say("rmdir", lambda: os.rmdir("moved"))
    say("unlink", lambda: os.unlink("sock"))
    for fd in held:
        os.close(fd)


def long_names(top):
    path = top + "/long"
    os.mkdir(path)
    while len(path) + 202 < LONGEST - 1:
        path += "/" + "a" * 200
        os.mkdir(path)
    last = path + "/" + "b" * (LONGEST - 1 - len(path))
    print(len(last) == LONGEST, "a name of", LONGEST, "bytes")
    say("made", lambda: make(last))
    say("read", lambda: os.close(os.open(last, os.O_RDONLY)))
    say("removed", lambda: os.unlink(last))
    say("one byte more", lambda: make(last + "c"))
    os.chdir(path)
    say("mkdir", lambda: os.mkdir("d" * 200))
    say("chdir", lambda: os.chdir("d" * 200))
    say("deep create", lambda: make("file"))
    say("deep mkdir", lambda: os.mkdir("folder"))
    os.chdir(top)


def other_bytes(top):
    name = os.fsencode(top) + b"/\xff\xfe\n\"\\\x01"
    say("bytes made", lambda: make(name))
    say("bytes renamed", lambda: os.rename(name, name + b"\x80"))
    print(sorted(n for n in os.listdir(os.fsencode(top)) if n != b"long"))
    say("bytes read", lambda: os.close(os.open(name + b"\x80", os.O_RDONLY)))
    say("bytes removed", lambda: os.unlink(name + b"\x80"))


here = os.path.realpath(sys.argv[1])
os.chdir(here)
many_descriptors()
long_names(here)
other_bytes(here)
shutil.rmtree(here + "/long", ignore_errors=True)
