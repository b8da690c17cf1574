# SPDX-License-Identifier: Apache-2.0
"""basics.py - the plainest attempts in programs of other languages and of another word size."""
import os

from servers import address

PROGRAMS = {"go": "a static Go program", "rust": "a static Rust program", "i386": "a 32-bit program without a C library"}
DEEDS = {"open": "r", "write": "w", "exec": "x", "connect": "c"}


class Basic:
    theme = "other programs"

    def __init__(self, program, deed):
        self.program, self.deed = program, deed
        self.name, self.kind = f"{program}_{deed}", DEEDS[deed]
        self.what = f"{deed} by {PROGRAMS[program]}"


def attempts(folder):
    """Those whose program could be compiled."""
    return [Basic(program, deed) for program in PROGRAMS if os.path.exists(f"{folder}/basic-{program}")
            for deed in DEEDS]


def subject(stage, index, basic, denied):
    w, name = stage.w, basic.name
    if basic.deed == "connect":
        return f"{address(index, denied)} {stage.servers.port}"
    return {"open": f"{w}/{'secret' if denied else 'open'}/{name}/key",
            "write": f"{w}/{'frozen' if denied else 'free'}/{name}/file",
            "exec": f"{w}/{'deny-bin' if denied else 'bin'}/{name}"}[basic.deed]


def script(stage, folder, everything):
    """A shell script that makes them all and says how each ended."""
    lines = []
    for index, basic in enumerate(everything):
        if not isinstance(basic, Basic):
            continue
        for denied in (False, True):
            yes, no = ("ESCAPED", "HELD") if denied else ("WORKS", "BROKEN")
            lines.append(f"text=$({folder}/basic-{basic.program} {basic.deed} {subject(stage, index, basic, denied)}) "
                         f"&& word={yes} || word={no}\n"
                         f"echo \"{basic.name}{'' if denied else ':allowed'} $word status $? $text\"")
    path = stage.root + "/basics.sh"
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\necho END\n")
    os.chmod(path, 0o644)
    return path
