#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_import.sh - other tools' settings become a policy that says the same.
#
# tests/golden/import has the foreign files, what comes out of each (NAME.yaml) and what is said
# to have no equivalent (NAME.notes).  AW_GOLDEN=write writes these two anew.
. "$(dirname "$0")/../tap.sh"
need_agentwatch
golden=$root/tests/golden/import
export TMPDIR=$tmp/scratch # or all of these could be written
mkdir "$TMPDIR" "$tmp/home" "$tmp/repo"
cp "$golden"/* "$tmp/repo"
cd "$tmp/repo" || exit 1
export HOME=$tmp/home
aw=$AGENTWATCH

# import_as NAME OPTION... FILE...: compare with the golden files, and load the result.
import_as()
{
	local name=$1 kind
	shift
	"$aw" policy import "$@" >"$tmp/$name.yaml" 2>"$tmp/$name.notes"
	is 0 "$name: is imported" $?
	for kind in yaml notes; do
		[ "${AW_GOLDEN:-}" != write ] || cp "$tmp/$name.$kind" "$golden"
		same "$golden/$name.$kind" "$tmp/$name.$kind" "$name: $kind"
	done
	is '' "$name: the result has no mistakes" "$("$aw" policy check "$tmp/$name.yaml" | grep error:)"
}

# says NAME WORD QUESTION...: what the imported policy answers.
says()
{
	local name=$1 want=$2
	shift 2
	is "$want" "$name: $*" "$("$aw" policy explain --policy "$tmp/$name.yaml" "$@" 2>&1 | grep -oEm1 '\b(allow|deny|ask|hide)\b')"
}

import_as mitto --from mitto --agent trial --type bwrap mitto.settings.json mitto.mittorc
says mitto allow --read "$tmp/home/.trial/x"
says mitto allow --read vendor/x
says mitto deny --read "$tmp/home/elsewhere"
says mitto deny --read "$tmp/home/.ssh/id"
says mitto allow --write out/x
says mitto deny --write x
says mitto deny --connect 192.0.2.1:443
import_as mitto-docker --from mitto --agent trial --type docker mitto.settings.json mitto.mittorc
import_as mitto-global --from mitto --type bwrap mitto.settings.json
says mitto-global allow --connect 192.0.2.1:443
import_as mitto-older --from mitto --agent trial mitto-older.settings.yaml mitto-older.mittorc
says mitto-older allow --read "$tmp/home/.cache/x"
says mitto-older deny --connect 192.0.2.1:443
import_as mitto-plain --from mitto mitto-older.settings.yaml
import_as picoclaw --from picoclaw picoclaw.json
import_as miclaw --from miclaw miclaw.json
import_as podbot --from podbot podbot.toml
import_as srt --from srt srt.json
says srt deny --read /srv/secrets/x
says srt allow --read /srv/secrets/public/x
says srt allow --write build/x
says srt deny --write .env
says srt deny --write "$tmp/home/x"
import_as claude-code --from claude-code claude-code.json
says claude-code deny --read .env
says claude-code deny --exec 'rm -rf x'
says claude-code ask --exec 'git push origin'
says claude-code allow --write docs/x
import_as codex --from codex codex.toml
says codex allow --write x
says codex deny --connect 192.0.2.1:443
import_as firejail --from firejail firejail.profile
says firejail deny --read "$tmp/home/.ssh/id"
says firejail deny --read "$tmp/home/other"
says firejail allow --write "$tmp/home/.tool/data"
says firejail deny --exec /usr/bin/sudo
says firejail deny --connect 192.0.2.1:443

# --- what cannot be read is refused whole, with its place
refused()
{
	local want=$1 what=$2
	shift 2
	"$aw" policy import "$@" >"$tmp/out" 2>"$tmp/err"
	ok "$what: is refused" test $? != 0
	like "$want" '... with the reason' "$(cat "$tmp/err")"
	is '' '... and nothing is written' "$(cat "$tmp/out")"
}
printf '{"permissions": ' >broken.json
refused 'broken.json:2:1: ' 'half a file' --from claude-code broken.json
printf 'a = 1\na = 2\n' >broken.toml
refused "broken.toml:2:3: 'a' stands here a second time" 'a key twice' --from codex broken.toml
refused 'no map .isolation. in it' 'settings of somebody else' --from picoclaw srt.json
refused "no agent 'nobody'" 'an agent that is not there' --from mitto --agent nobody mitto.settings.json
refused 'No such file' 'no file' --from srt nowhere.json
refused 'takes one file, not 2' 'too many files' --from srt srt.json srt.json
refused "did you mean 'firejail'" 'an unknown format' --from firejal srt.json
refused 'wants --from' 'no format' srt.json
head -c 1100000 /dev/zero | tr '\0' ' ' >large.json
refused 'larger than 1 MiB' 'a large file' --from srt large.json

"$aw" policy import --from srt -o made.yaml srt.json 2>/dev/null
is 0 'a new file is written' $?
same "$tmp/srt.yaml" made.yaml '... with the same'
is 600 '... for oneself' "$(stat -c %a made.yaml)"
refused 'writes new files only' 'a file that is there' --from srt -o made.yaml srt.json

# the profiles that come with firejail, all of them on request
if [ -f /etc/firejail/git.profile ]; then # a package of its own, firejail-profiles
	for file in /etc/firejail/$( [ -n "${AW_FULL:-}" ] || echo git )*.profile; do
		[ -f "$file" ] || continue
		"$aw" policy import --from firejail "$file" -o "$tmp/${file##*/}.yaml" 2>/dev/null || echo "$file"
	done >"$tmp/failed"
	is '' 'profiles of firejail: each is imported' "$(cat "$tmp/failed")"
	is '' '... and has no mistakes' "$("$aw" policy check "$tmp"/*.profile.yaml | grep error:)"
else
	skip 'profiles of firejail' 'it is not installed'
fi
done_testing
