# SPDX-License-Identifier: Apache-2.0
"""sockets.py - what sockets.c may reach and what it must not, and which of them it reached.

sockets.py READY REPORT FOLDER: serves until its standard input ends; then each server that was
reached and must not have been is a line of REPORT, with how often.  A line of standard input is
answered, by the same of that moment.
"""
import collections
import ctypes
import os
import selectors
import socket
import struct
import sys

GOOD, SLOW, BAD, HOME, RELAY = 7001, 7002, 7003, 7004, b"evil.example.com"
seen = collections.Counter()
selector = selectors.DefaultSelector()
held = []


def keep(sock, handle):
    sock.setblocking(False)
    held.append(sock)
    selector.register(sock, selectors.EVENT_READ, handle)


def read(sock, name):
    try:
        data = sock.recv(4096)
    except BlockingIOError:
        return
    except OSError:
        data = b""
    if RELAY in data and name.endswith("10 port 7001 tcp"):
        seen["a denied name at " + name] += 1
    if not data:
        selector.unregister(sock)
        sock.close()


def accept(sock, name, bad):
    try:
        peer = sock.accept()[0]
    except OSError:
        return
    if bad:
        seen[name] += 1
        peer.close()
        return
    seen["good"] += 1
    peer.setblocking(False)
    selector.register(peer, selectors.EVENT_READ, lambda: read(peer, name))


def datagram(sock, name, bad):
    try:
        sock.recv(4096)
    except OSError:
        return
    seen[name if bad else "good"] += 1


def serve(family, kind, where, bad):
    sock = socket.socket(family, kind)
    if family == socket.AF_INET6:
        sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    if family != socket.AF_UNIX:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    sock.bind(where)
    stream = kind == socket.SOCK_STREAM
    name = ("%s port %d %s" % (where[0], where[1], "tcp" if stream else "udp") if family != socket.AF_UNIX
            else "%s %s" % (where.replace("\0", "@"), "stream" if stream else "dgram"))
    if family == socket.AF_UNIX and where[0] != "\0":
        os.chmod(where, 0o777)
    if stream:
        if where[1] == SLOW:  # what comes is dropped: a connection stays on its way
            program = struct.pack("HBBI", 6, 0, 0, 0)
            memory = ctypes.create_string_buffer(program)
            sock.setsockopt(socket.SOL_SOCKET, 26, struct.pack("HxxxxxxP", 1, ctypes.addressof(memory)))
        sock.listen(1000)
    keep(sock, (lambda: accept(sock, name, bad)) if stream else (lambda: datagram(sock, name, bad)))


def all_servers(folder):
    for family, good, bad, home, names in (
            (socket.AF_INET, "192.0.2.10", "192.0.2.66", "127.0.0.1", "192.0.2.53"),
            (socket.AF_INET6, "2001:db8::10", "2001:db8::66", "::1", "2001:db8::53")):
        for kind in socket.SOCK_STREAM, socket.SOCK_DGRAM:
            for where, bad_one in (((good, GOOD), False), ((good, SLOW), False), ((bad, BAD), True),
                                   ((home, HOME), True), ((names, 53), True)):
                serve(family, kind, where, bad_one)
    for kind, end in (socket.SOCK_STREAM, "s"), (socket.SOCK_DGRAM, "d"):
        serve(socket.AF_UNIX, kind, "\0aw-good-" + end, False)
        serve(socket.AF_UNIX, kind, "\0aw-bad-" + end, True)
        serve(socket.AF_UNIX, kind, folder + "/bad-" + end, True)


def main():
    ready, report, folder = sys.argv[1:]
    all_servers(folder)
    open(ready, "w").close()
    selector.register(0, selectors.EVENT_READ, None)
    while True:
        for key, _ in selector.select():
            if key.data:
                key.data()
                continue
            line = os.read(0, 100)
            if not line:
                return
            with open(report + ".new", "w") as out:
                out.writelines("%s: %d times\n" % item for item in sorted(seen.items()))
            os.rename(report + ".new", report)
            seen.clear()


main()
