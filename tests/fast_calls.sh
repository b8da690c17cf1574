#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fast_calls.sh: the functions whose wrappers can use the gate page, for docs/CALLS.md.
cd "$(dirname "$0")/.." || exit 1
cat preload/wrap*.c | tr -d '\n\t' |
	grep -oE '(aw_fast_open|open_with|send_unaddressed)\((AW_FN_|__NR_)[a-z_0-9]+' |
	sed 's/.*(AW_FN_//; s/.*(__NR_//' | sort -u
