# SPDX-License-Identifier: Apache-2.0
# relay_client.py WHAT/ADDRESS/PORT[/MORE]...: one word about how each went; nb-WHAT: without blocking.
import errno, select, socket, ssl, sys


def connected(s):
    try:
        return bool(s.getpeername())
    except OSError:
        return False


def connect(address, port, blocks):
    s = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET)
    if blocks:
        s.connect((address, port))
    else:
        s.setblocking(False)
        result = s.connect_ex((address, port))
        if result == errno.EINPROGRESS:
            select.select([], [s], [], 10)
            result = s.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        # docs/LIMITS.md: seldom a refusal is told as a reset, or at the first use
        if result == errno.ECONNRESET or not result and not connected(s):
            result = errno.ECONNREFUSED
        if result:
            raise OSError(result, "")
    s.settimeout(10)
    return s


def tls(s, name="", pieces="0"):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    ours, theirs = ssl.MemoryBIO(), ssl.MemoryBIO()
    t = context.wrap_bio(theirs, ours, server_hostname=name or None)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    pieces = int(pieces) or 65536
    while True:
        try:
            t.do_handshake()
            t.write(b"hello")
        except ssl.SSLWantReadError:
            pass
        data = ours.read()
        for at in range(0, len(data), pieces):
            s.sendall(data[at:at + pieces])
        try:
            return t.read(10).decode()
        except ssl.SSLError:
            pass
        data = s.recv(65536)
        if not data:
            return "end"
        theirs.write(data)


def http(s, *hosts):
    heard = []
    for host in hosts:
        s.sendall(b"GET / HTTP/1.1\r\n" + (b"Host: %s\r\n" % host.encode() if host else b"") + b"\r\n")
        heard.append(s.recv(1000).decode().split("\r\n\r\n")[-1] or "end")
    return ",".join(heard)


def ssh(s):
    banner = s.recv(100)
    s.sendall(b"SSH-2.0-me\r\n")
    return banner.decode().strip() + "," + s.recv(100).decode().strip().replace(" ", "-")


def echo(s):
    s.sendall(b"x")
    return s.recv(1).decode() or "end"


def sink(s, count):
    left, block = int(count), b"y" * 65536
    while left > 0:
        left -= s.send(block[:left])
    s.shutdown(socket.SHUT_WR)
    return s.recv(100).decode() or "end"


def flood(s, count):
    s.sendall(count.encode())
    got = 0
    while data := s.recv(1 << 20):
        got += len(data)
    return str(got)


def name(s):
    return "%s:%d" % s.getpeername()[:2]


def udp(address, port):
    socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", (address, port))
    return "sent"


kinds = {"tls": tls, "http": http, "ssh": ssh, "echo": echo, "sink": sink, "flood": flood, "peer": name,
         "connect": lambda s: "connected"}
for what in sys.argv[1:]:
    kind, address, port, *more = what.split("/")
    try:
        if kind == "udp":
            word = udp(address, int(port))
        else:
            s = connect(address, int(port), not kind.startswith("nb-"))
            word = kinds[kind.removeprefix("nb-")](s, *more)
            s.close()
    except OSError as e:
        word = errno.errorcode.get(e.errno, repr(e))
    print(word, flush=True)
