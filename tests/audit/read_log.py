# SPDX-License-Identifier: Apache-2.0
# read_log.py FILE - read a log as docs/AUDIT.md says, and compare each path with its member "hex".
import json
import sys


def original(text):
    return b"".join(bytes([ord(c) & 0xFF]) if c == "\uef00" or "\uef80" <= c <= "\uefff"
                    else c.encode() for c in text)


lines = open(sys.argv[1], "rb").read().decode("utf-8", "strict").split("\n")
assert lines.pop() == "", "the last line is not complete"
for number, line in enumerate(lines, 1):
    assert not [c for c in line if ord(c) < 32 or 127 <= ord(c) < 160], "raw control character"
    event = json.loads(line)
    assert event["seq"] == number, "line %d has number %d" % (number, event["seq"])
    assert original(event["path"]).hex() == event["hex"], "line %d: %r" % (number, event["path"])
