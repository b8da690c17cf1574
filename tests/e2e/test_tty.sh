#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_tty.sh - on a terminal: Ctrl-C, Ctrl-Z and fg, window size, and it stays a terminal.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
have python3 || skip_all 'no python3'
relay '' < <(python3 "$root/tests/e2e/terminal.py" "$AGENTWATCH" "$tmp" 2>&1)
done_testing
