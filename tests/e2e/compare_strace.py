#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare_strace.py [--engine E] [--two] [--ignore REGEX]... -- COMMAND [ARG...]

Is every open, exec and connect that strace sees in the audit log?  The whole of
`agentwatch run COMMAND` runs under `strace -f`, so both watch the same calls: nothing has to
be guessed about temporary names or timing.  With --two, the command runs bare under strace
and a second time under agentwatch, and names with digits are folded.

Prints each difference and ends with a line of counts; status 1 when there are any, 2 when
the comparison itself failed.  AGENTWATCH names the program.
"""
import argparse
import glob
import ipaddress
import json
import os
import re
import subprocess
import sys
import tempfile

STRACE = ["strace", "-ff", "-y", "-s", "8192", "-e", "trace=%file,%process,%network,fchdir",
          "-e", "signal=none", "-qq"]
OPENS = {"open", "openat", "openat2", "creat"}
EXECS = {"execve", "execveat"}
# The shim looks at the first bytes of a program that is about to be run, with these flags.
PEEK = "O_RDONLY|O_NONBLOCK|O_CLOEXEC)"
FORKS = {"clone", "clone3", "fork", "vfork"}

LINE = re.compile(r"^(\w+)\((.*)\)\s+= (-?\d+|0x[0-9a-f]+|\?)(?:<(.*?)>(?:\(deleted\))?)?(?: (E\w+))?.*$")
STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
DIRFD = re.compile(r"^(?:AT_FDCWD|-?\d+)(?:<(.*?)>)?, ")


def unescape(text):
    """The bytes of a C string, as a str that keeps odd ones."""
    raw = re.sub(rb"\\(x[0-9a-f]{2}|[0-7]{1,3}|.)", unescape_one, text.encode("latin-1", "replace"))
    return os.fsdecode(raw)


def unescape_one(match):
    what = match.group(1)
    if what[:1] == b"x":
        return bytes([int(what[1:], 16)])
    if what.isdigit():
        return bytes([int(what, 8) & 255])
    return {b"n": b"\n", b"t": b"\t", b"r": b"\r", b"v": b"\v", b"f": b"\f"}.get(what, what)


def logged_text(text):
    """Undo the log's escape for bytes that are not UTF-8 (U+EFNN is the byte NN)."""
    out = bytearray()
    for char in text:
        code = ord(char)
        if code == 0xEF00 or 0xEF80 <= code <= 0xEFFF:
            out.append(code & 255)
        else:
            out += char.encode("utf-8", "surrogatepass")
    return os.fsdecode(bytes(out))


def settle(path):
    """One name for a file however it was reached; /proc is left alone, but for whose it is."""
    path = os.path.normpath(path.replace("//", "/"))
    path = re.sub(r"^/proc/(?:self|thread-self|\d+)(?:/task/\d+)?(?=/|$)", "/proc/self", path)
    if path.startswith(("/proc/", "/dev/fd", "/dev/std")):
        return re.sub(r"/fd/\d+$", "/fd/N", path)
    return os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))


def fold(path):
    path = re.sub(r"[0-9]+", "0", path)
    return re.sub(r"(?<=[._/-])(?=[A-Za-z0-9]*[A-Z0-9])[A-Za-z0-9]{6,}(?=[._/-]|$)", "XXXXXX", path)


