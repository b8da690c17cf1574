#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# all.sh FOLDER TARGET...: fuzz each target for FUZZ_SECONDS with each engine that is there.
#
# FOLDER/fuzz_x is built with libFuzzer, FOLDER/afl_x with AFL++; what they find stays in
# FOLDER/found/x and FOLDER/found-afl/x and is where the next run goes on.  Two targets run at
# once on two processors (FUZZ_JOBS).  Ends in a table; status 1 when there was a crash, a hang
# or a target that did not run.
set -u
folder=${1:?folder}
shift
seconds=${FUZZ_SECONDS:-60}
export folder seconds

# seeds TARGET: its corpus and other folders of SEEDS_x, as one flat folder.
seeds()
{
	local into=$folder/seeds/$1 from n=0 file
	from=SEEDS_$1
	rm -rf "$into" && mkdir -p "$into"
	while IFS= read -r file; do
		n=$((n + 1))
		[ "$(stat -c %s "$file")" -gt 65536 ] || cp "$file" "$into/$n-${file##*/}"
	done < <(find "tests/fuzz/corpus/$1" ${!from:-} -type f -size +0)
}

row() { printf '%-10s %-10s %8s %12s %9s %7s %7s %6s\n' "$@"; }
count() { find "$1" -type f -name "$2" 2>/dev/null | wc -l; }

libfuzzer()
{
	local found=$folder/found/$1 bad=$folder/bad/$1 log=$folder/log/$1.libfuzzer done
	mkdir -p "$found" "$bad"
	"$folder/fuzz_$1" -max_total_time="$seconds" -print_final_stats=1 -artifact_prefix="$bad/" \
		"$found" "$folder/seeds/$1" >"$log" 2>&1
	done=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	[ -n "$done" ] || done=$(sed -n 's/^#\([0-9]*\)[ \t].*/\1/p' "$log" | tail -n 1)
	row "$1" libFuzzer "$seconds" "${done:-none}" "$((${done:-0} / (seconds ? seconds : 1)))" "$(count "$found" '*')" \
		"$(($(count "$bad" 'crash-*') + $(count "$bad" 'leak-*') + $(count "$bad" 'oom-*')))" "$(count "$bad" 'timeout-*')"
}

afl()
{
	local found=$folder/found-afl/$1 log=$folder/log/$1.afl from stats
	from=$folder/seeds/$1
	[ ! -e "$found/default/fuzzer_stats" ] || from=-
	mkdir -p "$found"
	AFL_NO_UI=1 AFL_SKIP_CPUFREQ=1 AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES=1 AFL_NO_AFFINITY=1 \
		afl-fuzz -m none -t 2000+ -V "$seconds" -i "$from" -o "$found" -- "$folder/afl_$1" >"$log" 2>&1
	stats=$found/default/fuzzer_stats
	stat_of() { sed -n "s/^$1 *: *//p" "$stats" 2>/dev/null; }
	row "$1" AFL++ "$seconds" "$(stat_of execs_done | grep . || echo none)" "$(stat_of execs_per_sec)" "$(stat_of corpus_count)" \
		"$(stat_of saved_crashes)" "$(stat_of saved_hangs)"
}
export -f row count libfuzzer afl

mkdir -p "$folder/log"
table=$folder/table.txt
for target; do
	seeds "$target"
	[ ! -x "$folder/fuzz_$target" ] || echo "libfuzzer $target"
	[ ! -x "$folder/afl_$target" ] || ! command -v afl-fuzz >/dev/null || echo "afl $target"
done | xargs -P"${FUZZ_JOBS:-$(nproc)}" -L1 bash -c '"$0" "$1"' >"$table"
row target engine seconds executions 'a second' corpus crashes hangs
sort "$table"
command -v afl-fuzz >/dev/null || echo 'without AFL++, which is not installed (afl++)'
awk '$4 == "none" || $7 + $8 > 0 { bad = 1 } END { exit bad || !NR }' "$table"
