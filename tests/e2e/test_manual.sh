#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_manual.sh - help, man pages and completion come from the same tables as the parser.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"
need_agentwatch

overview=$("$AGENTWATCH" help)
like 'policy check +find mistakes' 'help lists the commands' "$overview"
is '' 'but not those for the build' "$(grep -w manual <<<"$overview")"
is "$overview" '--help is the same' "$("$AGENTWATCH" --help)"
is "$("$AGENTWATCH" log --help)" 'help COMMAND and COMMAND --help are the same' "$("$AGENTWATCH" help log)"
commands=$("$AGENTWATCH" help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\( [a-z-]*\)\{0,1\}\)  .*/\1/p')
is yes 'all commands are looked at' "$([ "$(wc -l <<<"$commands")" -ge 18 ] && echo yes)"
silent='' other=''
while read -r command; do
	# shellcheck disable=SC2086
	asked=$("$AGENTWATCH" help $command)
	[ -n "$asked" ] || silent+="help $command; "
	[ "$command" = help ] && continue
	for option in --help -h; do
		# shellcheck disable=SC2086
		[ "$("$AGENTWATCH" $command $option)" = "$asked" ] || other+="$command $option; "
	done
done <<<"$commands"
is '' 'no command is without help' "$silent"
is '' 'COMMAND --help and -h say what help COMMAND says' "$other"
is "$("$AGENTWATCH" help policy)" 'a group has help too' "$("$AGENTWATCH" policy --help)"
is "$("$AGENTWATCH" --version)" '-V tells the version' "$("$AGENTWATCH" -V)"
is "$("$AGENTWATCH" --version)" 'so does the word version' "$("$AGENTWATCH" version)"
is "agentwatch: there is no option '--verison'; did you mean '--version'?" 'a slip in an option is named' "$("$AGENTWATCH" --verison 2>&1)"
is "agentwatch: there is no command 'shell'; see: agentwatch help" 'nothing far-fetched is offered' "$("$AGENTWATCH" shell 2>&1)"
like '^Usage: agentwatch policy check ' 'help takes a command of two words' "$("$AGENTWATCH" help policy check)"
like 'policy show' 'help for a group lists it' "$("$AGENTWATCH" help policy)"
is "agentwatch: there is no command 'lgo'; did you mean 'log'?" 'a slip is named with what was meant' "$("$AGENTWATCH" help lgo 2>&1)"
is 0 'no line of help is too wide' "$(for c in log ps stop run 'policy check'; do
	# shellcheck disable=SC2086
	"$AGENTWATCH" help $c
done | awk 'length($0) > 88' | wc -l)"

ok 'man pages are written' "$AGENTWATCH" manual --man "$tmp/man"
ok 'one for each command' test -s "$tmp/man/agentwatch-policy-check.1" -a -s "$tmp/man/agentwatch-run.1" -a -s "$tmp/man/agentwatch.1"
if have groff; then
	is '' 'groff has nothing to complain about' "$(groff -man -Tutf8 -ww -z "$tmp"/man/*.1 2>&1)"
	like '-f, --follow' 'options are in them' "$(groff -man -Tascii "$tmp/man/agentwatch-log.1" | sed $'s/\e\\[[0-9;]*m//g; s/.\b//g')"
else
	skip 'man pages render' 'no groff'
fi
like 'manual wants' 'the folder must be named' "$("$AGENTWATCH" manual 2>&1)"

# completed WORD...: what bash offers for the last word.
completed()
{
	bash -c 'source <("$AGENTWATCH" completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=()
		_agentwatch; echo "${COMPREPLY[*]}"' _ "$@"
}
is 'log' 'bash completes a command' "$(completed agentwatch lo)"
is 'check' 'its second word' "$(completed agentwatch policy ch)"
is '--denied' 'an option' "$(completed agentwatch log --de)"
is '--policy' 'an option of a command of two words' "$(completed agentwatch policy show --po)"
is 'enforce' 'a choice' "$(completed agentwatch policy show --mode e)"
mkdir -p "$XDG_STATE_HOME/agentwatch/sessions/blue"
is 'blue' 'a session' "$(completed agentwatch stop bl)"
is 'fish' 'a shell' "$(completed agentwatch completion f)"
for shell in bash zsh fish; do
	"$AGENTWATCH" completion $shell >"$tmp/script.$shell"
	if have $shell; then ok "$shell reads its script" $shell -n "$tmp/script.$shell"; else
		skip "$shell reads its script" "no $shell"
	fi
done
if have fish; then
	offers() { HOME=$tmp fish --no-config -c "source $tmp/script.fish; complete -C '$1'" | cut -f1 | paste -sd' '; }
	is 'log' 'fish completes a command' "$(offers 'agentwatch lo')"
	is 'check' 'its second word' "$(offers 'agentwatch policy ch')"
	is '--denied' 'an option' "$(offers 'agentwatch log --de')"
	is 'enforce' 'a choice' "$(offers 'agentwatch policy show --mode e')"
	is 'blue' 'a session' "$(offers 'agentwatch stop bl')"
else
	skip 'fish completes' 'no fish'
fi
like 'no completion for' 'another shell is refused' "$("$AGENTWATCH" completion tcsh 2>&1)"
done_testing
