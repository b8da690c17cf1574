#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_guarded.sh - what is protected by name stays so, whatever gets that name or loses it.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
have python3 || skip_all 'no python3; apt-get install it'
export HOME=$tmp/w/home
unset XDG_CONFIG_HOME
cat >"$tmp/policy.yaml" <<'END'
version: 1
filesystem:
  default: read-only
  write: ["$WORKSPACE"]
  deny_write: ["$WORKSPACE/patterned/**/secret.env"]
  deny: ["**/pattern.env", "$WORKSPACE/held/key", "$WORKSPACE/held/note", "!$WORKSPACE/open/**"]
exec:
  deny: ["$WORKSPACE/bin/evil", "$WORKSPACE/tools/**/evil", "!$WORKSPACE/tools/open"]
END
runners=()
for runner in exec landlock bwrap; do
	if "$AGENTWATCH" run --quiet --mode enforce --runner $runner --log none -- true >/dev/null 2>"$tmp/err"; then
		runners+=($runner)
	else
		skip "behind $runner" "$(tail -n 1 "$tmp/err")"
	fi
done

stage()
{
	rm -rf "$tmp/w"
	mkdir -p "$tmp/w/home" "$tmp/w/patterned" "$tmp/w/held" "$tmp/w/vault" "$tmp/w/open/inside" "$tmp/w/bin" "$tmp/w/tools/a" "$tmp/w/tools/open"
	echo SECRET >"$tmp/w/vault/pattern.env"
	echo SECRET >"$tmp/w/open/inside/pattern.env"
	printf '#!/bin/sh\necho ran\n' | tee "$tmp/w/bin/evil" "$tmp/w/bin/fine" >"$tmp/w/tools/a/evil"
	chmod 755 "$tmp/w/bin"/* "$tmp/w/tools/a/evil"
	echo SECRET >"$tmp/w/held/key"
	echo SECRET >"$tmp/w/held/pattern.env"
	echo plain >"$tmp/w/held/open"
	echo 'odd name' >"$tmp/w/held/note (deleted)"
	echo plain >"$tmp/w/held/note"
	cd "$tmp/w" || exit 1
}
enforced() { "$AGENTWATCH" run --quiet --mode enforce --policy "$tmp/policy.yaml" --log "$log" "$@" 2>&1; }

for runner in "${runners[@]}"; do
	stage
	relay "$runner: " < <(enforced --runner "$runner" -- python3 "$root/tests/e2e/guarded.py")
done
stage
relay 'engine kernel: ' < <(enforced --engine kernel --runner exec -- python3 "$root/tests/e2e/guarded.py")

# A file that was opened by O_PATH stays denied when somebody outside puts another one in its place.
# replaced FILE COMMAND...: while the command waits.
replaced()
{
	rm -f go came
	(
		wait_for 20 test -e came
		echo other >"$1.new"
		mv "$1.new" "$1"
		: >go
	) &
	"${@:2}"
	wait
}
pinned=(python3 "$root/tests/e2e/pinned.py")
for runner in "${runners[@]}"; do
	for name in held/key held/pattern.env; do
		stage
		is 'pinned: Permission denied' "$runner: $name is not to be had by O_PATH" \
			"$(replaced $name enforced --runner "$runner" -- "${pinned[@]}" $name)"
		stage
		is 'read: Permission denied' "$runner: a descriptor of $name from before opens nothing" \
			"$(replaced $name "${pinned[@]}" --with $name "$AGENTWATCH" run --quiet --mode enforce \
				--policy "$tmp/policy.yaml" --log none --runner "$runner" -- "${pinned[@]}" 9)"
	done
	stage
	is 'plain of open (deleted)' "$runner: what may be read is read after it was replaced" \
		"$(replaced held/open enforced --runner "$runner" -- "${pinned[@]}" held/open)"
	is 'odd name' "$runner: a name may end so" "$(enforced --runner "$runner" -- cat 'held/note (deleted)')"
	is 'odd name' "$runner: by a descriptor too" "$(enforced --runner "$runner" -- sh -c 'cat /dev/fd/3 3<"held/note (deleted)"')"
done
stage
enforced --engine kernel --runner exec -- python3 "$root/tests/e2e/guarded.py" >/dev/null
ok 'the log names the rule' jq -es 'any(.[]; .verdict == "deny" and .enforced and (.path | endswith("/.claude")) and
	(.rule.text | contains(".claude/settings.json")))' "$log"

# A core dump is a file that the kernel writes where the program stands, under a name of its own.
cat >"$tmp/crash" <<'END'
trap '' XFSZ
cd "$1" || exit 1
python3 -c 'import os, resource
try: resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)); print("raised")
except (ValueError, OSError): print("kept at", *set(resource.getrlimit(resource.RLIMIT_CORE)))
os.abort()' 2>/dev/null
END
# crashed COMMAND...: what the program says, and what its directory holds then.
crashed() { stage && mkdir hooks && "$@" sh "$tmp/crash" hooks 2>/dev/null; find hooks -type f | wc -l; }
if [ "$(ulimit -Hc)" = unlimited ] && [ "$(crashed env)" = "$(printf 'raised\n1')" ]; then
	for runner in "${runners[@]}"; do
		is "$(printf 'kept at 0\n0')" "$runner: no core is dumped, and none may be" \
			"$(crashed "$AGENTWATCH" run --quiet --mode enforce --policy "$tmp/policy.yaml" --log none --runner "$runner" --)"
	done
	is "$(printf 'raised\n1')" 'audit leaves core dumps as they are' "$(crashed "$AGENTWATCH" run --quiet --log none --)"
else
	skip 'no core is dumped' "no core is dumped here at all: $(ulimit -Hc) $(cat /proc/sys/kernel/core_pattern)"
fi

# The programs of the session's own, where a workspace holds them.
cat >"$tmp/take" <<'END'
for part in agentwatch agentwatch-enter libagentwatch.so; do
	echo x >>"own/$part"; : >other; mv -f other "own/$part"; ln "own/$part" "linked-$part" && echo x >>"linked-$part"
	rm -f "own/$part"
done 2>/dev/null
mv own theirs 2>/dev/null
ls
END
for runner in "${runners[@]}"; do
	stage
	mkdir own
	cp -r "$(dirname "$AGENTWATCH")"/{agentwatch,agentwatch-enter,libagentwatch.so,presets} own/
	sums=$(cd own && cksum agentwatch agentwatch-enter libagentwatch.so)
	out=$(own/agentwatch run --quiet --mode enforce --policy "$tmp/policy.yaml" --log none --runner "$runner" -- sh "$tmp/take" 2>&1)
	is 'bin held home open other own patterned tools vault' "$runner: the program, its library and its helper stay where they are" "$(echo $out)"
	is "$sums" "$runner: and as they are" "$(cd own && cksum agentwatch agentwatch-enter libagentwatch.so)"
	is again "$runner: the next session starts from them" "$(own/agentwatch run --quiet --mode enforce --log none --runner "$runner" -- echo again 2>&1)"
done

stage
is '' 'audit lets a link be made' "$("$AGENTWATCH" run --quiet --log "$log" -- sh -c 'mkdir x; ln -s x .claude; ln -s x other; mv other .gemini' 2>&1)"
is 2 'and says what enforce would refuse' "$(jq -s '[.[] | select(.verdict == "deny" and .enforced == false and
	((.call | startswith("symlink")) or (.call | startswith("rename"))))] | length' "$log")"
cd / || exit 1
done_testing
