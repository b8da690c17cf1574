# SPDX-License-Identifier: Apache-2.0
"""work.py - the commands that bench.py times, and what they work on."""
import collections
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile

HERE = os.path.dirname(os.path.abspath(__file__))

# cwd: of both runs; before: called ahead of each; bare: when it is not the command itself
Work = collections.namedtuple("Work", "command cwd before bare", defaults=(None, None, None))


def open_burst(bench):
    return Work([bench.compiled("open_loop"), "100000"])


def static_open(bench):
    return Work([bench.compiled("open_loop", "-static"), "20000"])


def many_files(path):
    os.makedirs(path)
    for number in range(20000):
        with open(f"{path}/{number}", "w") as file:
            file.write("some text\n")


def cat(bench):
    return Work(["sh", "-c", "ls | xargs -n 5000 cat"], bench.once("files", many_files))


def write_tree(path, count, folders):
    for number in range(count):
        os.makedirs(f"{path}/d{number % folders}", exist_ok=True)
        with open(f"{path}/d{number % folders}/f{number}", "w") as file:
            file.write(str(number))


def git(path, *arguments):
    subprocess.run(["git", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-C", path, *arguments], check=True)


def repository(path):
    os.makedirs(path)
    git(path, "init", "-q")
    write_tree(path, 4000, 80)
    for number in range(20):
        with open(f"{path}/count", "w") as file:
            file.write(str(number))
        git(path, "add", ".")
        git(path, "commit", "-qm", str(number))


def git_status(bench):
    return Work(["sh", "-c", "git status >/dev/null; git --no-pager log --stat >/dev/null"], bench.once("repo", repository))


def checked_out(path):
    os.makedirs(path)
    git(path, "init", "-q")
    write_tree(path, 5000, 100)
    git(path, "add", ".")
    git(path, "commit", "-qm", "all")


def checkout(bench):
    folder = bench.once("checkout", checked_out)

    def clean():
        for name in os.listdir(folder):
            if name != ".git":
                shutil.rmtree(f"{folder}/{name}")
        os.sync()
    return Work(["git", "checkout", "-q", "-f"], folder, clean)


def archive(path):
    write_tree(path + ".tree", 4000, 80)
    subprocess.run(["tar", "cf", path, "-C", path + ".tree", "."], check=True)


def untar(bench):
    """On /dev/shm, which is a tmpfs also behind a wall that makes its own."""
    packed = bench.once("tree.tar", archive)
    target = f"/dev/shm/aw-bench.{os.getpid()}"
    bench.remove_later(target)
    return Work(["sh", "-c", f"mkdir {target} && exec tar xf {packed} -C {target}"], bench.scratch,
                lambda: shutil.rmtree(target, ignore_errors=True))


def project(path):
    os.makedirs(path)
    names = [f"f{number}" for number in range(12)]
    with open(f"{path}/Makefile", "w") as file:
        file.write("all: " + " ".join(n + ".o" for n in names) + "\n\tcc -o all $^\n%.o: %.c\n\tcc -O1 -c -o $@ $<\n")
    for name in names:
        with open(f"{path}/{name}.c", "w") as file:
            file.write("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n")
            file.write(f"int {name}(void) {{ puts(\"{name}\"); return 0; }}\n")
    with open(f"{path}/f0.c", "a") as file:
        file.write("int main(void) { return f0(); }\n")


def make(bench):
    folder = bench.once("project", project)

    def clean():
        for name in os.listdir(folder):
            if name.endswith(".o") or name == "all":
                os.unlink(f"{folder}/{name}")
    return Work(["make", "-s", "-j2"], folder, clean)


def modules(path):
    os.makedirs(path)
    for number in range(740):
        with open(f"{path}/m{number}.js", "w") as file:
            file.write(f"exports.value = {number};\n")
    with open(f"{path}/main.js", "w") as file:
        file.write("let sum = 0; for (let n = 0; n < 740; n++) sum += require('./m' + n).value; console.log(sum);\n")


def node(bench):
    if not shutil.which("node"):
        raise LookupError("no node")
    return Work(["node", "main.js"], bench.once("modules", modules))


def python(_bench):
    imports = "import asyncio, json, email.message, http.server, unittest, xml.dom.minidom, logging.config, " \
              "multiprocessing.pool, ssl, urllib.request, zipfile, tarfile, decimal, difflib, pydoc, ctypes, curses"
    return Work(["/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable, "-c", imports])


def spawn(bench):
    return Work([bench.compiled("spawn_loop"), "500", shutil.which("true")])


def spawn_static(bench):
    return Work([bench.compiled("spawn_loop"), "500", bench.compiled("nothing", "-static")])


def large_tree(path):
    write_tree(path, 20000, 400)
    git(path, "init", "-q")
    git(path, "add", ".")
    git(path, "commit", "-qm", "all")


def find(bench):
    """Looks at each file and opens each folder."""
    return Work(["find", ".", "-type", "f", "-size", "+1000"], bench.once("large", large_tree))


def status(bench):
    return Work(["git", "status", "--porcelain"], bench.once("large", large_tree))


def tarballs(path):
    """40 packages of 25 files, and a project that wants all of them."""
    os.makedirs(f"{path}/project")
    wanted = {}
    for number in range(40):
        name = f"p{number}"
        with tarfile.open(f"{path}/{name}.tgz", "w:gz") as out:
            manifest = json.dumps({"name": name, "version": "1.0.0"})
            for inner, text in [("package.json", manifest), *((f"lib/f{n}.js", f"exports.n = {n};\n" * 40) for n in range(24))]:
                entry = tarfile.TarInfo(f"package/{inner}")
                entry.size = len(text)
                out.addfile(entry, io.BytesIO(text.encode()))
        wanted[name] = f"file:../{name}.tgz"
    with open(f"{path}/project/package.json", "w") as file:
        json.dump({"name": "project", "version": "1.0.0", "private": True, "dependencies": wanted}, file)


def npm(bench):
    if not shutil.which("npm"):
        raise LookupError("no npm")
    folder = bench.once("tarballs", tarballs) + "/project"

    def clean():
        shutil.rmtree(f"{folder}/node_modules", ignore_errors=True)
        if os.path.exists(f"{folder}/package-lock.json"):
            os.unlink(f"{folder}/package-lock.json")
    return Work(["npm", "install", "--offline", "--no-audit", "--no-fund", "--silent", "--cache", bench.path("npm-cache")], folder, clean)


# --- how the cost of a call grows

def calls_of(make, amount):
    """How many opens the work makes: an amount of calls means itself."""
    return amount if make is open_often else 20000


def open_many_rules(_amount, bench):
    return Work([bench.compiled("open_loop"), "20000"])


def open_side_by_side(amount, bench):
    """The same number of opens by so many processes at once."""
    loop = bench.compiled("open_loop")
    return Work(["sh", "-c", f"for n in $(seq {amount}); do {loop} {20000 // amount} & done; wait"])


def open_often(amount, bench):
    return Work([bench.compiled("open_loop"), str(amount)])


def open_deep(amount, bench):
    def make(path):
        os.makedirs(path)
        for depth in (1, 8, 32, 128):
            folder = path + "/f" * depth
            os.makedirs(folder, exist_ok=True)
            with open(f"{folder}/file", "w") as file:
                file.write("deep\n")
    return Work([bench.compiled("open_loop"), "20000", bench.once("deep", make) + "/f" * amount + "/file"])


def start(_bench):
    return Work([shutil.which("true")])


def start_walled(bench, protected=False):
    """Bare is the wall's own program with the very arguments that a run of ours gives it."""
    if not shutil.which("bwrap"):
        raise LookupError("no bwrap")
    folder = bench.once("empty", os.makedirs)
    command = [shutil.which("true")]
    how = ["--mode", "enforce"] if protected else ["--policy", bench.policy()]
    subprocess.run(bench.watch(["--runner", "bwrap", *how], command), cwd=folder, check=True)
    return Work(command, folder, None, [*bench.wall_of_last_run(), *command])


def connect(bench):
    return Work([bench.compiled("connect_loop"), "2000", str(bench.served_port())], bench.once("empty", os.makedirs))


def again(work, times):
    """The same several times over, so that it takes long beside the start-up of a wall."""
    def several(bench):
        found = work(bench)
        script = "for n in " + " ".join(str(n) for n in range(times)) + '; do "$@" || exit; done'
        return found._replace(command=["sh", "-c", script, "sh", *found.command])
    return several


def many_rules(count):
    """So many rules that say nothing of what is opened: folders, names and patterns in turn."""
    shapes = ("/srv/data{0}/private", "**/name{0}.key", "/opt/tool{0}/**/*.pem", "/var/lib/x{0}")
    return json.dumps({"version": 1, "mode": "audit", "protections": "off", "filesystem": {
        "default": "allow", "deny": [shapes[number % 4].format(number) for number in range(count)]}})


def policy_text(port=None):
    """Reads are for the wall to hold: no pattern has a wildcard, nothing readable is kept back."""
    rules = {"version": 1, "mode": "enforce", "protections": "off",
             "filesystem": {"default": "read-only", "write": ["$WORKSPACE", "$TMPDIR"]}, "network": {"default": "deny"}}
    if port:
        rules["network"]["allow"] = [f"127.0.0.1:{port}"]
    return json.dumps(rules)
