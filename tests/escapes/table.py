# SPDX-License-Identifier: Apache-2.0
"""table.py - docs/ESCAPES.md, from what happened in a run.

A cell: K held by the kernel, S by the supervisor, SK by either (it differs between users or
builds), OPEN when it got through in any of the runs, - when it cannot be tried.
"""
HEAD = """# Attempts to get round a denial

Made by `make docs/ESCAPES.md` from a run of `tests/escapes/run --table`; `tests/e2e/test_escapes.sh` makes the same
attempts and fails where one gets through that must not. Each attempt is made on something that the policy
denies, and again on something that it allows, which has to work (the *twin*); whether it got through is seen from outside: a
secret that was printed, a file that has changed, a connection that arrived.

In the engine `preload` this is about dynamic programs; a static one is not held there at all. Where the reason is that the
library is cooperative, a program got round it by calls of its own.

Mode `enforce`; users: {users}; builds: {builds}; {tries} tries for each race; Linux {kernel}.

| sign | meaning |
|---|---|
| S | held: the supervisor refused it, and the log says so |
| K | held: the kernel refused it (a sandbox, Landlock, namespaces, the filter, or the rights of the user) |
| SK | one or the other, by user or build |
| **open** | not held: it got through in at least one of the runs |
| - | cannot be tried there |
"""


def cell(outcomes):
    words = {o.result for o in outcomes}
    if "ESCAPED" in words:
        return "**open**"
    holders = {o.holder[0].upper() for o in outcomes if o.result == "HELD"}
    return "".join(sorted(holders, reverse=True)) or "-"


def write(attempts, results, missing, expected, tries):
    import os
    watched = [(c, o) for c, o in results if c.engine != "bare"]
    columns = list(dict.fromkeys((c.engine, c.runner) for c, _o in watched))
    listed = lambda pick: ", ".join(dict.fromkeys(pick(c) for c, _o in results))  # noqa: E731
    print(HEAD.format(users=listed(lambda c: c.user), builds=listed(lambda c: c.build), tries=tries,
                      kernel=".".join(os.uname().release.split(".")[:2])))
    for config, why in dict(((c.engine, c.runner), (c, w)) for c, w in missing).values():
        print(f"- {config.engine}, {config.runner}: not run: {why.split(': ', 1)[-1].split(';')[0]}")
    theme = None
    for attempt in attempts:
        if attempt.theme != theme:
            theme = attempt.theme
            print(f"\n## {theme.capitalize()}\n")
            print("| attempt | it tries | " + " | ".join(f"{e} {r}" for e, r in columns) + " | why not |")
            print("|---|---|" + "---|" * (len(columns) + 1))
        cells, reasons = [], []
        for engine, runner in columns:
            mine = [o[attempt.name] for c, o in watched
                    if (c.engine, c.runner) == (engine, runner) and attempt.name in o]
            cells.append(cell(mine))
            if "open" in cells[-1]:
                reason = expected.of(attempt.name, engine, runner, "root")[1]
                if reason and reason not in reasons:
                    reasons.append(reason)
        print(f"| `{attempt.name}` | {attempt.what} | " + " | ".join(cells) + f" | {'; '.join(reasons)} |")
    refused = [(names, engines, runners, reason) for names, engines, runners, _users, verdict, reason
               in expected.rows if verdict == "refused"]
    print("\n## What is refused although nothing denies it\n\n| attempt | engine | runner | why |\n|---|---|---|---|")
    for names, engines, runners, reason in refused:
        print(f"| `{names.replace(',', '`, `')}` | {engines.replace('*', 'any')} | {runners.replace('*', 'any')} | {reason} |")
