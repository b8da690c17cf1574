# SPDX-License-Identifier: Apache-2.0
"""judge.py - from what was seen to ESCAPED or HELD, and whether that was to be expected.

The program's own word counts only where success leaves no trace (kind s), or to tell that
something cannot be tried here.
"""
import fnmatch
import json
import os
import re

LINE = re.compile(r"^(\w+)(:allowed)? (ESCAPED|HELD|UNSUPPORTED|WORKS|BROKEN) ?(.*)$", re.M)
EFFECTS = "rwxcbupft"


class Outcome:
    """One attempt in one run: `result` and `twin` are words, `holder` kernel or supervisor."""

    def __init__(self, attempt, result, detail, twin, twin_detail):
        self.attempt, self.result, self.detail = attempt, result, detail
        self.twin, self.twin_detail = twin, twin_detail
        self.holder = ""


def refused_in(log):
    """Names that a refusal in the log is about: paths, addresses."""
    told = []
    if os.path.exists(log):
        for line in open(log, encoding="utf-8", errors="replace"):
            try:
                event = json.loads(line)
            except ValueError:
                continue
            if event.get("verdict") in ("deny", "hide", "ask-deny") and event.get("enforced"):
                told += [str(event.get(key)) for key in ("path", "path2", "raw", "address") if event.get(key)]
    return set(told)


class Run:
    """What one run left behind: the output, the stage, the log."""

    def __init__(self, stage, output, ended, log, expected_ids):
        self.stage, self.output, self.ended = stage, output, ended
        self.told = refused_in(log)
        self.lines = {(name, not twin): (word, detail)
                      for name, twin, word, detail in LINE.findall(output)}
        self.leaked = {(name, kind == "deny")
                       for kind, name in re.findall(stage.nonce + r"-(deny|open):(\w+):", output)}
        self.changed = stage.done
        self.expected_ids = expected_ids

    def effect(self, attempt, denied):
        """Was what the attempt wanted seen from outside?"""
        key = (attempt.name, denied)
        return (key in self.leaked or key in self.changed or key in self.stage.servers.seen
                or key in self.stage.servers.bound or (denied and self.hurt(attempt.name))
                or (denied and f"'injected\\n' after {attempt.name}\n" in self.output))

    def hurt(self, name):
        return name in self.stage.harmed or (name == "kill_all" and self.stage.hurt(name))

    def attempt_result(self, attempt):
        word, detail = self.lines.get((attempt.name, True), ("LOST", "the run ended"))
        if self.effect(attempt, True):
            return "ESCAPED", "" if word == "LOST" else detail
        if word == "UNSUPPORTED":
            return word, detail
        if "s" in attempt.kind and (word == "ESCAPED" or (word == "LOST" and "1" in attempt.kind)):
            return "ESCAPED", detail or "it said so"
        if word == "LOST" and "1" not in attempt.kind:
            return "LOST", detail
        return "HELD", "it said that it was done, and nothing happened" if word == "ESCAPED" else detail

    def twin_result(self, attempt):
        if "n" in attempt.kind:
            return "", ""
        word, detail = self.lines.get((attempt.name, False), ("BROKEN", "no answer"))
        if word == "WORKS" and set(attempt.kind) & set("rwxcbu") and not self.effect(attempt, False):
            return "BROKEN", "it said that it was done, and nothing happened"
        ids = self.stage.servers.ids.get((attempt.name, False))
        if word == "WORKS" and ids and ids != self.expected_ids:
            return "BROKEN", "the server saw user %d, group %d" % ids
        return word, detail

    def outcome(self, index, attempt):
        from servers import address
        result = Outcome(attempt, *self.attempt_result(attempt), *self.twin_result(attempt))
        if result.result == "HELD":
            about = re.compile(r"/%s(/|\.|$)|-%s$" % (attempt.name, attempt.name))
            victim = self.stage.victims.get(attempt.name)
            inside = f"/proc/{victim.pid}/" if victim else "\0"
            file = "/w/" + attempt.what.split()[-1] if "f" in attempt.kind else "\0"
            told = any(about.search(text) or text.endswith(file) or text.endswith(address(index, True)) or text.startswith(inside)
                       for text in self.told)
            result.holder = "supervisor" if told else "kernel"
        return result


class Expected:
    """The file `expected`: attempt, engines, runners, users, verdict and reason; the last match counts."""

    def __init__(self, path):
        self.rows = []
        for number, line in enumerate(open(path), 1):
            line = line.split("#")[0].strip()
            if not line:
                continue
            words = line.split(None, 5)
            if len(words) < 5 or words[4] not in ("held", "soft", "open", "refused"):
                raise SystemExit(f"{path}:{number}: attempt engines runners users held|soft|open|refused reason")
            self.rows.append(words[:5] + [words[5] if len(words) > 5 else ""])

    def of(self, attempt, engine, runner, user, refused=False):
        found = ("held", "")
        for names, engines, runners, users, verdict, reason in self.rows:
            if (verdict == "refused") == refused and \
                    any(fnmatch.fnmatchcase(attempt, name) for name in names.split(",")) and \
                    all(value in wanted.split(",") or wanted == "*" for value, wanted in
                        ((engine, engines), (runner, runners), (user, users))):
                found = (verdict, reason)
        return found

    def judge(self, outcome, engine, runner, user):
        """Sentences about what is not as expected, and the reason where it is written down."""
        name, wrong = outcome.attempt.name, []
        verdict, reason = self.of(name, engine, runner, user)
        if outcome.result == "LOST":
            wrong.append(f"{name} was never tried: {outcome.detail}")
        if verdict == "held" and outcome.result == "ESCAPED":
            wrong.append(f"{name} is held ({outcome.attempt.what}): {outcome.detail}")
        if verdict == "open" and outcome.result == "HELD":
            wrong.append(f"{name} is held, and the file 'expected' says it is not: {outcome.detail}")
        if outcome.twin == "BROKEN" and self.of(name, engine, runner, user, True)[0] != "refused":
            wrong.append(f"{name}, where it is allowed, works: {outcome.twin_detail}")
        return wrong, reason
