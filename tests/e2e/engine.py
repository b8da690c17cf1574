# SPDX-License-Identifier: Apache-2.0
# engine.py SOCKET...: stands in for a container engine, as far as `docker version` goes.
# engine.py --ask SOCKET: asks one for its version, as a client would.
import http.server
import json
import os
import socket
import socketserver
import sys
import threading

VERSION = json.dumps({"Version": "stand-in", "ApiVersion": "1.41", "MinAPIVersion": "1.12", "Os": "linux",
                      "Arch": "amd64", "GoVersion": "none", "GitCommit": "none"}).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    def address_string(self):
        return "local"

    def log_message(self, *args):
        pass

    def do_GET(self):
        body = b"OK" if self.path.endswith("/_ping") else VERSION
        self.send_response(200)
        self.send_header("Api-Version", "1.41")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET


class Server(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    daemon_threads = True


def ask(path):
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    client.sendall(b"GET /version HTTP/1.0\r\nHost: engine\r\n\r\n")
    print(b"".join(iter(lambda: client.recv(4096), b"")).decode())


def serve(paths):
    for path in paths:
        if os.path.exists(path):
            os.unlink(path)
        threading.Thread(target=Server(path, Handler).serve_forever).start()


if __name__ == "__main__":
    if sys.argv[1] == "--ask":
        ask(sys.argv[2])
    else:
        serve(sys.argv[1:])
