# SPDX-License-Identifier: Apache-2.0
"""gitconfig.py: ways to bring a key that runs a program into a repository's configuration.

Runs in a workspace that test_gitconfig.sh has made; prints "ok - " and "not ok - " lines.
"""
import ctypes
import errno
import os
import socket
import stat
import threading

HARMLESS = "[user]\n\tname = x\n"
HOSTILE = HARMLESS + "[core]\n\tfsmonitor = /nowhere/evil\n"
EXCHANGE, WHITEOUT, NOREPLACE = 2, 4, 1
libc = ctypes.CDLL(None, use_errno=True)


def say(good, sentence, more=""):
    print(("ok - " if good else "not ok - ") + sentence + (f" ({more})" if more and not good else ""), flush=True)


def error_of(function, *args):
    try:
        function(*args)
        return "ok"
    except OSError as error:
        return errno.errorcode[error.errno]


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def read(path):
    with open(path) as file:
        return file.read()


def rename2(old, new, flags):
    if libc.renameat2(-100, old.encode(), -100, new.encode(), flags) < 0:
        raise OSError(ctypes.get_errno(), "renameat2")


def repository(name, text=HARMLESS):
    """A folder that git takes for one, of any name; with text=None without a config."""
    os.mkdir(name)
    if text is not None:
        write(name + "/config", text)
    os.mkdir(name + "/objects")
    os.mkdir(name + "/refs")
    write(name + "/HEAD", "ref: refs/heads/main\n")
    return name


def put(path, text, mode=os.O_WRONLY):
    fd = os.open(path, mode, 0o644)
    os.write(fd, text.encode())
    os.close(fd)


def by_rename(path, text):
    write("lock", text)
    os.rename("lock", path)


def from_tmpfile(path):
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o644)
    os.write(fd, HOSTILE.encode())
    if libc.linkat(-100, b"/proc/self/fd/%d" % fd, -100, path.encode(), 0x400) < 0:
        raise OSError(ctypes.get_errno(), "linkat")


def by_descriptor(path, flags):
    fd = os.open(path, flags)
    put(f"/proc/self/fd/{fd}", HOSTILE)


def in_place():
    bare = repository("bare")
    write("hostile", HOSTILE)
    empty = repository("empty", None)
    tries = [
        ("opened for writing", lambda: put(".git/config", HOSTILE)),
        ("opened in a repository of any name", lambda: put("bare/config", HOSTILE)),
        ("cut off on opening", lambda: put(".git/config", HOSTILE, os.O_RDWR | os.O_TRUNC)),
        ("truncated", lambda: os.truncate(".git/config", 3)),
        ("created", lambda: put("empty/config", HOSTILE, os.O_WRONLY | os.O_CREAT | os.O_EXCL)),
        ("created for one worktree", lambda: put(".git/config.worktree", HOSTILE, os.O_WRONLY | os.O_CREAT)),
        ("opened through /proc/self/fd", lambda: by_descriptor(".git/config", os.O_RDONLY)),
        ("opened through O_PATH, any name", lambda: by_descriptor("bare/config", os.O_PATH)),
        ("given another name", lambda: os.link("bare/config", "other")),
        ("linked", lambda: os.link("hostile", "empty/config")),
        ("linked without a name", lambda: from_tmpfile("empty/config")),
        ("a symbolic link", lambda: os.symlink("../hostile", "empty/config")),
        ("a pipe", lambda: os.mkfifo("empty/config")),
        ("opened by the name it had before", lambda: put("second-name", HOSTILE)),
        ("an included file opened for writing", lambda: put("conf/included", HOSTILE)),
        ("the home's opened for writing", lambda: put(os.environ["HOME"] + "/.gitconfig", HOSTILE)),
    ]
    for sentence, function in tries:
        result = error_of(function)
        say(result == "EACCES", "is not " + sentence if sentence[0:2] not in ("a ", "an", "th") else "not: " + sentence, result)
    say(HARMLESS == read(bare + "/config") and not os.path.lexists(empty + "/config"), "and nothing has changed")


