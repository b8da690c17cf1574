# SPDX-License-Identifier: Apache-2.0
"""stage.py - a workspace with secrets in it, and what has changed there afterwards.

Everything belongs to the user that the attempts run as, so that nothing is held by file
modes.  What is below w may be written by the policy but for secret, frozen, deny-bin, deep/*/secret.
"""
import fcntl
import hashlib
import os
import re
import shutil
import stat
import struct
import subprocess
import tempfile

from servers import Servers, address

GETFLAGS = 0x80086601
FOLDERS = ["secret", "open", "hidden", "frozen", "free", "deny-bin", "bin", "deep", "plain",
           "sock", "tmp", "tmp2", "facts", "state", "home", "home/.ssh", "home/.config/agentwatch",
           ".git/hooks", ".vscode", ".claude"]
POLICY = """version: 1
mode: enforce
base: open
filesystem:
  default: read-only
  write: ["{w}", "{tools}"]
  deny: ["{w}/secret", "{root}/outside", "**/*.pem"{deep}]
  deny_write: ["{w}/frozen"]
  hide: ["{w}/hidden"]
exec: {{default: allow, deny: ["{w}/deny-bin"]}}
network:
  default: deny
  allow: ["127.1.0.0/16", "unix:{w}/sock/*", "unix:{root}/rt/**", "unix:@awesc-{nonce}-open-*"]
  listen: ["127.1.0.0/16", "239.1.0.0/16", "[ff11::1]:*", "unix:{w}/**", "unix:{root}/run/race_bound.s"]
"""


def save(path, data, mode=0o644):
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    os.chmod(path, mode)


def state_of(path):
    """All that can be changed about a file."""
    info = os.lstat(path)
    content, flags = None, 0
    if stat.S_ISREG(info.st_mode):
        with open(path, "rb") as file:
            content = hashlib.sha1(file.read()).hexdigest()
            try:
                flags = struct.unpack("i", fcntl.ioctl(file, GETFLAGS, b"\0\0\0\0")[:4])[0]
            except OSError:
                pass
    extra = {key: os.getxattr(path, key) for key in os.listxattr(path)} if content else {}
    return (info.st_mode, info.st_uid, info.st_gid, info.st_size if content else 0,
            info.st_mtime_ns if content else 0, content, flags, str(extra))


def tree(folder):
    found = {}
    for where, folders, files in os.walk(folder):
        for name in folders + files:
            path = os.path.join(where, name)
            found[os.path.relpath(path, folder)] = state_of(path)
    return found


