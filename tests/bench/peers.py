# SPDX-License-Identifier: Apache-2.0
"""peers.py - what people would use instead: the same commands behind other tools.

Each is a function that takes the bench and returns the words in front of a command; where the
tool is not installed it says so (LookupError). `make bench-peers` installs them. Watchers write
their log into the scratch folder, as ours does; sandboxes may write there and to the rest of
what a row works on.
"""
import collections
import json
import os
import shutil
import subprocess

# network: the command may reach servers of this machine
Peer = collections.namedtuple("Peer", "label prefix about network", defaults=(True,))

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FOLDER = os.path.join(ROOT, os.environ.get("AW_PEERS_DIR", "build/peers"))
CALLS = "trace=%file,%network,%process"  # about what our log has


def found(program):
    path = shutil.which(program)
    if not path:
        raise LookupError(f"{program} is not installed")
    return path


def of_npm(program):
    path = f"{FOLDER}/node_modules/.bin/{program}"
    if not os.access(path, os.X_OK):
        raise LookupError(f"{program} is not in {os.path.relpath(FOLDER, ROOT)}; make bench-peers")
    return path


def words(bench, peer):
    """The prefix of a peer that can run anything here at all; asked once."""
    if peer.label not in bench.peers:
        try:
            bench.peers[peer.label] = tried(bench, peer.prefix(bench))
        except LookupError as reason:
            bench.peers[peer.label] = reason
    if isinstance(bench.peers[peer.label], LookupError):
        raise bench.peers[peer.label]
    return bench.peers[peer.label]


def tried(bench, prefix):
    done = subprocess.run([*prefix, shutil.which("true")], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, cwd=bench.path("tmp"))
    if done.returncode:
        said = done.stderr.decode(errors="replace").strip().split("\n")[-1]
        raise LookupError(f"it does not work here: {said[:100]}")
    return prefix


def write(path, text, mode=0o600):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, mode)
    return path


def strace(bench):
    return [found("strace"), "-f", "-qq", "-e", CALLS, "-o", bench.path("strace.log")]


def strace_bpf(bench):
    return [found("strace"), "-f", "--seccomp-bpf", "-qq", "-e", CALLS, "-o", bench.path("strace.log")]


def bwrap(_bench):
    """Alone: the machine read-only, a network of its own left out, since rows connect."""
    return [found("bwrap"), "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc", "--bind", "/tmp", "/tmp",
                  "--bind", "/dev/shm", "/dev/shm", "--unshare-pid", "--die-with-parent", "--"]


def firejail(_bench):
    return [found("firejail"), "--quiet", "--noprofile", "--"]


def firejail_trace(bench):
    return [found("firejail"), "--quiet", "--noprofile", f"--trace={bench.path('firejail.log')}", "--"]


def srt(bench):
    for helper in ("rg", "socat", "bwrap"):
        found(helper)
    settings = {"network": {"allowedDomains": [], "deniedDomains": []},
                "filesystem": {"denyRead": [], "allowWrite": ["/tmp", "/dev/shm", bench.scratch], "denyWrite": []}}
    return [of_npm("srt"), "--settings", write(bench.path("srt.json"), json.dumps(settings))]


def codex(bench):
    """Its home must not lie in the folder for temporary files, which the bench's own does not."""
    home = bench.path("codex")
    os.makedirs(home, exist_ok=True)
    return ["env", f"CODEX_HOME={home}", of_npm("codex"), "sandbox", "-c", 'sandbox_mode="workspace-write"', "--"]


def fakeroot(_bench):
    """A preload library with a server: no log, but a message for each call on files' owners."""
    return [found("fakeroot"), "--"]


def sudo(bench):
    """Its intercept mode watches programs alone; the rules are put in place for us only."""
    if os.geteuid():
        raise LookupError("sudo's intercept is set up by root")
    found("sudo")
    rules = write(bench.path("sudoers"), f"Defaults !env_reset, !use_pty, intercept, log_subcmds, !syslog, logfile={bench.path('sudo.log')}\n"
                  "root ALL=(ALL:ALL) NOPASSWD: ALL\n", 0o440)
    return ["unshare", "-m", "sh", "-c", 'mount --bind "$0" /etc/sudoers && exec sudo -n -- "$@"', rules]


PEERS = [
    Peer("strace -f", strace, "log"),
    Peer("strace bpf", strace_bpf, "log"),
    Peer("firejail trace", firejail_trace, "log, no wall"),
    Peer("sudo intercept", sudo, "log of programs"),
    Peer("fakeroot", fakeroot, "preload, no log"),
    Peer("bwrap", bwrap, "wall"),
    Peer("firejail", firejail, "wall"),
    Peer("srt", srt, "wall", False),
    Peer("codex sandbox", codex, "wall", False),
]
