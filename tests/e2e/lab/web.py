# SPDX-License-Identifier: Apache-2.0
"""web.py - an http and https server for tests.

/hello and /where tell who was asked for, /big/N are N bytes, /slow/MS takes its time, /to/HOST leads
there, POST anything comes back.  /git is git's own http-backend, /npm a registry with one package and
/simple an index with one wheel.
"""
import base64
import hashlib
import http.server
import io
import json
import os
import socket
import ssl
import subprocess
import tarfile
import threading
import time
import zipfile

NPM, WHEEL = "lab-package", "lab_wheel"


def tarball():
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for name, text in (("package/package.json", json.dumps({"name": NPM, "version": "1.0.0"})),
                           ("package/index.js", "module.exports = 'from the lab'\n")):
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(text), 0o644
            tar.addfile(info, io.BytesIO(text.encode()))
    return out.getvalue()


def wheel():
    out = io.BytesIO()
    meta = f"{WHEEL}-1.0.dist-info"
    files = {f"{WHEEL}.py": "text = 'from the lab'\n",
             f"{meta}/METADATA": f"Metadata-Version: 2.1\nName: {WHEEL}\nVersion: 1.0\n",
             f"{meta}/WHEEL": "Wheel-Version: 1.0\nGenerator: lab\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
    with zipfile.ZipFile(out, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
        archive.writestr(f"{meta}/RECORD", "".join(f"{name},,\n" for name in files) + f"{meta}/RECORD,,\n")
    return out.getvalue()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    repositories = log = ""
    files = {}

    def log_message(self, format, *args):
        with open(self.log, "a") as file:
            file.write(f"{self.scheme()} {self.headers.get('Host') if hasattr(self, 'headers') else '-'} {self.path}\n")

    def scheme(self):
        return "https" if isinstance(self.connection, ssl.SSLSocket) else "http"

    def here(self):
        return f"{self.scheme()}://{self.headers.get('Host', 'nobody')}"

    def reply(self, body, kind="text/plain", status=200, headers=()):
        body = body.encode() if isinstance(body, str) else body
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        parts = self.path.partition("?")[0].strip("/").split("/")
        page = getattr(self, "page_" + parts[0], None)
        if page:
            page(parts[1:])
        else:
            self.reply("nothing here\n", status=404)

    do_HEAD = do_GET

    def do_POST(self):
        if self.path.startswith("/git/"):
            self.page_git(self.path.strip("/").split("/")[1:])
        else:
            self.reply(self.read_body())

    def read_body(self):
        if self.headers.get("Transfer-Encoding", "") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()
        return body

    def page_hello(self, rest):
        self.reply(f"hello from {self.headers.get('Host', 'nobody')}\n")

    def page_where(self, rest):
        self.reply(f"{self.client_address[0]} {self.connection.getsockname()[0]}\n")

    def page_big(self, rest):
        self.reply(b"x" * int(rest[0]), "application/octet-stream")

    def page_slow(self, rest):
        time.sleep(int(rest[0]) / 1000)
        self.reply("at last\n")

    def page_to(self, rest):
        self.reply("", status=302, headers=[("Location", f"{self.scheme()}://{rest[0]}/hello")])

    def page_npm(self, rest):
        if rest[-1].endswith(".tgz"):
            self.reply(self.files["tgz"], "application/octet-stream")
        elif rest == [NPM]:
            digest = base64.b64encode(hashlib.sha512(self.files["tgz"]).digest()).decode()
            version = {"name": NPM, "version": "1.0.0", "dist": {
                "tarball": f"{self.here()}/npm/{NPM}/-/{NPM}-1.0.0.tgz", "integrity": "sha512-" + digest}}
            self.reply(json.dumps({"name": NPM, "dist-tags": {"latest": "1.0.0"},
                                   "versions": {"1.0.0": version}}), "application/json")
        else:
            self.reply("{}", "application/json", 404)

    def page_simple(self, rest):
        if rest[-1].endswith(".whl"):
            self.reply(self.files["whl"], "application/zip")
        else:
            name = f"{WHEEL}-1.0-py3-none-any.whl"
            self.reply(f'<a href="/simple/files/{name}">{name}</a>', "text/html")

    def page_git(self, rest):
        path, _, query = self.path.partition("?")
        env = dict(os.environ, GIT_PROJECT_ROOT=self.repositories, GIT_HTTP_EXPORT_ALL="1",
                   PATH_INFO=path[len("/git"):], QUERY_STRING=query, REQUEST_METHOD=self.command,
                   CONTENT_TYPE=self.headers.get("Content-Type", ""), REMOTE_USER="lab",
                   GIT_PROTOCOL=self.headers.get("Git-Protocol", ""),
                   HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding", ""),
                   GIT_CONFIG_COUNT="2", GIT_CONFIG_KEY_0="http.receivepack", GIT_CONFIG_VALUE_0="true",
                   GIT_CONFIG_KEY_1="safe.directory", GIT_CONFIG_VALUE_1="*")
        out = subprocess.run(["git", "http-backend"], input=self.read_body(), env=env,
                             stdout=subprocess.PIPE, check=False).stdout
        head, _, body = out.partition(b"\r\n\r\n")
        headers = [tuple(line.decode().split(": ", 1)) for line in head.split(b"\r\n") if b": " in line]
        fields = dict(headers)
        self.reply(body, fields.get("Content-Type", "text/plain"), int(fields.get("Status", "200").split()[0]))


class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
    daemon_threads = True
    request_queue_size = 128

    def server_bind(self):
        self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self.socket.bind(self.server_address)
        self.server_name, self.server_port = "lab", self.server_address[1]

    def handle_error(self, request, client_address):
        pass


class SecureServer(Server):
    context = None

    def finish_request(self, request, client_address):
        request = self.context.wrap_socket(request, server_side=True)
        try:
            self.RequestHandlerClass(request, client_address, self)
        finally:
            request.close()


def start(folder, http_ports, https_ports):
    """folder has repositories/ and, for https, cert.pem and key.pem."""
    Handler.repositories = os.path.join(folder, "repositories")
    Handler.log = os.path.join(folder, "web.log")
    Handler.files = {"tgz": tarball(), "whl": wheel()}
    servers = [Server(("::", port), Handler) for port in http_ports]
    if https_ports:
        SecureServer.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        SecureServer.context.load_cert_chain(os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem"))
        servers += [SecureServer(("::", port), Handler) for port in https_ports]
    for server in servers:
        threading.Thread(target=server.serve_forever, args=(60,), daemon=True).start()
