#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""matrix.py - matrix.c bare and behind every runner; what it may not change is looked at from outside."""
import argparse
import os
import pwd
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from stage import save, tree  # noqa: E402

POLICY = """version: 1
mode: enforce
filesystem:
  default: read-only
  write: ["{root}/w"]
  deny: ["{root}/w/secret"]
  deny_write: ["{root}/w/frozen", "{root}/w/guard/inner"]
network: {{default: deny, listen: ["unix:{root}/w/**"]}}
"""
KINDS = ["file", "folder", "link-to-file", "link-to-folder", "pipe", "nothing"]
KEPT = ["w/secret", "w/frozen", "out"]


class Ground:
    def __init__(self, program, user):
        self.user = pwd.getpwnam(user)
        self.root = tempfile.mkdtemp(prefix="aw-matrix.")
        os.chmod(self.root, 0o755)
        for name in KEPT:
            os.makedirs(f"{self.root}/{name}")
            save(f"{self.root}/{name}/inner", "SECRET\n" if "secret" in name else "as it was\n", 0o666)
        os.mkdir(self.root + "/rt", 0o700)
        shutil.copy(program, self.root + "/matrix")
        save(self.root + "/policy.yaml", POLICY.format(root=self.root))
        if os.geteuid() == 0:
            for where, folders, files in os.walk(self.root):
                for name in [".", *folders, *files]:
                    os.chown(os.path.join(where, name), self.user.pw_uid, self.user.pw_gid)

    def state(self):
        return {name: (tree(f"{self.root}/{name}"), os.lstat(f"{self.root}/{name}").st_mode,
                       os.lstat(f"{self.root}/{name}/inner").st_nlink
                       if os.path.exists(f"{self.root}/{name}/inner") else 0) for name in KEPT}

    def run(self, prefix, options):
        other = {"user": self.user.pw_uid, "group": self.user.pw_gid, "extra_groups": []} \
            if os.geteuid() == 0 and self.user.pw_uid else {}
        env = {"PATH": "/usr/bin:/bin", "HOME": self.root + "/w", "LANG": "C", "XDG_RUNTIME_DIR": self.root + "/rt",
               "TMPDIR": self.root + "/w"}
        before = self.state()
        with open(self.root + "/said", "wb+") as said:
            process = subprocess.Popen(
                [*prefix, self.root + "/matrix", self.root, str(options.ms), str(options.seed), *(options.focus or [])], env=env,
                cwd=self.root, stdin=subprocess.DEVNULL, stdout=said, stderr=said, **other)
            try:
                process.wait(options.ms / 1000 * 2 + 20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            said.seek(0)
            text = said.read().decode(errors="replace")
        now = self.state()
        found = [f"changed from outside: {name}: {before[name]} {now[name]}" for name in KEPT if before[name] != now[name]]
        if os.path.exists(self.root + "/w/guard/inner"):
            found.append("a guarded name is there")
        return found + sorted(set(re.findall("^ESCAPE .*$", text, re.M))), re.search(r"^CALLS (\d+)$", text, re.M), text

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--agentwatch", required=True)
    parser.add_argument("--runners", default="exec,landlock,bwrap")
    parser.add_argument("--users", default=pwd.getpwuid(os.geteuid()).pw_name)
    parser.add_argument("--ms", type=int, default=3000, help="of one run")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--focus", default="", help="CALL:KIND:KIND, of " + ", ".join(KINDS))
    options = parser.parse_args()
    if options.focus:
        call, one, two = options.focus.split(":")
        options.focus = [call, *map(str, sorted((KINDS.index(one), KINDS.index(two))))]
    for user in options.users.split(","):
        for runner in ["bare", *options.runners.split(",")]:
            prefix = [] if runner == "bare" else [
                options.agentwatch, "run", "--quiet", "--log", "none", "--mode", "enforce", "--runner", runner]
            if prefix and subprocess.run([*prefix, "--", "true"], capture_output=True, check=False).returncode:
                print(f"ok - race matrix: {runner}, {user} # SKIP it cannot be used here", flush=True)
                continue
            ground = Ground(options.program, user)
            try:
                if prefix:
                    prefix += ["--policy", ground.root + "/policy.yaml", "--workspace", ground.root + "/w", "--"]
                found, count, text = ground.run(prefix, options)
            finally:
                ground.close()
            calls = count.group(1) if count else "no"
            good = bool(count) and (bool(found) if runner == "bare" else not found)
            print(f"{'ok' if good else 'not ok'} - race matrix: {runner}, {user}: {calls} calls, "
                  + (f"{len(found)} ways, as it has to" if runner == "bare" else "nothing gets through"), flush=True)
            if not good:
                print("# " + "\n# ".join(found[:12] or [text[-400:].replace(chr(10), ' ')]), flush=True)


if __name__ == "__main__":
    main()