def renames():
    repository("renamed")
    for path in (".git/config", "renamed/config", ".git/config.worktree", "conf/included", os.environ["HOME"] + "/.gitconfig"):
        old = read(path) if os.path.exists(path) else None
        result = error_of(by_rename, path, HOSTILE)
        say(result == "EACCES" and (read(path) if os.path.exists(path) else None) == old and os.path.exists("lock"),
            f"{os.path.basename(os.path.dirname(path))}/{os.path.basename(path)}: a key that runs a program does not come by a rename", result)
        say(error_of(by_rename, path, (old or "") + "[user]\n\tname = y\n") == "ok" and "name = y" in read(path),
            f"{os.path.basename(os.path.dirname(path))}/{os.path.basename(path)}: another one does")
    old = read(".git/config")
    for text in ("[alias]\n\tlg = grep --open-files=./evil .\n", "[alias]\n\tr = rebase -ix./evil\n", "[delta]\n\tpager = x\n",
                 "[http]\n\tcookieFile = /x\n\tsaveCookies = true\n", "[core]\n\tworktree = /etc\n"):
        result = error_of(by_rename, ".git/config", old + text)
        say(result == "EACCES" and read(".git/config") == old, "nor " + " ".join(text.split()), result)
    text = "[alias]\n\tlg = log --graph --format='%h %s'\n[gitflow \"branch\"]\n\tmaster = main\n[core]\n\tworktree = ..\n"
    result = error_of(by_rename, ".git/config", old + text)
    say(result == "ok" and read(".git/config") == old + text, "what is known to be harmless does", result)
    by_rename(".git/config", old)
    result = error_of(by_rename, "renamed/config", "[core\n")
    say(result == "EACCES", "nor what is no configuration", result)
    result = error_of(by_rename, "renamed/config", "#" * (1 << 20) + "\n")
    say(result == "EACCES", "nor what is too long", result)
    write("hostile", HOSTILE)
    for sentence, old, new, flags in (("exchanged", "hostile", "renamed/config", EXCHANGE),
                                      ("exchanged the other way", "renamed/config", "hostile", EXCHANGE),
                                      ("with a whiteout", "hostile", "renamed/config", WHITEOUT)):
        result = error_of(rename2, old, new, flags)
        say(result == "EACCES", "nor " + sentence, result)
    os.symlink("hostile", "a-link")
    os.mkfifo("a-pipe")
    os.mkdir("a-folder")
    for name in ("a-link", "a-pipe", "a-folder"):
        result = error_of(os.rename, name, "renamed/config")
        say(result == "EACCES", f"nor {name} in its place", result)
    write("harmless", HARMLESS)
    say(error_of(rename2, "harmless", "renamed/config", NOREPLACE) == "EEXIST", "RENAME_NOREPLACE is heeded")
    say(error_of(os.rename, "none", "renamed/config") == "ENOENT" and error_of(os.rename, "renamed/config", "renamed/config") == "ok",
        "and so is what a rename says else")


def looks():
    """The result is what a rename would have given."""
    write("lock", HARMLESS)
    os.chmod("lock", 0o640)
    os.utime("lock", ns=(1_000_000_001, 2_000_000_002))
    extra = error_of(os.setxattr, "lock", "user.mark", b"1") == "ok"
    was = os.stat("lock")
    os.rename("lock", "renamed/config")
    now = os.stat("renamed/config")
    say((now.st_mode, now.st_uid, now.st_gid, now.st_mtime_ns, now.st_atime_ns, now.st_nlink) ==
        (was.st_mode, was.st_uid, was.st_gid, was.st_mtime_ns, was.st_atime_ns, 1) and now.st_ino != was.st_ino,
        "mode, owner and times are those of the lock file, the file is another", str(now))
    say(not extra or os.getxattr("renamed/config", "user.mark") == b"1", "so are its attributes")
    say(not os.path.lexists("lock") and sorted(os.listdir("renamed")) == ["HEAD", "config", "objects", "refs"],
        "nothing else is left")


def held_open():
    """Who holds a file open that becomes a configuration holds it no longer."""
    with open("lock", "w") as file:
        file.write(HARMLESS)
        file.flush()
        os.rename("lock", "renamed/config")
        file.write(HOSTILE)
    say(read("renamed/config") == HARMLESS, "what is written to the lock file later does not arrive")
    os.mkdir("grows")
    with open("grows/config", "w") as file:
        file.write(HARMLESS)
        file.flush()
        os.link("grows/config", "grown")
        os.mkdir("grows/objects")
        os.mkdir("grows/refs")
        file.write(HOSTILE)
    put("grown", HOSTILE)
    say(read("grows/config") == HARMLESS, "nor in a folder that becomes a repository, by descriptor or another name")


