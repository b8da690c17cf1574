#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_build.sh - the rules of the build hold: layers, exports, generated pages, install.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
built=$(dirname "$AGENTWATCH")
cd "$root" || exit 1

ok 'no folder uses what it may not' tests/layers.sh .
# A rule that nothing can break would say nothing.
tree=$tmp/tree
for case in 'policy/glob.c "supervisor/launch/run.h"' 'policy/glob.c <yaml.h>' 'policy/shared/ring.c <stdlib.h>' \
	'preload/gate.c "supervisor/launch/run.h"' 'preload/gate.c <uthash.h>' 'supervisor/commands/run.c "preload/gate.h"' \
	'supervisor/linux/seccomp/notify.c "preload/linux/arch.h"' 'supervisor/commands/run.c "policy/image/image_layout.h"' \
	'supervisor/decide/entry.c "supervisor/commands/sessions.h"' 'supervisor/lint/redundant_rules.c "supervisor/linux/emulate/emulate.h"' \
	'supervisor/decide/hosts.c "supervisor/net/proxy/proxy_internal.h"' 'supervisor/launch/launcher.c "supervisor/process/processes_internal.h"' \
	'supervisor/commands/run.c "front.h"' 'tests/unit/test_ring.c "policy/shared/ring.c"'; do
	rm -rf "$tree"
	mkdir "$tree"
	cp -R policy preload supervisor "$tree"
	mkdir -p "$tree/tests"
	cp -R tests/unit tests/audit tests/fuzz "$tree/tests"
	file=${case%% *}
	sed -i "1i #include ${case#* }" "$tree/$file"
	like "$file" "an include of ${case#* } in $file is found" "$(tests/layers.sh "$tree" || true)"
done

if have nm; then
	ok 'the shim exports the calls of the table and needs no library' tests/exports.sh "$built/libagentwatch.so"
	echo 'int aw_stray(void) { return 0; }' >"$tmp/stray.c"
	cc -shared -fPIC -o "$tmp/stray.so" "$tmp/stray.c"
	like 'aw_stray' 'another export would be found' "$(tests/exports.sh "$tmp/stray.so")"
else skip 'exports' 'no nm'; fi

if have python3; then
	python3 tests/map.py >"$tmp/README.md"
	same tests/README.md "$tmp/README.md" 'tests/README.md is as `make tests/README.md` writes it'
else skip 'tests/README.md is up to date' 'no python3'; fi

page=$built/tests/calls_page
if [ -x "$page" ]; then
	# shellcheck disable=SC2046
	"$page" $(tests/fast_calls.sh) >"$tmp/CALLS.md"
	same docs/CALLS.md "$tmp/CALLS.md" 'docs/CALLS.md is as `make docs/CALLS.md` writes it'
else skip 'docs/CALLS.md is up to date' 'calls_page is not built'; fi

# Links between pages lead somewhere.
broken=
for page in README.md docs/*.md examples/*/README.md; do
	for link in $(grep -oE '\]\([^)#]+' "$page" | sed 's/^](//' | grep -v ':'); do
		[ -e "$(dirname "$page")/$link" ] || broken="$broken $page:$link"
	done
done
is '' 'links in the documents lead to files' "$broken"

# What the guide names exists, but for options of git, bwrap and this project's own scripts, and of browsers and codex.
foreign=" --force --edit --force-with-lease --dry-run --auto --version --help --seccomp-bpf --man --only --keep --table --same \
 --no-sandbox --no-zygote --sandbox "
for option in $(grep -ohE '(^|[ `])--[a-z][a-z-]+' README.md docs/*.md | tr -d ' `' | sort -u); do
	for command in run approve learn log ps stop 'policy check' 'policy explain' 'policy from-log' 'policy import' 'policy presets' 'policy schema' 'policy show' \
		'policy test' 'policy reload' completion trust untrust; do
		# shellcheck disable=SC2086
		"$AGENTWATCH" help $command
	done 2>/dev/null | grep -q -- "$option" || case $foreign in
	*" $option "*) ;; *) fail "option $option, named in the documents, exists" ;; esac
done
pass 'options named in the documents were looked up'

if [ -w "$built" ] && have make; then
	ok 'make install works below DESTDIR' make -s install DESTDIR="$tmp/root" PREFIX=/opt/aw BUILD="$built"
	at=$tmp/root/opt/aw
	ok 'and what it installs runs from there' "$at/bin/agentwatch" run --quiet --log "$log" -- true
	ok 'with the installed shim' jq -es --arg s "$at" 'any(.[]; .event == "hello") or all(.[]; .strength != "shim")' "$log"
	like 'share/agentwatch/presets/claude-code.yaml:[0-9]' 'and the installed presets' \
		"$("$at/bin/agentwatch" policy show --mode enforce --agent claude)"
	for file in share/man/man1/agentwatch.1 share/man/man1/agentwatch-run.1 share/bash-completion/completions/agentwatch \
		share/zsh/site-functions/_agentwatch share/fish/vendor_completions.d/agentwatch.fish \
		share/agentwatch/policy.schema.json share/doc/agentwatch/README.md share/doc/agentwatch/examples/node/policy.yaml; do
		ok "$file is there" test -s "$at/$file"
	done
	ok 'make uninstall works' make -s uninstall DESTDIR="$tmp/root" PREFIX=/opt/aw BUILD="$built"
	is '' 'and leaves no file behind' "$(find "$tmp/root" -type f -o -type l)"
else skip 'install and uninstall' 'the build folder is not ours'; fi
like 'quickstart' 'make help lists the targets' "$(make help)"
done_testing
