# SPDX-License-Identifier: Apache-2.0
"""proxy_outside.py READY LOG: the world outside: a web server, and proxies that want to know who asks."""
import base64, http.server, os, socket, socketserver, sys, threading

ready, log = sys.argv[1:3]


def note(*words):
    with open(log, "a") as file:
        print(*words, file=file)


class Web(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        if self.headers.get("Transfer-Encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                length += len(self.rfile.read(size + 2)) - 2
            self.rfile.readline()
        else:
            self.rfile.read(length)
        note("web", self.path, self.headers["Host"], self.headers.get("Proxy-Authorization"), self.headers.get("X-Mine"))
        body = b"hello from %s, %d bytes\n" % (self.headers["Host"].encode(), length)
        if self.path.startswith("/repo.git/"):
            file = os.path.join(os.path.dirname(log), self.path.split("?")[0][1:])
            if not os.path.isfile(file):
                self.send_error(404)
                return
            body = open(file, "rb").read()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *_):
        pass


def pump(a, b):
    def move(x, y):
        try:
            while data := x.recv(65536):
                y.sendall(data)
            y.shutdown(socket.SHUT_WR)
        except OSError:
            pass
    other = threading.Thread(target=move, args=(b, a), daemon=True)
    other.start()
    move(a, b)
    other.join()


class Http(socketserver.StreamRequestHandler):
    """CONNECT, and URLs, for user:pass."""

    def handle(self):
        line = self.rfile.readline().decode().split()
        fields = {}
        while (field := self.rfile.readline().strip()):
            name, value = field.decode().split(": ", 1)
            fields[name.lower()] = value
        note("http", *line[:2], fields.get("proxy-authorization"))
        if fields.get("proxy-authorization") != "Basic " + base64.b64encode(b"user:p@ss").decode():
            self.wfile.write(b"HTTP/1.1 407 Who are you?\r\nContent-Length: 0\r\n\r\n")
            return
        if line[0] != "CONNECT":
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nby way of me\n")
            return
        host, port = line[1].rsplit(":", 1)
        try:
            far = socket.create_connection((socket.gethostbyname(host), int(port)))
        except OSError:
            self.wfile.write(b"HTTP/1.1 504 Not there\r\n\r\n")
            return
        self.wfile.write(b"HTTP/1.1 200 Go\r\n\r\n")
        pump(self.connection, far)


class Socks(socketserver.BaseRequestHandler):
    """SOCKS 5 for user:pass."""

    def handle(self):
        s = self.request
        s.recv(2 + 16)
        s.sendall(b"\5\2")
        login = s.recv(512)
        s.sendall(b"\1\0" if login == b"\1\4user\4p@ss" else b"\1\1")
        asked = s.recv(512)
        note("socks", asked[3], asked[5:-2].decode() if asked[3] == 3 else socket.inet_ntoa(asked[4:8]))
        host = asked[5:-2].decode() if asked[3] == 3 else socket.inet_ntoa(asked[4:8])
        far = socket.create_connection((host, int.from_bytes(asked[-2:], "big")))
        s.sendall(b"\5\0\0\1\0\0\0\0\0\0")
        pump(s, far)


class Sink(socketserver.BaseRequestHandler):
    """Hears all there is to hear, whatever it was told about the end."""

    def handle(self):
        data = b""
        self.request.settimeout(0.3)
        try:
            while part := self.request.recv(65536):
                data += part
        except OSError:
            pass
        note("sink", data)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = daemon_threads = True


for port, handler in (8080, Web), (8081, Sink), (3128, Http), (1080, Socks):
    threading.Thread(target=Server(("0.0.0.0", port), handler).serve_forever, daemon=True).start()
names = socket.socket(type=socket.SOCK_DGRAM)  # a name server that hears and never answers
names.bind(("192.0.2.20", 53))
open(ready, "w").close()
while True:
    note("dns", names.recv(512)[12:].split(b"\0")[0])