def becoming():
    ways = (("mkdir", lambda path: os.mkdir(path)), ("symlink", lambda path: os.symlink(".", path)),
            ("open", lambda path: put(path, "", os.O_WRONLY | os.O_CREAT)), ("link", lambda path: os.link("file", path)),
            ("rename", lambda path: os.rename("folder", path)), ("mknod", lambda path: os.mknod(path, 0o600 | stat.S_IFREG)),
            ("bind", lambda path: socket.socket(socket.AF_UNIX).bind(path)))
    write("file", "")
    os.mkdir("folder")
    for name, way in ways:
        for last, first in (("refs", "objects"), ("objects", "refs")):
            where = f"by-{name}-{last}"
            os.mkdir(where)
            write(where + "/config", HOSTILE)
            os.mkdir(f"{where}/{first}")
            result = error_of(way, f"{where}/{last}")
            say(result == "EACCES" and not os.path.lexists(f"{where}/{last}"),
                f"{last} by {name} makes no repository of a folder with such a config", result)
    os.mkdir("linked")
    os.symlink("../hostile", "linked/config")
    os.mkdir("linked/objects")
    say(error_of(os.mkdir, "linked/refs") == "EACCES", "nor where the config is a link")
    os.mkdir("plain")
    os.mkdir("plain/config")
    os.mkdir("plain/objects")
    say(error_of(os.mkdir, "plain/refs") == "ok" and error_of(os.rmdir, "plain/refs") == "ok", "folders of all these names do no harm")


def hooks():
    """A repository of any name runs none that was put there."""
    repository("hooked")
    os.mkdir("hooked/hooks")
    write("a-hook", "#!/bin/sh\n")
    os.mkdir("more-hooks")
    write("more-hooks/pre-push", "")
    tries = [
        ("opened", lambda: put("hooked/hooks/post-commit", "", os.O_WRONLY | os.O_CREAT)),
        ("renamed", lambda: os.rename("a-hook", "hooked/hooks/pre-commit")),
        ("linked", lambda: os.link("a-hook", "hooked/hooks/update")),
        ("a symbolic link", lambda: os.symlink("../../a-hook", "hooked/hooks/update")),
        ("brought with their folder", lambda: os.rename("more-hooks", "hooked/hooks")),
    ]
    for sentence, function in tries:
        result = error_of(function)
        say(result == "EACCES", "no hook: " + sentence, result)
    os.rmdir("hooked/hooks")
    say(error_of(os.symlink, "../more-hooks", "hooked/hooks") == "EACCES", "no hook: a link for their folder")
    for name, make in (("full", lambda: os.rename("more-hooks", "full/hooks")), ("link", lambda: os.symlink("..", "link/hooks"))):
        os.mkdir(name)
        make()
        os.mkdir(name + "/refs")
        say(error_of(os.mkdir, name + "/objects") == "EACCES", f"{name}: no repository of a folder with hooks")
    os.makedirs("source/hooks")
    os.makedirs("source/refs")
    say(error_of(os.mkdir, "source/objects") == "ok" and error_of(put, "source/hooks/use.ts", "", os.O_WRONLY | os.O_CREAT) == "ok"
        and error_of(put, "more", "", os.O_WRONLY | os.O_CREAT) == "ok", "what has a dot in its name is no hook")


def against(work, rounds, each, sentence):
    """each(i) many times, while work() runs in another thread."""
    done = threading.Event()

    def other():
        while not done.is_set():
            try:
                work()
            except OSError:
                pass
    thread = threading.Thread(target=other)
    thread.start()
    bad = sum(not each(i) for i in range(rounds))
    done.set()
    thread.join()
    say(bad == 0, sentence, f"{bad} of {rounds}")


def races():
    write("hostile", HOSTILE)

    def swap():
        write("race.lock", HARMLESS)
        os.link("hostile", "race.tmp")
        os.rename("race.tmp", "race.lock")

    def onto(_):
        error_of(os.rename, "race.lock", "renamed/config")
        return "evil" not in read("renamed/config")

    def rewrite():
        put("race.lock", HARMLESS, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        put("race.lock", HOSTILE)

    against(swap, 40, onto, "a lock file that is exchanged meanwhile brings nothing")
    against(rewrite, 40, onto, "nor does one that is written meanwhile")
    now = ["none"]

    def open_it():
        fd = os.open(now[0] + "/config", os.O_WRONLY | os.O_CREAT)
        os.write(fd, HOSTILE.encode())
        os.close(fd)

    def grow(i):
        name = f"race{i}"
        os.mkdir(name)
        write(name + "/config", HARMLESS)
        os.mkdir(name + "/objects")
        now[0] = name
        made = error_of(os.mkdir, name + "/refs") == "ok"
        return not made or "evil" not in read(name + "/config")

    against(open_it, 40, grow, "a folder that is written to while it becomes a repository is judged")
    os.mkdir("decoy")
    write("decoy/config", HARMLESS)
    descriptor = os.open("renamed/config", os.O_PATH)
    against(lambda: rename2("decoy", "renamed", EXCHANGE), 100,
            lambda _: error_of(put, f"/proc/self/fd/{descriptor}", HOSTILE) == "EACCES",
            "nor does a descriptor help while another folder takes the name of its own")


def main():
    in_place()
    renames()
    looks()
    held_open()
    becoming()
    hooks()
    races()


main()