class Traced:
    """What strace wrote: per process the calls, and who is whose child."""

    def __init__(self, prefix, cwd):
        self.calls, self.parent, self.start, self.cwd0 = {}, {}, {}, cwd
        self.threads = set()
        for name in glob.glob(glob.escape(prefix) + ".*"):
            pid = int(name.rsplit(".", 1)[1])
            with open(name, encoding="latin-1") as file:
                self.calls[pid] = [m.groups() for m in map(LINE.match, file) if m]
        for pid, calls in self.calls.items():
            for name, args, result, _path, _err in calls:
                if name in FORKS and result.isdigit() and int(result) in self.calls:
                    self.parent[int(result)] = pid
                    if "CLONE_THREAD" in args:
                        self.threads.add(int(result))

    def below(self, root):
        """root and its descendants, parents first."""
        order, seen = [root], {root}
        for pid in order:
            for child in sorted(self.parent):
                if self.parent[child] == pid and child not in seen:
                    seen.add(child)
                    order.append(child)
        return order

    def program(self):
        """The process that becomes the command: a child whose first exec that is not our own works."""
        roots = [p for p in self.calls if p not in self.parent]
        for pid in self.below(min(roots)):
            for name, args, result, _path, _err in self.calls[pid]:
                if name in EXECS and result == "0" and "agentwatch" not in args.split(",")[0] and pid not in roots:
                    return pid
        return None

    def subjects(self, pids):
        """{(kind, what)}: opens, execs and connects, and {path}: everything that was named."""
        wanted, named, cwds = {}, set(), {}
        for pid in pids:
            cwd = cwds.get(self.parent.get(pid), self.cwd0)
            for name, args, result, path, err in self.calls[pid]:
                found = STRING.search(args)
                dirfd = DIRFD.match(args)
                if dirfd and args.startswith("AT_FDCWD") and dirfd.group(1):
                    cwd = unescape(dirfd.group(1))
                if name == "connect":
                    if err != "EFAULT" and result != "?":
                        what = address(args, cwd)
                        if what:
                            wanted.setdefault(("connect", what), (pid, name, args, result, err))
                    continue
                if not found:
                    if name == "fchdir" and result == "0":
                        inside = re.match(r"\d+<(.*)>", args)
                        cwd = unescape(inside.group(1)) if inside else cwd
                    continue
                base = unescape(dirfd.group(1)) if dirfd and dirfd.group(1) and name.endswith(("at", "at2")) else cwd
                for text in STRING.findall(args)[:2]:
                    named.add(settle(os.path.join(base, unescape(text))))
                full = os.path.join(base, unescape(found.group(1)))
                if name.startswith("symlink"):  # what it says is meant from where it stands
                    link = os.path.join(base, unescape(STRING.findall(args)[-1]))
                    named.add(settle(os.path.join(os.path.dirname(link), unescape(found.group(1)))))
                if name == "chdir" and result == "0":
                    cwd = os.path.realpath(full)
                if err in ("EFAULT", "ENAMETOOLONG") or found.group(1) == "" and name not in EXECS:
                    continue
                if name in OPENS and path and not path.startswith(("pipe:", "socket:", "anon_inode:")):
                    named.add(settle(unescape(path)))
                if name in OPENS:
                    wanted.setdefault(("open", settle(full)), (pid, name, args, result, err))
                elif name in EXECS:
                    if found.group(1) == "" and dirfd:
                        full = base
                    wanted.setdefault(("exec", settle(full)), (pid, name, args, result, err))
            cwds[pid] = cwd
        return wanted, named


def address(args, cwd):
    path = re.search(r'sun_path=(@?)"((?:[^"\\]|\\.)*)"', args)
    if path:
        name = unescape(path.group(2)).split("\0")[0]
        return "unix:@" + name if path.group(1) else "unix:" + settle(os.path.join(cwd, name))
    host = re.search(r'inet_addr\("([^"]*)"\)|AF_INET6, "([^"]*)"', args)
    port = re.search(r"htons\((\d+)\)", args)
    if host and port:
        return inet(host.group(1) or host.group(2), port.group(1))
    family = re.search(r"sa_family=(AF_\w+)", args)
    return None if not family or family.group(1) in ("AF_UNSPEC", "AF_UNIX") else family.group(1)


def inet(host, port):
    ip = ipaddress.ip_address(host)
    mapped = getattr(ip, "ipv4_mapped", None)
    return f"{mapped or ip}:{port}"


def logged(path):
    found, lines = {}, 0
    for line in open(path, encoding="utf-8"):
        event = json.loads(line)
        lines += 1
        if event["event"] not in ("call", "exec") or event.get("call", "").startswith("get"):
            continue  # a look-up is a function; what it connects to is there as well
        action = event.get("action", "exec")
        if action == "connect":
            if "port" in event and "address" in event:
                what = inet(event["address"], event["port"])
            else:
                name = logged_text(event.get("path") or event.get("address") or "")
                what = "unix:" + (name if name.startswith("@") else settle(name)) if name else "AF_" + str(event.get("family", "")).upper()
            found.setdefault(("connect", what), event)
            continue
        for key in ("path", "path2", "raw"):
            text = event.get(key)
            if text and logged_text(text).startswith("/"):
                kind = "exec" if action == "exec" else "open"
                found.setdefault((kind, settle(logged_text(text))), event)
    return found, lines


