# SPDX-License-Identifier: Apache-2.0
# outside_server.py READY: what test_outside.sh's programs speak to.
import selectors, socket, sys

chosen = selectors.DefaultSelector()


def watch(s, what):
    s.setblocking(False)
    chosen.register(s, selectors.EVENT_READ, what)


def tcp(address, family=socket.AF_INET):
    watch(socket.create_server(address, family=family, backlog=100), accept)


def udp(address, family=socket.AF_INET):
    s = socket.socket(family, socket.SOCK_DGRAM)
    s.bind(address)
    watch(s, datagram)


def accept(s):
    watch(s.accept()[0], echo)


def echo(s):
    try:
        data = s.recv(65536)
        if data:
            s.sendall(data)
            return
    except OSError:
        pass
    chosen.unregister(s)
    s.close()


def datagram(s):
    data, peer = s.recvfrom(65536)
    if peer:
        s.sendto(data, peer)


for port in (8080,):
    for host in ("192.0.2.10", "192.0.2.20"):
        tcp((host, port))
        udp((host, port))
    tcp(("2001:db8::10", port), socket.AF_INET6)
    udp(("2001:db8::10", port), socket.AF_INET6)
tcp(("127.0.0.1", 9090))
udp(("127.0.0.1", 9090))
for kind, name in ((socket.SOCK_STREAM, "\0aw-outside"), (socket.SOCK_DGRAM, "\0aw-outsided")):
    s = socket.socket(socket.AF_UNIX, kind)
    s.bind(name)
    if kind == socket.SOCK_STREAM:
        s.listen(10)
    watch(s, accept if kind == socket.SOCK_STREAM else datagram)
full = socket.create_server(("192.0.2.10", 8082), backlog=0)
kept = [full]
for i in range(3):  # nobody else gets in
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex(("192.0.2.10", 8082))
    kept.append(s)
open(sys.argv[1], "w").close()
while True:
    for key, _ in chosen.select():
        key.data(key.fileobj)
