# SPDX-License-Identifier: Apache-2.0
"""loosen.py - a policy file that came with the workspace cannot loosen anything, key by key."""
import os
import shutil
import socket
import subprocess

from same import Ground

BASE = """version: 1
mode: enforce
filesystem:
  default: read-only
  write: ["{root}/ground"]
  deny: ["{root}/elsewhere", "{root}/ground/secret"]
  deny_write: ["{root}/ground/frozen"]
  hide: ["{root}/ground/hidden"]
exec: {{default: allow, deny: ["{root}/ground/program"]}}
network: {{default: deny, allow: ["127.1.0.0/16"]}}
environment: {{unset: ["SECRET_*"]}}
"""

# What a repository might bring along.
FILES = {
    "nothing": "",
    "mode": "mode: audit\n",
    "base": "base: open\n",
    "runner": "runner: exec\n",
    "engine": "engine: preload\n",
    "verdicts": "verdicts: local\n",
    "on_missing_runner": "on_missing_runner: exec\n",
    "merge": "merge: replace\nfilesystem: {{default: allow}}\nnetwork: {{default: allow}}\n",
    "preset": "preset: [everything]\n",
    "filesystem.default": "filesystem: {{default: allow}}\n",
    "filesystem.read": 'filesystem: {{read: ["/", "{root}"], write: ["/"]}}\n',
    "filesystem.write": 'filesystem: {{write: ["/", "{root}/elsewhere", "{root}/ground/frozen"]}}\n',
    "filesystem.deny": 'filesystem: {{deny: ["!{root}/elsewhere", "!{root}/ground/secret", "!/**"]}}\n',
    "filesystem.deny_write": 'filesystem: {{deny_write: ["!{root}/ground/frozen"]}}\n',
    "filesystem.hide": 'filesystem: {{hide: ["!{root}/ground/hidden"]}}\n',
    "filesystem.ask": 'filesystem: {{ask: ["{root}/elsewhere", "{root}/ground/secret"]}}\n',
    "expose": 'filesystem: {{expose: [{{source: "{root}/elsewhere", target: "{root}/ground/x", mode: rw}}]}}\n',
    "exec.default": "exec: {{default: allow}}\n",
    "exec.allow": 'exec: {{allow: ["{root}/ground/program", "**"]}}\n',
    "exec.deny": 'exec: {{deny: ["!{root}/ground/program"]}}\n',
    "network.default": "network: {{default: allow}}\n",
    "network.allow": 'network: {{allow: ["127.0.0.0/8", "*"]}}\n',
    "network.deny": 'network: {{deny: ["!127.2.0.0/16"]}}\n',
    "network.listen": 'network: {{listen: ["127.0.0.0/8"]}}\n',
    "environment.inherit": "environment: {{inherit: all}}\n",
    "environment.set": 'environment: {{set: {{SECRET_KEY: "set by the workspace"}}}}\n',
    "environment.unset": 'environment: {{unset: []}}\n',
    "limits": "limits: {{memory: 1000g, processes: 100000}}\n",
    "container": "container: {{privileged: true}}\n",
    "user": "user: root\n",
    "host_commands": 'host_commands: {{sh: {{allow: ["*"]}}}}\n',
    "profiles": "profiles: {{all: {{when: {{exec: \"*\"}}, filesystem: {{default: allow}}}}}}\n",
    "hooks": "hooks: [{{function: getenv, returns: pointer, arguments: [string]}}]\n",
    "protections": "protections: off\n",
    "a malformed file": "filesystem: [\n",
}
JOB = """cat elsewhere/key ground/secret/key ground/hidden/key 2>&1
echo changed >ground/frozen/file
ground/program
echo "environment ${SECRET_KEY:-is clean}"
(exec 3<>/dev/tcp/127.2.1.1/PORT) 2>&1 && echo connected
(exec 3<>/dev/tcp/127.1.1.1/PORT) 2>&1 && echo twin connected
cat ground/open/key
echo changed >ground/open/file
"""


