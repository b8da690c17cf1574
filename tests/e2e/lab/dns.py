# SPDX-License-Identifier: Apache-2.0
"""dns.py - a name server for tests: answers from a zone file over UDP and TCP.

A line of the zone is NAME TTL TYPE VALUE; the file may change at any time.  Types are A, AAAA,
CNAME, TXT, PTR, NS, MX ("10 host"), SRV ("0 0 443 host"), HTTPS ("1 . alpn=h2 ipv4hint=A,B") and
two of our own: DELAY milliseconds, and SILENT, which gives no answer at all.  VALUE "a|b" of an
address is a the first time, then b.  Each question is a line of the log: NAME TYPE udp|tcp FROM.
"""
import os
import socket
import struct
import threading
import time

TYPES = {"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "PTR": 12, "MX": 15, "TXT": 16, "AAAA": 28,
         "SRV": 33, "OPT": 41, "HTTPS": 65, "ANY": 255}
NAMES = {number: name for name, number in TYPES.items()}


def encode_name(name):
    out = b""
    for label in name.rstrip(".").split(".") if name.rstrip(".") else []:
        out += bytes([len(label)]) + label.encode()
    return out + b"\0"


def encode_https(value):
    """Priority and target, then parameters by number."""
    words = value.split()
    parameters = {}
    for word in words[2:]:
        key, _, text = word.partition("=")
        if key == "alpn":
            parameters[1] = b"".join(bytes([len(p)]) + p.encode() for p in text.split(","))
        elif key == "ipv4hint":
            parameters[4] = b"".join(socket.inet_pton(socket.AF_INET, a) for a in text.split(","))
        elif key == "ipv6hint":
            parameters[6] = b"".join(socket.inet_pton(socket.AF_INET6, a) for a in text.split(","))
    return struct.pack("!H", int(words[0])) + encode_name(words[1]) + b"".join(
        struct.pack("!HH", key, len(data)) + data for key, data in sorted(parameters.items()))


def encode_value(kind, value):
    if kind == "A":
        return socket.inet_pton(socket.AF_INET, value)
    if kind == "AAAA":
        return socket.inet_pton(socket.AF_INET6, value)
    if kind in ("CNAME", "PTR", "NS"):
        return encode_name(value)
    if kind == "MX":
        preference, host = value.split()
        return struct.pack("!H", int(preference)) + encode_name(host)
    if kind == "SRV":
        *numbers, host = value.split()
        return struct.pack("!HHH", *map(int, numbers)) + encode_name(host)
    if kind == "HTTPS":
        return encode_https(value)
    data = value.encode()
    return b"".join(bytes([len(data[i:i + 255])]) + data[i:i + 255] for i in range(0, len(data) or 1, 255))


def read_question(message):
    """(name, type, end) of a message with one question, or None."""
    at, labels = 12, []
    if len(message) < 17 or message[2] & 0x80 or struct.unpack("!H", message[4:6])[0] != 1:
        return None
    while message[at]:
        labels.append(message[at + 1:at + 1 + message[at]])
        at += 1 + message[at]
        if at >= len(message) - 4:
            return None
    return b".".join(labels).decode("latin-1"), struct.unpack("!H", message[at + 1:at + 3])[0], at + 5


