# SPDX-License-Identifier: Apache-2.0
"""socks.py - a SOCKS5 server for tests, and echo servers over TCP and UDP.

What was asked for is a line of the log: NAME-OR-ADDRESS PORT.
"""
import socket
import struct
import threading


def pump(source, sink):
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        pass


def exactly(conn, count):
    data = b""
    while len(data) < count:
        more = conn.recv(count - len(data))
        if not more:
            raise OSError("the end")
        data += more
    return data


def read_target(conn):
    kind = exactly(conn, 4)[3]
    if kind == 3:
        host = exactly(conn, exactly(conn, 1)[0]).decode("latin-1")
    else:
        host = socket.inet_ntop(*((socket.AF_INET, exactly(conn, 4)) if kind == 1 else
                                  (socket.AF_INET6, exactly(conn, 16))))
    return host, struct.unpack("!H", exactly(conn, 2))[0]


def serve_one(conn, log):
    with conn:
        try:
            exactly(conn, exactly(conn, 2)[1])
            conn.sendall(b"\5\0")
            host, port = read_target(conn)
            log.write(f"{host} {port}\n")
            try:
                out = socket.create_connection((host, port), 5)
            except OSError:
                conn.sendall(b"\5\5\0\1" + bytes(6))
                return
            with out:
                conn.sendall(b"\5\0\0\1" + bytes(6))
                other = threading.Thread(target=pump, args=(out, conn), daemon=True)
                other.start()
                pump(conn, out)
                other.join()
        except OSError:
            pass


def echo(conn):
    with conn:
        pump(conn, conn)


def accept_all(sock, work, *args):
    while True:
        conn = sock.accept()[0]
        threading.Thread(target=work, args=(conn, *args), daemon=True).start()


def echo_datagrams(sock):
    while True:
        data, sender = sock.recvfrom(65536)
        sock.sendto(data, sender)


def listener(port):
    return socket.create_server(("::", port), family=socket.AF_INET6, dualstack_ipv6=True, backlog=64)


def datagrams(address, port):
    """One socket an address, so that answers come from where the question went."""
    sock = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind((address, port))
    return sock


def start(log, socks_port, echo_port, addresses):
    lines = open(log, "a", buffering=1)
    work = [(accept_all, listener(socks_port), serve_one, lines), (accept_all, listener(echo_port), echo)]
    work += [(echo_datagrams, datagrams(address, echo_port)) for address in addresses]
    for target, *args in work:
        threading.Thread(target=target, args=args, daemon=True).start()