class Stage:
    def __init__(self, attempts, bins, uid, gid):
        self.attempts, self.bins, self.uid, self.gid = attempts, bins, uid, gid
        self.root = tempfile.mkdtemp(prefix="aw-esc.")
        self.w = self.root + "/w"
        self.nonce = os.urandom(6).hex()
        self.victims = {}
        self.servers = Servers([a.name for a in attempts], self.nonce)
        self._folders()
        for attempt in attempts:
            self._files(attempt)
        self._programs()
        self._policy()
        self._own()
        self._sockets()
        for index, attempt in enumerate(attempts):
            self._facts(index, attempt)
        self.servers.start()
        self.before = self.snapshot()

    def secret(self, name, denied, what="key"):
        return "%s-%s:%s:%s" % (self.nonce, "deny" if denied else "open", name, what)

    def _folders(self):
        os.chmod(self.root, 0o755)
        for name in FOLDERS:
            os.makedirs(f"{self.w}/{name}")
        for name in ("outside", "ro", "run", "rt", "log"):
            os.mkdir(f"{self.root}/{name}")
        os.chmod(self.root + "/rt", 0o700)

    def _files(self, attempt):
        name, w = attempt.name, self.w
        for folder, denied in (("secret", True), ("hidden", True), ("open", False)):
            os.mkdir(f"{w}/{folder}/{name}")
            save(f"{w}/{folder}/{name}/key", self.secret(name, denied) + "\n")
        save(f"{w}/open/{name}/key.pem", self.secret(name, True) + "\n")
        os.mkdir(f"{self.root}/outside/{name}")
        save(f"{self.root}/outside/{name}/key", self.secret(name, True) + "\n")
        for folder in (w + "/frozen", w + "/free", self.root + "/ro"):
            os.makedirs(f"{folder}/{name}/empty")
            save(f"{folder}/{name}/file", "as it was\n")
            try:
                os.setxattr(f"{folder}/{name}/file", "user.stage", b"1")
            except OSError:
                pass
        for folder, denied in (("deep", True), ("plain", False)):
            os.makedirs(f"{w}/{folder}/{name}/secret")
            save(f"{w}/{folder}/{name}/secret/key", self.secret(name, denied) + "\n")
        for folder in ("tmp", "tmp2"):
            os.mkdir(f"{w}/{folder}/{name}")
        if "f" in attempt.kind:
            path = f"{w}/{attempt.what.split()[-1]}"
            if not os.path.exists(path) and not path.endswith(".yaml"):
                save(path, "# as it was\n")

    def _programs(self):
        texts = {kind: open(self.bins[kind], "rb").read() for kind in ("marker", "marker-dynamic")}
        for attempt in self.attempts:
            if "x" not in attempt.kind:
                continue
            for folder, denied in (("deny-bin", True), ("bin", False)):
                marker = self.secret(attempt.name, denied, "ran").encode()
                for suffix, kind in (("", "marker"), (".dyn", "marker-dynamic")):
                    text = texts[kind].replace(b"@@MARKER@@".ljust(128, b"\0"), marker.ljust(128, b"\0"))
                    # and where a reader finds it: at the end
                    tail = (self.secret(attempt.name, denied, "text") + "\n").encode().rjust(64, b"\n")
                    save(f"{self.w}/{folder}/{attempt.name}{suffix}", text + tail[-64:].lstrip(b"\n").ljust(64, b" "), 0o755)
        shutil.copy(self.bins["escape"], self.w + "/escape")
        self.install()

    def install(self):
        """A copy of agentwatch of its own, since some attempts go for its files."""
        shutil.rmtree(self.root + "/aw", ignore_errors=True)
        os.mkdir(self.root + "/aw")
        for name in ("agentwatch", "agentwatch-enter", "libagentwatch.so"):
            shutil.copy(f"{self.bins['build']}/{name}", f"{self.root}/aw/{name}")
            if os.geteuid() == 0:
                os.chown(f"{self.root}/aw/{name}", self.uid, self.gid)
        os.chown(self.root + "/aw", self.uid, self.gid)

    def _policy(self):
        deep = "".join(f', "{self.w}/deep/{a.name}/secret"' for a in self.attempts
                       if a.name.startswith("move_"))
        self.policy = self.w + "/policy.yaml"
        save(self.policy, POLICY.format(w=self.w, root=self.root, deep=deep, nonce=self.nonce, tools=self.root + "/aw"))

    def _own(self):
        if os.geteuid() != 0:
            return
        for where, folders, files in os.walk(self.root):
            for name in folders + files:
                os.lchown(os.path.join(where, name), self.uid, self.gid)
        os.chown(self.root, self.uid, self.gid)

    def _sockets(self):
        for attempt in self.attempts:
            if "u" not in attempt.kind and attempt.name != "scm_outside":
                continue
            passed = f"{self.root}/outside/{attempt.name}/key" if attempt.name == "scm_outside" else None
            self.servers.unix(attempt.name, True, f"{self.root}/run/{attempt.name}.s",
                              f"{self.root}/run/{attempt.name}.d", passed)
            self.servers.unix(attempt.name, False, f"{self.w}/sock/{attempt.name}.s",
                              f"{self.w}/sock/{attempt.name}.d", passed)

    def _victim(self, name):
        process = subprocess.Popen(
            [self.bins["victim"], self.secret(name, True, "memory"), f"{self.root}/outside/{name}/key"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.root, text=True,
            env={"SECRET": self.secret(name, True, "environ")}, **self.as_user())
        self.victims[name] = process
        return process.stdout.readline().split()

    def as_user(self):
        if os.geteuid() != 0 or self.uid == 0:
            return {}
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def _facts(self, index, attempt):
        pid, memory, fd = self._victim(attempt.name) if "p" in attempt.kind else ("0", "0", "40")
        save(f"{self.w}/facts/{attempt.name}", " ".join(
            [pid, memory, fd, address(index, True), str(self.servers.port), address(index, False),
             str(self.servers.port), "awesc-" + self.nonce]) + "\n")

    def snapshot(self):
        found = {}
        for attempt in self.attempts:
            name = attempt.name
            for denied, folders in ((True, (f"{self.w}/frozen/{name}", f"{self.root}/ro/{name}")),
                                    (False, (f"{self.w}/free/{name}",))):
                found[name, denied] = [tree(folder) for folder in folders]
            if "f" in attempt.kind:
                path = f"{self.w}/{attempt.what.split()[-1]}"
                found[name, True].append(os.path.lexists(path) and state_of(path))
        return found

    def changed(self):
        now = self.snapshot()
        return {key for key, value in self.before.items() if now[key] != value}

    def settle(self):
        """Note what has happened so far; what follows may hit more than its own files."""
        self.done = self.changed()
        self.harmed = {name for name in self.victims if self.hurt(name)}
        self._policy()
        for path in (self.w + "/.agentwatch.yaml", self.root + "/outside/agentwatch/policy.yaml"):
            if os.path.exists(path):
                os.remove(path)

    def hurt(self, name):
        """Has something reached the process outside?"""
        process = self.victims.get(name)
        if not process:
            return False
        try:
            process.stdin.write("?")
            process.stdin.flush()
            answer = process.stdout.readline()
        except OSError:
            return True
        with open(f"/proc/{process.pid}/limits") as file:
            if not re.search("Max file size +unlimited", file.read()):
                return True
        return not re.fullmatch("signals 0 memory %s\n" % self.secret(name, True, "memory"), answer)

    def close(self):
        self.servers.close()
        for process in self.victims.values():
            process.stdin.close()
            process.stdout.close()
            process.kill()
            process.wait()
        shutil.rmtree(self.root, ignore_errors=True)