class Zone:
    def __init__(self, path):
        self.path, self.stamp, self.records, self.turns = path, None, {}, {}
        self.lock = threading.Lock()

    def load(self):
        stat = os.stat(self.path)
        if (stat.st_mtime_ns, stat.st_size) == self.stamp:
            return
        records = {}
        with open(self.path) as file:
            for line in file:
                words = line.split(None, 3)
                if len(words) >= 3 and not line.startswith("#"):
                    name, ttl, kind = words[0].lower().rstrip("."), int(words[1]), words[2]
                    records.setdefault(name, []).append(
                        (ttl, kind, words[3].strip() if len(words) > 3 else ""))
        self.records, self.stamp = records, (stat.st_mtime_ns, stat.st_size)

    def turn(self, name, kind, value):
        """The next of several values, the last for ever."""
        if "|" not in value or kind not in ("A", "AAAA"):
            return value
        values = value.split("|")
        at = self.turns.get((name, kind), 0)
        self.turns[name, kind] = at + 1
        return values[min(at, len(values) - 1)]

    def of(self, name):
        with self.lock:
            self.load()
            return list(self.records.get(name, []))

    def answers(self, name, wanted):
        """Records, following CNAMEs, and whether the name is there at all."""
        found, known = [], False
        for _ in range(8):
            records = self.of(name)
            known = known or bool(records)
            alias = [r for r in records if r[1] == "CNAME"]
            if alias and wanted != "CNAME":
                found.append((name, *alias[0]))
                name = alias[0][2].lower().rstrip(".")
                continue
            with self.lock:
                found += [(name, ttl, kind, self.turn(name, kind, value)) for ttl, kind, value in records
                          if kind in TYPES and wanted in (kind, "ANY")]
            break
        return found, known


class Server:
    def __init__(self, zone, log):
        self.zone, self.log = Zone(zone), open(log, "a", buffering=1)

    def special(self, name):
        """Seconds to wait, or None for no answer at all."""
        delay = 0
        for _, kind, value in self.zone.of(name):
            if kind == "SILENT":
                return None
            if kind == "DELAY":
                delay = int(value) / 1000
        return delay

    def answer(self, message, how, sender):
        question = read_question(message)
        if not question:
            return None
        name, number, end = question
        kind = NAMES.get(number, str(number))
        self.log.write(f"{name} {kind} {how} {sender}\n")
        delay = self.special(name.lower())
        if delay is None:
            return None
        time.sleep(delay)
        found, known = self.zone.answers(name.lower(), kind)
        body = b"".join(encode_name(owner) + struct.pack("!HHIH", TYPES[k], 1, ttl, len(data)) + data
                        for owner, ttl, k, value in found for data in [encode_value(k, value)])
        room = 512
        extra = b""
        if struct.unpack("!H", message[10:12])[0] and len(message) >= end + 11:
            room = max(room, struct.unpack("!H", message[end + 3:end + 5])[0])
            extra = b"\0" + struct.pack("!HHIH", TYPES["OPT"], 1232, 0, 0)
        cut = how == "udp" and 12 + end + len(body) + len(extra) > room
        flags = 0x8400 | (0x0200 if cut else 0) | (message[2] & 1) << 8 | 0x80 | (0 if known else 3)
        head = message[:2] + struct.pack("!HHHHH", flags, 1, 0 if cut else len(found), 0, 1 if extra else 0)
        return head + message[12:end] + (b"" if cut else body) + extra

    def serve_udp(self, sock):
        def one(message, sender):
            reply = self.answer(message, "udp", sender[0])
            if reply:
                sock.sendto(reply, sender)
        while True:
            message, sender = sock.recvfrom(4096)
            question = read_question(message)
            if question and self.special(question[0].lower()):
                threading.Thread(target=one, args=(message, sender), daemon=True).start()
            else:
                one(message, sender)

    def serve_connection(self, conn, sender):
        with conn, conn.makefile("rwb") as stream:
            while len(size := stream.read(2)) == 2:
                reply = self.answer(stream.read(struct.unpack("!H", size)[0]), "tcp", sender[0])
                if not reply:
                    return
                stream.write(struct.pack("!H", len(reply)) + reply)
                stream.flush()

    def serve_tcp(self, sock):
        while True:
            conn, sender = sock.accept()
            threading.Thread(target=self.serve_connection, args=(conn, sender), daemon=True).start()


def start(zone, log, addresses, port=53):
    server = Server(zone, log)
    for address in addresses:
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        udp = socket.socket(family, socket.SOCK_DGRAM)
        udp.bind((address, port))
        tcp = socket.create_server((address, port), family=family, backlog=64)
        threading.Thread(target=server.serve_udp, args=(udp,), daemon=True).start()
        threading.Thread(target=server.serve_tcp, args=(tcp,), daemon=True).start()