def fill(ground, server):
    root = ground.root
    for name in ("elsewhere", "ground/secret", "ground/hidden", "ground/frozen", "ground/open"):
        os.makedirs(f"{root}/{name}", exist_ok=True)
        for file in ("key", "file"):
            with open(f"{root}/{name}/{file}", "w") as out:
                out.write("open text\n" if name == "ground/open" else "treasure text\n")
    with open(root + "/ground/program", "w") as out:
        out.write("#!/bin/sh\necho treasure program\n")
    os.chmod(root + "/ground/program", 0o755)
    with open(root + "/job", "w") as out:
        out.write(JOB.replace("PORT", str(server.getsockname()[1])))
    with open(root + "/policy.yaml", "w") as out:
        out.write(BASE.format(root=root))
    for where, folders, files in os.walk(root):
        for name in folders + files:
            os.chown(os.path.join(where, name), ground.uid, ground.gid)


def once(ground, config, text):
    """What came out, and whether the frozen file is as it was."""
    root = ground.root
    with open(root + "/ground/.agentwatch.yaml", "w") as out:
        out.write("version: 1\n" + text.format(root=root))
    os.chown(root + "/ground/.agentwatch.yaml", ground.uid, ground.gid)
    argv = ground.watched(config)
    del argv[argv.index("--mode"):argv.index("--mode") + 2]
    argv[argv.index("--workspace") + 1] = root + "/ground"
    user = {"user": ground.uid, "group": ground.gid, "extra_groups": []} if ground.uid and os.geteuid() == 0 else {}
    env = {"PATH": "/usr/bin:/bin", "HOME": root + "/home", "XDG_RUNTIME_DIR": root + "/rt",
           "SECRET_KEY": "treasure in the environment"}
    done = subprocess.run(argv + ["bash", "job"], cwd=root, env=env, capture_output=True, text=True,
                          errors="replace", timeout=60, check=False, **user)
    frozen = open(root + "/ground/frozen/file").read()
    with open(root + "/ground/open/file") as file:
        twin = file.read()
    return done, frozen, twin


def problem(name, done, frozen, twin):
    out = done.stdout
    if done.returncode == 125 and "treasure" not in out:
        # refusing to start is one way to hold, but not without a file or for plain lists
        return None if "." not in name and name != "nothing" else f"it does not start: {done.stderr.strip()[-300:]}"
    for word in ("treasure", "\nconnected", "set by the workspace"):
        if word in "\n" + out:
            return f"{word.strip()!r} in the output: {out!r}"
    if frozen != "treasure text\n":
        return "the frozen file was changed"
    if "open text" not in out or "twin connected" not in out or twin != "changed\n":
        return f"what is allowed was refused: {out!r} {done.stderr.strip()[-300:]}"
    return None


def drain(server):
    """Whoever has connected, so that the queue never fills."""
    try:
        while True:
            server.accept()[0].close()
    except BlockingIOError:
        pass


def try_all(program, build, configs, ids_of):
    server = socket.socket()
    server.bind(("0.0.0.0", 0))
    server.listen(100)
    server.setblocking(False)
    for config, why in configs:
        if config.engine == "bare" or why or config.build != "glibc":
            continue
        ground = Ground(program, build, *ids_of(config.user))
        bad = 0
        try:
            for name, text in FILES.items():
                shutil.rmtree(ground.root + "/ground", ignore_errors=True)
                fill(ground, server)
                wrong = problem(name, *once(ground, config, text))
                drain(server)
                if wrong:
                    bad += 1
                    print(f"not ok - {config}: a workspace policy cannot loosen: {name}\n# {wrong}")
            if not bad:
                print(f"ok - {config}: a workspace policy cannot loosen ({len(FILES)} files)", flush=True)
        finally:
            ground.close()
    server.close()