def also(found):
    """A file may be logged by the name it has and traced by the link it was reached through."""
    more = {}
    for kind, what in found:
        if kind != "connect" and not what.startswith("/proc/"):
            more[kind, os.path.realpath(what)] = found[kind, what]
    return more


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--engine", default="auto")
    parser.add_argument("--two", action="store_true")
    parser.add_argument("--ignore", action="append", default=[])
    parser.add_argument("--keep", help="a folder for the traces and the log")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    agentwatch = os.environ.get("AGENTWATCH", "build/agentwatch")
    ignore = re.compile("|".join([r"libagentwatch", r"/agentwatch/sessions/", r"/agentwatch-(enter|hello)"] + options.ignore))

    with tempfile.TemporaryDirectory(prefix="aw-strace.") as scratch:
        scratch = options.keep or scratch
        os.makedirs(scratch, exist_ok=True)
        log, trace = f"{scratch}/log", f"{scratch}/trace"
        watched = [agentwatch, "run", "--quiet", "--log", log, "--engine", options.engine, "--", *command]
        with open(f"{scratch}/out", "wb") as out:
            traced = command if options.two else watched
            first = subprocess.run([*STRACE, "-o", trace, *traced], stdin=subprocess.DEVNULL, stdout=out, stderr=out)
            if options.two:
                subprocess.run(watched, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        tree = Traced(trace, os.getcwd())
        root = min(tree.calls) if options.two else tree.program()
        if root is None or not os.path.exists(log):
            print("# the command did not start")
            print("# " + open(f"{scratch}/out", errors="replace").read()[-500:].replace("\n", "\n# "))
            return 2
        pids = tree.below(root)
        wanted, named = tree.subjects(pids)
        found, lines = logged(log)
        tail = open(f"{scratch}/out", errors="replace").read()[-300:]

    if options.two:
        wanted = {(k, fold(w)): v for (k, w), v in wanted.items()}
        found = {(k, fold(w)): v for (k, w), v in found.items()}
        named = {fold(n) for n in named}
    links = also(found)
    missing = 0
    for key in sorted(wanted):
        real = (key[0], os.path.realpath(key[1])) if key[0] != "connect" else key
        if key in found or real in found or real in links or ignore.search(key[1]):
            continue
        pid, name, args, result, err = wanted[key]
        if (args + ")").endswith(PEEK) and (("exec", key[1]) in wanted or os.access(key[1], os.X_OK)):
            continue
        missing += 1
        print(f"# missing in the log: {key[0]} {key[1]}")
        print(f"#     {pid} {name}({args[:160]}) = {result} {err or ''}")
    named |= {os.path.realpath(n) for n in named}
    connects = {what for kind, what in wanted if kind == "connect"}
    extra = 0
    for (kind, what), event in sorted(found.items()):
        seen = what in connects if kind == "connect" else what in named or os.path.realpath(what) in named
        if seen or ignore.search(what):
            continue
        extra += 1
        print(f"# only in the log: {kind} {what} ({event.get('call')}, {event.get('source')}, pid {event.get('pid')})")
    kinds = [sum(1 for k in wanted if k[0] == kind) for kind in ("open", "exec", "connect")]
    print(f"{kinds[0]} opens, {kinds[1]} execs, {kinds[2]} connects by {len(pids)} tasks; "
          f"{lines} lines; {missing} missing, {extra} invented; status {first.returncode}")
    if first.returncode and os.environ.get("AW_WANT_STATUS", "0") != str(first.returncode):
        print("# " + tail.replace("\n", "\n# "))
        return 2
    return 1 if missing or extra else 0


if __name__ == "__main__":
    sys.exit(main())
