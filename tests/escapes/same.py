# SPDX-License-Identifier: Apache-2.0
"""same.py - allowed calls give the same bare and in enforce, byte for byte.

The policy denies something elsewhere, so that every call is looked at, and allows all that
the program does.
"""
import difflib
import os
import shutil
import subprocess
import sys
import tempfile

POLICY = """version: 1
mode: enforce
base: open
filesystem:
  default: allow
  deny: ["{root}/elsewhere", "**/*.never"]
  deny_write: ["{root}/frozen"]
  hide: ["{root}/hidden"]
exec: {{default: allow, deny: ["{root}/elsewhere/program"]}}
network:
  default: deny
  allow: ["127.1.0.0/16", "unix:**", "unix:@**"]
  listen: ["127.1.0.0/16", "unix:**", "unix:@**"]
"""


class Ground:
    """A folder of the user's, and the copy of the program in it."""

    def __init__(self, program, build, uid, gid):
        self.uid, self.gid, self.build = uid, gid, build
        self.root = tempfile.mkdtemp(prefix="aw-same.")
        os.chmod(self.root, 0o755)
        for name in ("elsewhere", "frozen", "hidden", "home", "rt"):
            os.mkdir(f"{self.root}/{name}")
        os.chmod(self.root + "/rt", 0o700)
        shutil.copy(program, self.root + "/same")
        with open(self.root + "/policy.yaml", "w") as file:
            file.write(POLICY.format(root=self.root))
        for where, folders, files in os.walk(self.root):
            for name in folders + files:
                os.chown(os.path.join(where, name), uid, gid)
        os.chown(self.root, uid, gid)

    def run(self, section, prefix):
        """Output, errors and status of one section in a fresh folder."""
        work = self.root + "/work"
        subprocess.run(["chmod", "-R", "u+rwX", work], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(work, ignore_errors=True)
        os.mkdir(work)
        os.chown(work, self.uid, self.gid)
        env = {"PATH": "/usr/bin:/bin", "HOME": self.root + "/home", "LANG": "C",
               "XDG_RUNTIME_DIR": self.root + "/rt"}
        user = {"user": self.uid, "group": self.gid, "extra_groups": []} if self.uid and os.geteuid() == 0 else {}
        with open(self.root + "/out", "wb+") as out, open(self.root + "/err", "wb+") as err:
            process = subprocess.Popen(prefix + [self.root + "/same", section], cwd=work, env=env,
                                       stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                       start_new_session=True, **user)
            try:
                status = process.wait(150)
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
            out.seek(0)
            err.seek(0)
            return out.read().decode(errors="replace") + f"status {status}\n", err.read().decode(errors="replace")

    def watched(self, config):
        return [self.build + "/agentwatch", "run", "--quiet", "--log", "none", "--mode", "enforce", "--engine",
                config.engine, "--runner", config.runner, "--policy", self.root + "/policy.yaml",
                "--workspace", self.root, "--"]

    def close(self):
        subprocess.run(["chmod", "-R", "u+rwX", self.root], stderr=subprocess.DEVNULL, check=False)
        shutil.rmtree(self.root, ignore_errors=True)


def sections(program):
    return subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split()


def compare(program, build, configs, ids_of, known):
    """One line for each section and configuration; `known` says what may differ."""
    bare = {}
    for config, why in configs:
        if config.engine == "bare":
            continue
        if why:
            print(f"ok - same results: {config} # SKIP {why}")
            continue
        uid, gid = ids_of(config.user)
        ground = Ground(program(config.build), build, uid, gid)
        try:
            for section in sections(ground.root + "/same"):
                # the folder's name is in no output, so one bare run will do
                key = (config.user, config.build, section)
                if key not in bare:
                    bare[key] = ground.run(section, [])[0]
                text, errors = ground.run(section, ground.watched(config))
                judge(config, section, bare[key], text, errors, known)
        finally:
            ground.close()


def read_known(path):
    """Differences that are written down: (what, bare, watched)."""
    rows = [line.rstrip("\n") for line in open(path) if line.strip() and not line.startswith("#")]
    return {tuple([row.rsplit(": ", 1)[0], *row.rsplit(": ", 1)[1].split()]) for row in rows}


def settled(bare, text, known):
    """The watched output with what is known put right, and how much that was."""
    before, after, count = bare.splitlines(), text.splitlines(), 0
    if len(before) != len(after):
        return after, 0
    for index, (one, two) in enumerate(zip(before, after)):
        what, _colon, result = one.rpartition(": ")
        if one != two and two.startswith(what + ": ") and (what, result, two[len(what) + 2:]) in known:
            after[index], count = one, count + 1
    return after, count


def judge(config, section, bare, text, errors, known):
    after, count = settled(bare, text, known)
    sentence = f"same results: {config}: {section} ({len(after)} lines, {count} known to differ)"
    if after == bare.splitlines():
        print(f"ok - {sentence}")
    else:
        print(f"not ok - {sentence}")
        for line in list(difflib.unified_diff(bare.splitlines(), after, "bare", "watched", n=0, lineterm=""))[2:42]:
            print("# " + line)
        if errors:
            print("# " + errors.strip()[-300:].replace("\n", "\n# "))
    sys.stdout.flush()
