# SPDX-License-Identifier: Apache-2.0
"""names.py WHAT... - look names up and reach hosts, in many ways; one line for each.

WHAT is a word and its arguments with "=" between them:
  find=NAME             the addresses that getaddrinfo gives
  reach=NAME=PORT       connects by name
  at=ADDRESS=PORT       connects to a bare address
  ask=TYPE=NAME[=udp|tcp|loose|six[=SERVER[=PORT]]]
                        a question of our own making, with the answer's code and addresses; \\NNN in NAME
                        is a byte, loose is a socket that is not connected, six one of IPv6
  why=NAME              the reason (RFC 8914) of a refusal
  many=COUNT=NAME       questions for n0.NAME, n1.NAME, ... at once, by threads: how many were answered
  tunnel=COUNT=NAME     questions with data in front of NAME: how many got through
  behind=NAME=OTHER     OTHER is found in time while NAME keeps somebody waiting
  flood=PROCESSES=COUNT=NAME=OTHER...
                        what is found of each OTHER while each of PROCESSES others waits for COUNT names,
                        s0.NAME, s1.NAME, ...; "late" when one of these waits no more by then
  wait=FILE             until it is there
"""
import os
import re
import select
import socket
import struct
import sys
import threading
import time

TYPES = {"A": 1, "PTR": 12, "MX": 15, "TXT": 16, "AAAA": 28, "SRV": 33, "AXFR": 252, "HTTPS": 65}
CODES = ["ok", "format", "failure", "no-name", "not-built", "refused"]


def server():
    with open("/etc/resolv.conf") as file:
        return re.search(r"nameserver (\S+)", file.read()).group(1)


def question(kind, name, number=7):
    wire = b""
    for label in name.rstrip(".").split(".") if name else []:
        label = re.sub(rb"\\(\d\d\d)", lambda m: bytes([int(m.group(1))]), label.encode())
        wire += bytes([len(label)]) + label
    return (struct.pack("!HHHHHH", number, 0x0100, 1, 0, 0, 1) + wire + b"\0" + struct.pack("!HH", TYPES[kind], 1) +
            b"\0" + struct.pack("!HHIH", 41, 1232, 0, 0))


def exactly(sock, count):
    data = b""
    while len(data) < count:
        more = sock.recv(count - len(data))
        if not more:
            raise ConnectionError("cut")
        data += more
    return data


def send(message, how="udp", to=None, port=53):
    to = to or server()
    if how == "tcp":
        with socket.create_connection((to, port), timeout=3) as s:
            s.sendall(struct.pack("!H", len(message)) + message)
            return exactly(s, struct.unpack("!H", exactly(s, 2))[0])
    if how == "six":
        s, to = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM), "::ffff:" + to if ":" not in to else to
    else:
        s = socket.socket(socket.AF_INET6 if ":" in to else socket.AF_INET, socket.SOCK_DGRAM)
    with s:
        s.settimeout(3)
        if how == "loose":
            s.bind(("", 0))
            s.sendto(message, (to, port))
            answer, sender = s.recvfrom(65535)
            if sender[:2] != (to, port):
                raise ConnectionError("answered by another")
            return answer
        s.connect((to, port))
        s.send(message)
        return s.recv(65535)


def skip_name(m, at):
    while m[at] and m[at] < 0xc0:
        at += 1 + m[at]
    return at + (2 if m[at] else 1)


def records(m):
    """(type, data, whole message) of each record behind the question."""
    counts = struct.unpack("!HHHH", m[4:12])
    at = 12
    for _ in range(counts[0]):
        at = skip_name(m, at) + 4
    for _ in range(sum(counts[1:])):
        at = skip_name(m, at)
        kind, _, _, size = struct.unpack("!HHIH", m[at:at + 10])
        yield kind, m[at + 10:at + 10 + size]
        at += 10 + size


def told(m):
    words = [CODES[m[3] & 15]] + (["cut"] if m[2] & 2 else [])
    for kind, data in records(m):
        if kind in (1, 28):
            words.append(socket.inet_ntop(socket.AF_INET if kind == 1 else socket.AF_INET6, data))
        elif kind != 41:
            words.append(f"{kind}:{len(data)}")
    return " ".join(words)


def find(name):
    try:
        return " ".join(sorted({a[4][0] for a in socket.getaddrinfo(name, 80, type=socket.SOCK_STREAM)}))
    except socket.gaierror as error:
        return {socket.EAI_NONAME: "no-name", socket.EAI_AGAIN: "later"}.get(error.errno, str(error))


def at(address, port):
    try:
        socket.create_connection((address, int(port)), timeout=3).close()
        return "reached"
    except PermissionError:
        return "refused"
    except socket.gaierror:
        return "no-name"
    except OSError as error:
        return error.strerror or type(error).__name__


def ask(kind, name, how="udp", to=None, port=53):
    try:
        return told(send(question(kind, name), how, to, int(port)))
    except PermissionError:
        return "not let"
    except OSError as error:
        return str(error)


def why(name):
    for kind, data in records(send(question("A", name))):
        if kind == 41 and data[:2] == b"\0\x0f":
            return f"{struct.unpack('!H', data[4:6])[0]} {data[6:].decode()}"
    return "no reason"


def many(count, name):
    answered = []
    threads = [threading.Thread(target=lambda i=i: find(f"n{i}.{name}") == "192.0.2.10" and answered.append(i))
               for i in range(int(count))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return str(len(answered))


def tunnel(count, name):
    through = 0
    for i in range(int(count)):
        data = os.urandom(25).hex()
        through += told(send(question("TXT", f"{data}.{data}.{name}", i))) != "no-name"
    return str(through)


def behind(name, other):
    waiting = threading.Thread(target=find, args=(name,), daemon=True)
    waiting.start()
    time.sleep(0.2)
    start = time.monotonic()
    found = find(other)
    return f"{found} {'in time' if time.monotonic() - start < 1 and waiting.is_alive() else 'late'}"


def flooding(first, count, name, ready, answered):
    """Ask, say so, and say when the first answer has come."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        s.connect((server(), 53))
        for i in range(first, first + count):
            s.send(question("A", f"s{i}.{name}", i))
        os.write(ready, b"x")
        s.recv(65535)
        os.write(answered, b"x")
    time.sleep(600)


def flood(processes, count, name, *others):
    (ready, are_ready), (answered, is_answered) = os.pipe(), os.pipe()
    children = []
    for i in range(int(processes)):
        children.append(os.fork())
        if not children[-1]:
            flooding(i * int(count), int(count), name, are_ready, is_answered)
    for _ in children:
        os.read(ready, 1)
    found = []
    for other in others:
        found.append(ask("A", other))
    late = select.select([answered], [], [], 0)[0]
    for child in children:
        os.kill(child, 9)
        os.waitpid(child, 0)
    return ", ".join(found + (["late"] if late else []))


def wait(path):
    while not os.path.exists(path):
        time.sleep(0.02)
    return "there"


for what in sys.argv[1:]:
    word, *arguments = what.split("=")
    print({"find": find, "reach": at, "at": at, "ask": ask, "why": why, "many": many, "tunnel": tunnel,
           "behind": behind, "flood": flood, "wait": wait}[word](*arguments), flush=True)
os._exit(0)
