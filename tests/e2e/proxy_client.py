# SPDX-License-Identifier: Apache-2.0
"""proxy_client.py WHAT...: requests to the proxy that HTTP_PROXY names; one line each says how it went."""
import os, resource, socket, struct, subprocess, sys, time, urllib.error, urllib.request

host, port = os.environ["HTTP_PROXY"].removeprefix("http://").split(":")


def dial():
    return socket.create_connection((host, int(port)), timeout=8)


def everything(s):
    data = b""
    try:
        while part := s.recv(65536):
            data += part
    except ConnectionResetError:
        data += b" reset"
    return data


def url(place):
    try:
        return urllib.request.urlopen("http://" + place, timeout=8).read().decode().strip()
    except urllib.error.HTTPError as e:
        body = e.read().decode().strip()
        return "%d %s %s" % (e.code, body, "told" if e.headers["X-Agentwatch-Reason"] == body else "untold")


def tunnel(place):
    s = dial()
    s.sendall(b"CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\nGET /t HTTP/1.1\r\nHost: inside\r\nConnection: close\r\n\r\n" % ((place.encode(),) * 2))
    return everything(s).decode().replace("\r\n", " ").strip()


def socks(place):
    name, _, number = place.rpartition(":")
    s = dial()
    s.sendall(b"\5\1\0")
    s.recv(2)
    try:
        address = b"\1" + socket.inet_aton(name) if name[0].isdigit() else b"\3%c" % len(name) + name.encode()
    except OSError:
        address = b"\3%c" % len(name) + name.encode()
    s.sendall(b"\5\1\0" + address + struct.pack(">H", int(number)))
    reply = s.recv(10)
    if reply[1]:
        return "socks %d" % reply[1]
    s.sendall(b"GET /s HTTP/1.1\r\nHost: inside\r\nConnection: close\r\n\r\n")
    return everything(s).decode().splitlines()[-1]


def open(place):
    """A connection alone."""
    name, port = place.split(":")
    s = dial()
    s.sendall(b"\5\1\0")
    s.recv(2)
    s.sendall(b"\5\1\0\3%c%s" % (len(name), name.encode()) + struct.pack(">H", int(port)))
    return "socks %d" % s.recv(10)[1]


def post(size):
    s = dial()
    s.sendall(b"POST http://api.test:8080/ HTTP/1.1\r\nContent-Length: %d\r\n\r\n" % int(size) + b"x" * int(size))
    return everything(s).replace(b" reset", b"").decode().strip().split("\n")[-1] or "closed"


def raw(text):
    s = dial()
    s.sendall(text.encode().decode("unicode_escape").encode("latin-1"))
    answer = everything(s).split(b"\r\n")[0]
    return answer.decode() if answer.startswith(b"HTTP/") else "closed"


def huge(_):
    s = dial()
    try:
        s.sendall(b"GET http://api.test:8080/ HTTP/1.1\r\nX: " + b"x" * 40000 + b"\r\n\r\n")
    except ConnectionError:
        pass
    return everything(s).split(b"\r\n")[0].decode()


def many(count):
    """Others that are slow hold up nobody."""
    slow = [dial() for _ in range(int(count))]
    for s in slow:
        s.sendall(b"GET http://")
    begin = time.monotonic()
    answer = url("api.test:8080/m")
    return answer if time.monotonic() - begin < 2 else "late: " + answer


def in_child(work):
    """Its process, and what it says in the end."""
    out, into = os.pipe()
    pid = os.fork()
    if not pid:
        os.write(into, work().encode())
        time.sleep(600)
    os.close(into)
    answer = os.read(out, 4096).decode()
    os.close(out)
    return pid, answer


def end(pid):
    os.kill(pid, 9)
    os.waitpid(pid, 0)


def hoard():
    """All the descriptors that one may have."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    url("api.test:8080/h")
    try:
        for _ in range(40000):
            os.dup(0)
    except OSError:
        pass
    return "many"


def several(count, place):
    begin = time.monotonic()
    answers = {url(place) for _ in range(int(count))}
    return "%d %f" % (len(answers), time.monotonic() - begin)


def crowded(what):
    """Requests of one process take as long beside another one that has many descriptors."""
    count, place = what.split("=")
    one, before = in_child(lambda: several(count, place))
    end(one)
    hoarders = [in_child(hoard)[0] for _ in range(2)]
    one, after = in_child(lambda: several(count, place))
    for pid in [one] + hoarders:
        end(pid)
    times = float(after.split()[1]) / float(before.split()[1])
    return "in time" if before[:2] == after[:2] == "1 " and times < 8 else "late: %s, %s" % (before, after)


def held(what):
    """The answer to a request on a connection that PROGRAM holds too, behind many descriptors; then without it."""
    program, place = what.split("=")
    name = place.split("/")[0].encode()
    answers = []
    many = [os.dup(0) for _ in range(900)]
    for goes_first in (False, True):
        s = dial()
        other = subprocess.Popen([program, "600"], pass_fds=[s.fileno()] + many)
        while os.readlink("/proc/%d/exe" % other.pid) == os.readlink("/proc/self/exe"):
            time.sleep(0.01)
        if goes_first:
            end(other.pid)
        s.sendall(b"GET http://%s/ HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % (name, name))
        answers.append(everything(s).split(b" ")[1].decode())
        if not goes_first:
            end(other.pid)
    return " ".join(answers)


def keep(_):
    """One request behind the other."""
    s = dial()
    s.sendall(b"POST http://other.test:8081/a HTTP/1.1\r\nHost: other.test:8081\r\nContent-Length: 3\r\n\r\nabc"
              b"GET http://api.test:8080/b HTTP/1.1\r\nHost: api.test:8080\r\n\r\n")
    everything(s)
    return "done"


for word in sys.argv[1:]:
    kind, _, rest = word.partition("=")
    try:
        print(globals()[kind](rest))
    except Exception as e:
        print(type(e).__name__, e)
