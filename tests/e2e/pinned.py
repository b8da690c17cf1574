# SPDX-License-Identifier: Apache-2.0
"""pinned.py NAME: open NAME by O_PATH, wait until it was replaced outside, read what was opened.

pinned.py --with NAME COMMAND...: run the command with such a descriptor, number 9.
"""
import os
import sys
import time

if sys.argv[1] == "--with":
    os.dup2(os.open(sys.argv[2], os.O_PATH), 9)
    os.execvp(sys.argv[3], sys.argv[3:])
try:
    fd = 9 if sys.argv[1] == "9" else os.open(sys.argv[1], os.O_PATH)
except OSError as error:
    print("pinned:", error.strerror)
    fd = None
open("came", "w").close()
while not os.path.exists("go"):
    time.sleep(0.01)
try:
    if fd is not None:
        print(open(f"/proc/self/fd/{fd}").read().strip(), "of", os.path.basename(os.readlink(f"/proc/self/fd/{fd}")))
except OSError as error:
    print("read:", error.strerror)
