#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""cpython.py PYTHON DIR PREFIX... --modules MODULE... - CPython's own tests, bare and behind PREFIX.

For each module: the set of (test, result) must be the same.  A difference is looked at once
more, since some of these tests depend on time; it counts when bare never gave what the
watched run gave.  Prints `ok - ` and `not ok - ` lines.
"""
import json
import os
import signal
import subprocess
import sys
import xml.etree.ElementTree as tree

LIMIT = int(os.environ.get("AW_MODULE_TIMEOUT", "400"))


def environment():
    keep = {k: v for k, v in os.environ.items()
            if not k.startswith(("PYTHON", "PYENV", "AW_", "AGENTWATCH")) and k not in ("LD_PRELOAD", "VIRTUAL_ENV")}
    keep["PATH"] = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin"
    return keep


def results(python, scratch, prefix, module):
    """{test: result} of one run; the module itself stands for a run that broke."""
    xml = f"{scratch}/{module}.xml"
    if os.path.exists(xml):
        os.unlink(xml)
    command = [*prefix, python, "-m", "test", "--junit-xml", xml, "--tempdir", scratch, "--timeout", str(LIMIT - 20),
               "--ignore", "*VSOCK*", module]  # a virtual machine's socket waits for its host
    run = subprocess.Popen(command, cwd=scratch, env=environment(), stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT, start_new_session=True)
    try:
        output, _ = run.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        os.killpg(run.pid, signal.SIGKILL)
        output, _ = run.communicate()
        return {module: "took too long"}, output.decode(errors="replace")
    found = {module: f"status {run.returncode}"}
    if os.path.exists(xml):
        for case in tree.parse(xml).iter("testcase"):
            kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
            found[case.get("name")] = (kinds and sorted(kinds)[0]) or case.get("result") or "passed"
    return found, output.decode(errors="replace")


def differences(bare, watched):
    return {test for test in bare.keys() | watched.keys() if bare.get(test) != watched.get(test)}


def bare_results(python, scratch, module):
    """The bare run, which is the same for every engine: once a script."""
    path = f"{scratch}/{module}.bare.json"
    if not os.path.exists(path):
        found, _ = results(python, scratch, [], module)
        with open(path, "w", encoding="utf-8") as out:
            json.dump(found, out)
    with open(path, encoding="utf-8") as kept:
        return json.load(kept)


def compare(python, scratch, prefix, module):
    bare = bare_results(python, scratch, module)
    watched, output = results(python, scratch, prefix, module)
    differ = differences(bare, watched)
    if differ:
        bare2, _ = results(python, scratch, [], module)
        watched2, output2 = results(python, scratch, prefix, module)
        differ = {test for test in differ & differences(bare2, watched2)
                  if watched.get(test) not in (bare.get(test), bare2.get(test))}
        output += output2
    good = len(bare) > 1 and not differ
    print(f"{'ok' if good else 'not ok'} - {module}: {len(bare) - 1} results as bare", flush=True)
    for test in sorted(differ)[:20]:
        print(f"# {test}: bare {bare.get(test)}, watched {watched.get(test)}")
    if not good:
        lines = [l for l in output.splitlines() if "Error" in l or "FAIL" in l or "agentwatch" in l]
        for line in lines[:25] or output.splitlines()[-15:]:
            print("# " + line[:200])
    sys.stdout.flush()


def main():
    python, scratch, *rest = sys.argv[1:]
    split = rest.index("--modules")
    for module in rest[split + 1:]:
        compare(python, scratch, rest[:split], module)


if __name__ == "__main__":
    main()
