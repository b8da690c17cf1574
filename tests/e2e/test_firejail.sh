#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_firejail.sh - the sandbox that firejail makes.
. "$(dirname "$0")/../tap.sh"
runner=firejail
. "$(dirname "$0")/sandbox.sh"
session=$XDG_STATE_HOME/agentwatch/sessions/told
ok 'the profile is in the session'"'"'s folder' grep -q "^blacklist $HOME/.ssh" "$session/firejail.profile"
# firejail itself starts the program without a word of failure there.
if is_root && unshare -p --fork --mount-proc true 2>/dev/null; then
	like 'inside a container or another sandbox firejail does nothing' 'inside another sandbox it is not taken for a sandbox' \
		"$(unshare -p --fork --mount-proc "$AGENTWATCH" run --mode enforce --runner firejail --log none -- true 2>&1)"
else skip 'inside another sandbox it is not taken for a sandbox' 'no pid namespace can be made here'; fi
done_testing
