#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""gate.py - run gate.c in front of what is denied in each way a policy can say it.

Usage: gate.py [--long] [--users NAME,...] [--runners NAME,...] PROGRAM

Prints `ok - ` and `not ok - ` lines.  Between the program's two rounds files are made and
replaced here, outside, as an editor does.
"""
import argparse
import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile

SECRET = "what nobody may read\n"
SANDBOXES = ("bwrap", "landlock")  # with Landlock, so that opens may pass from the gate
LARGE = 20100
TELL, GO = 59, 58  # descriptors of the program


class Shape:
    """A policy, what it denies, and whether Landlock can hold all of that."""

    def __init__(self, name, rules, targets, held=False, inherit=False, hide=False):
        self.name, self.rules, self.targets = name, rules, targets
        self.held, self.inherit, self.hide = held, inherit, hide


LITERAL = ('default: read-only, write: ["{0}/ws"], '
           'deny: ["{0}/ro/key", "{0}/ro/dir", "{0}/ro/later", "{0}/ro/replaced", "{0}/ro/newdir"]')
SEEN = ["ro/key", "ro/dir", "ro/dir/file", "ro/later", "ro/replaced", "ro/newdir/file", "ro/program"]

SHAPES = [
    Shape("literal", LITERAL, SEEN, held=True),
    Shape("inherited", LITERAL, SEEN, held=True, inherit=True),
    Shape("replaced", 'default: read-only, write: ["{0}/ws"], deny: ["{0}/ro/key", "{0}/ro/replaced"]',
          ["ro/key", "ro/replaced"], held=True),
    Shape("workspace", 'default: read-only, write: ["{0}/ws"], deny: ["{0}/ws/secret", "{0}/ws/private"]',
          ["ws/secret", "ws/private", "ws/private/file", "ro/program"]),
    Shape("pattern", 'default: read-only, write: ["{0}/ws"], deny: ["**/*.secret"]',
          ["ws/a.secret", "ro/b.secret", "ro/later.secret"]),
    Shape("large", 'default: read-only, write: ["{0}/ws"], deny: ["{0}/large/key"]', ["large/key", "ro/program"]),
    Shape("hidden", 'default: read-only, write: ["{0}/ws"], hide: ["{0}/ro/key", "{0}/ro/absent"]',
          ["ro/key", "ro/absent"], hide=True),
    Shape("deny", 'default: deny, read: ["{0}/ro/open"], write: ["{0}/ws"]', ["ro/key", "ro/dir/file", "ro/later"]),
]


class Lab:
    def __init__(self, shape, user, program):
        self.shape, self.entry = shape, pwd.getpwnam(user)
        # not in /tmp, which every policy lets be written
        self.root = os.path.realpath(tempfile.mkdtemp(prefix="aw-gate.", dir="/var/tmp"))
        os.chmod(self.root, 0o755)
        for name in ("ro/dir", "ro/open", "ws/private", "home", "rt", "state"):
            os.makedirs(f"{self.root}/{name}")
        os.chmod(self.root + "/rt", 0o700)
        for name in ("ro/key", "ro/replaced", "ro/dir/file", "ro/open/file", "ws/secret", "ws/private/file",
                     "ws/a.secret", "ro/b.secret"):
            self.write(name)
        shutil.copy("/bin/true", self.root + "/ro/program")
        shutil.copy(program, self.root + "/ro/open/gate")
        if shape.name == "large":
            os.mkdir(self.root + "/large")
            for i in range(LARGE):
                os.close(os.open(f"{self.root}/large/{i}", os.O_CREAT | os.O_WRONLY))
            self.write("large/key")
        self.targets = [f"{self.root}/{name}" for name in shape.targets] + self.devices()
        self.policy()
        self.give()

    def write(self, name):
        with open(f"{self.root}/{name}", "w", encoding="ascii") as file:
            file.write(SECRET)

    def devices(self):
        """Disks, by the name they have and in a folder that may be read; root alone reaches them."""
        found = [f"/dev/{name}" for name in ("loop0", "sda", "vda") if os.path.exists(f"/dev/{name}")]
        if not self.shape.held:
            return found[:1]
        if os.geteuid() == 0 and not self.entry.pw_uid and found:
            number = os.stat(found[0])
            if stat.S_ISBLK(number.st_mode):
                for name in ("ws/node", "ro/open/node"):
                    os.mknod(f"{self.root}/{name}", 0o666 | stat.S_IFBLK, number.st_rdev)
                    found.append(f"{self.root}/{name}")
        return found

    def policy(self):
        with open(self.root + "/policy.yaml", "w", encoding="ascii") as file:
            file.write("version: 1\nmode: enforce\nprotections: off\nfilesystem: {" +
                       self.shape.rules.format(self.root) + "}\n")
            if "ro/program" in self.shape.targets:
                file.write(f'exec: {{default: allow, deny: ["{self.root}/ro/program"]}}\n')

    def give(self):
        for where, folders, files in os.walk(self.root):
            for name in folders + files:
                os.lchown(os.path.join(where, name), self.entry.pw_uid, self.entry.pw_gid)
        os.chown(self.root, self.entry.pw_uid, self.entry.pw_gid)

    def exchange(self):
        """What a user does meanwhile: save a file anew, make what was missing."""
        self.write("new")
        os.rename(self.root + "/new", self.root + "/ro/replaced")
        for name in ("ro/later", "ro/later.secret"):
            self.write(name)
        os.mkdir(self.root + "/ro/newdir")
        self.write("ro/newdir/file")
        for name in ("ws/secret", "ro/key", "large/key"):
            if os.path.exists(f"{self.root}/{name}"):
                self.write("new")
                os.rename(self.root + "/new", f"{self.root}/{name}")
        os.rename(self.root + "/ro/dir", self.root + "/ro/olddir")
        os.mkdir(self.root + "/ro/dir")
        self.write("ro/dir/file")
        self.give()

    def close(self):
        subprocess.run(["chmod", "-R", "u+rwX", self.root], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.root, ignore_errors=True)


def start(lab, runner, depth):
    """The program behind agentwatch, with two pipes and what it inherits."""
    told, tell = os.pipe()
    go, let_go = os.pipe()
    words = [os.environ["AGENTWATCH"], "run", "--quiet", "--log", "none", "--session", "gate", "--runner", runner,
             "--policy", lab.root + "/policy.yaml", "--workspace", lab.root + "/ws", "--", lab.root + "/ro/open/gate", lab.root + "/ws"]
    words += ["-e"] if lab.shape.hide else []
    words += depth
    given, stdin = {TELL: tell, GO: go}, subprocess.DEVNULL
    if lab.shape.inherit:
        stdin = os.open(lab.root + "/ro", os.O_RDONLY)
        given.update({55: os.open(lab.root + "/ro", os.O_RDONLY), 56: os.open("/", os.O_PATH), 57: os.open("/proc", 0)})
        for word in (f"0={lab.root}/ro", f"55={lab.root}/ro", "56=", "57=/proc"):
            words += ["-i", word]
    for number, fd in given.items():
        os.dup2(fd, number)
        os.close(fd)
    user = {}
    if lab.entry.pw_uid and os.geteuid() == 0:
        user = {"user": lab.entry.pw_uid, "group": lab.entry.pw_gid, "extra_groups": []}
    env = {"PATH": "/usr/bin:/bin", "HOME": lab.root + "/home", "LANG": "C", "XDG_STATE_HOME": lab.root + "/state",
           "XDG_RUNTIME_DIR": lab.root + "/rt"}
    process = subprocess.Popen(words + lab.targets, env=env, cwd=lab.root + "/ws", stdin=stdin, pass_fds=list(given),
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **user)
    for number in given:
        os.close(number)
    if lab.shape.inherit:
        os.close(stdin)
    return process, told, let_go


def run(lab, runner, depth):
    """Status and output."""
    process, told, let_go = start(lab, runner, depth)
    try:
        if os.read(told, 100):
            lab.exchange()
            os.write(let_go, b"go\n")
        text = process.communicate(timeout=600)[0]
    except subprocess.TimeoutExpired:
        process.kill()
        text = process.communicate()[0] + "timed out\n"
    finally:
        os.close(told)
        os.close(let_go)
    return process.returncode, text


def gate_of(lab):
    """Does an open pass from the gate? As plan.txt says."""
    try:
        with open(lab.root + "/state/agentwatch/sessions/gate/plan.txt", encoding="utf-8") as file:
            lines = [line.strip() for line in file if line.startswith("gate ")]
    except OSError:
        return "there is no plan.txt"
    return lines[0].split(None, 1)[1] if lines else "plan.txt has no line about the gate"


def probe(shape, runner, user, options):
    """One line, or two where it is known what passes."""
    lab = Lab(shape, user, options.program)
    what = f"{shape.name}, {runner}, {user}"
    try:
        depth = ["-l"] if options.long else [] if shape.held and runner in SANDBOXES else ["-q"]
        status, text = run(lab, runner, depth)
        last = text.strip().splitlines()[-1:] or ["nothing was said"]
        good = status == 0 and last[0].startswith("probes ")
        print(f"{'ok' if good else 'not ok'} - gate: {what}: {last[0]}")
        for line in text.strip().splitlines()[:25] if not good else []:
            print("# " + line)
        root_reaches = user == "root" and (runner == "landlock" or shape.inherit)
        if runner in SANDBOXES:
            passes = gate_of(lab)
            expected = shape.held and not root_reaches
            right = passes == "opens for reading pass" if expected else passes.startswith("no open passes")
            print(f"{'ok' if right else 'not ok'} - gate: {what}: {passes}")
    finally:
        lab.close()


def worth(shape, runner, user, options):
    """In the short version: where something passes from the gate, and each other shape once."""
    if options.long or shape.held and runner in SANDBOXES:
        return True
    if runner in SANDBOXES:
        return (runner == "bwrap") == (user == options.users.split(",")[0])
    return shape.name == "literal" and user == options.users.split(",")[0]


def works(runner):
    """Why not, or None."""
    done = subprocess.run([os.environ["AGENTWATCH"], "run", "--quiet", "--log", "none", "--mode", "enforce", "--runner",
                           runner, "--", "true"], capture_output=True, text=True, check=False)
    return (done.stderr.strip().splitlines() or ["it failed"])[-1] if done.returncode else None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--users", default="root" if os.geteuid() == 0 else pwd.getpwuid(os.geteuid()).pw_name)
    parser.add_argument("--runners", default="bwrap,landlock,exec,firejail")
    parser.add_argument("--shapes", default=",".join(shape.name for shape in SHAPES))
    options = parser.parse_args()
    for runner in options.runners.split(","):
        why = works(runner)
        if why:
            print(f"ok - gate: {runner} # SKIP {why}")
            continue
        for user in options.users.split(","):
            for shape in SHAPES:
                if shape.name in options.shapes.split(",") and worth(shape, runner, user, options):
                    probe(shape, runner, user, options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
