#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_firejail.sh - the wall that firejail makes.
. "$(dirname "$0")/../tap.sh"
runner=firejail
. "$(dirname "$0")/wall.sh"
session=$XDG_STATE_HOME/agentwatch/sessions/told
ok 'the profile is in the session'"'"'s folder' grep -q "^blacklist $HOME/.ssh" "$session/firejail.profile"
done_testing
