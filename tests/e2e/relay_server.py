# SPDX-License-Identifier: Apache-2.0
# relay_server.py CERTIFICATE KEY READY: servers on 192.0.2.10 and 192.0.2.20 of test_relay.sh.
import socket, ssl, sys, threading, time


def serve(address, port, talk, context=None):
    listener = socket.create_server((address, port), backlog=200)

    def one(c):
        try:
            talk(context.wrap_socket(c, server_side=True) if context else c)
        except OSError:
            pass
        finally:
            c.close()

    def loop():
        while True:
            threading.Thread(target=one, args=(listener.accept()[0],), daemon=True).start()

    threading.Thread(target=loop, daemon=True).start()


def echo(c):
    while data := c.recv(65536):
        c.sendall(data)


def http(c):
    file = c.makefile("rwb")
    while True:
        host = b"nobody"
        while (line := file.readline()) not in (b"\r\n", b""):
            if line.lower().startswith(b"host:"):
                host = line[5:].strip()
        if not line:
            return
        file.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(host), host))
        file.flush()


def banner(c):
    c.sendall(b"SSH-2.0-test\r\n")
    c.sendall(b"heard " + c.recv(100))


def sink(c):
    n = 0
    while data := c.recv(1 << 20):
        n += len(data)
    c.sendall(b"%d" % n)


def flood(c):
    left, block = int(c.recv(20) or 0), b"x" * (1 << 20)
    while left > 0:
        left -= c.send(block[:left])


tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(sys.argv[1], sys.argv[2])
serve("192.0.2.10", 443, echo, tls)
for address in ("192.0.2.10", "192.0.2.20"):
    for port, talk in (80, http), (22, banner), (9000, sink), (9001, flood), (7, echo):
        serve(address, port, talk)
open(sys.argv[3], "w").close()
time.sleep(600)
