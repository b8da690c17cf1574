#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_unix_sockets.sh - Unix sockets one by one: agents for keys, screens, buses, engines.
#
# Runs with a /run of its own, where servers have these names.
. "$(dirname "$0")/../tap.sh"
. "$(dirname "$0")/network.sh"
unset AGENTWATCH_RUNNER # the policies name the sandboxes
need_agentwatch
have python3 || skip_all 'no python3'
have jq || skip_all 'no jq'
alone_with_mounts "$0"

ip link set lo up
mkdir -p /tmp/.X11-unix
mount -t tmpfs tmpfs /run && mount -t tmpfs tmpfs /tmp/.X11-unix || skip_all '/run cannot be replaced here'
export HOME=$tmp/home XDG_RUNTIME_DIR=/run/user/1 SSH_AUTH_SOCK=$tmp/agent/ssh
mkdir -p "$HOME" /run/user/1/gnupg "$tmp/agent" "$tmp/work"
cd "$tmp/work" || exit 1

cat >"$tmp/serve.py" <<'EOP'
import os, socket, struct, sys, threading
def name_of(text): return "\0" + text[1:] if text[0] == "@" else text
def streams(s):
    while True:
        c, _ = s.accept()
        pid, uid, gid = struct.unpack("3i", c.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        c.sendall(b"ok" if uid == os.getuid() and gid == os.getgid() else b"someone else")
        c.close()
def datagrams(s, file):
    while True:
        data = s.recv(99)
        with open(file, "ab") as out:
            out.write(data + b"\n")
for text in sys.argv[3:]:
    kind = socket.SOCK_DGRAM if text.endswith("notify") else socket.SOCK_STREAM
    s = socket.socket(socket.AF_UNIX, kind)
    s.bind(name_of(text))
    if kind == socket.SOCK_STREAM:
        s.listen(8)
        threading.Thread(target=streams, args=(s,), daemon=True).start()
    else:
        threading.Thread(target=datagrams, args=(s, sys.argv[2]), daemon=True).start()
open(sys.argv[1], "w").close()
threading.Event().wait()
EOP
cat >"$tmp/reach.py" <<'EOP'
import errno, select, socket, sys
def reach(text, blocking=True):
    name = "\0" + text[1:] if text[0] == "@" else text
    s = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM if text.endswith("notify") else socket.SOCK_STREAM)
    s.setblocking(blocking)
    epoll = select.epoll()
    copy = s.dup()
    epoll.register(s, select.EPOLLIN)
    try:
        if s.type == socket.SOCK_DGRAM:
            s.sendto(("from " + text).encode(), name)
            return "sent"
        s.connect(name)
        if not epoll.poll(5):
            return "silent"
        return copy.recv(99).decode()
    except OSError as e:
        return errno.errorcode[e.errno]
print(*[reach(t, not i % 2) for i, t in enumerate(sys.argv[1:])])
EOP
names=("$SSH_AUTH_SOCK" /run/user/1/gnupg/S.gpg-agent /run/docker.sock /tmp/.X11-unix/X0 @/tmp/.X11-unix/X0
	/run/user/1/bus @/tmp/dbus-lab /run/notify @notify)
rules=('unix:$env:SSH_AUTH_SOCK' unix:/run/user/*/gnupg/S.gpg-agent unix:/run/docker.sock unix:/tmp/.X11-unix/X0
	unix:@/tmp/.X11-unix/X0 unix:/run/user/*/bus 'unix:@/tmp/dbus-*' unix:/run/notify unix:@notify)
python3 "$tmp/serve.py" "$tmp/ready" "$tmp/datagrams" "${names[@]}" &
at_end "kill $!"
wait_for 5 test -e "$tmp/ready"
is 'ok ok ok ok ok ok ok sent sent' 'without agentwatch all answer' "$(python3 "$tmp/reach.py" "${names[@]}")"

# policy RUNNER ENGINES RULE...
policy()
{
	local IFS=,
	local quoted=("${@:3}")
	printf 'version: 1\nmode: enforce\nrunner: %s\nprotections: {container-engines: %s}\nnetwork: {default: deny, allow: [%s]}\n' \
		"$1" "$2" "${quoted[*]/#/}" >"$tmp/policy.yaml"
}
quote() { printf '"%s"\n' "$@"; }
reach() { "$AGENTWATCH" run --quiet --policy "$tmp/policy.yaml" --log "$log" "${engine[@]}" -- python3 "$tmp/reach.py" "$@"; }
mapfile -t quoted < <(quote "${rules[@]}")

engine=()
for runner in exec landlock bwrap; do
	policy $runner off
	reach >/dev/null 2>&1 || { skip "behind $runner" 'it does not work here'; continue; }
	[ $runner != bwrap ] || ok "$runner: the network is another one" test "$(readlink /proc/self/ns/net)" != \
		"$("$AGENTWATCH" run --quiet --policy "$tmp/policy.yaml" --log none -- readlink /proc/self/ns/net)"
	rm -f "$log" "$tmp/datagrams"
	policy $runner off "${quoted[@]}"
	is 'ok ok ok ok ok ok ok sent sent' "$runner: each that a rule names is reached, by who we are" "$(reach "${names[@]}")"
	wait_for 5 grep -q from.@ "$tmp/datagrams" && wait_for 5 grep -q from./ "$tmp/datagrams"
	is 'from /run/notify from @notify' "$runner: messages too" "$(sort "$tmp/datagrams" | xargs)"
	policy $runner on "${quoted[@]}"
	is 'ok EACCES ok' "$runner: a container engine's is protected" "$(reach "${names[1]}" "${names[2]}" "${names[3]}")"
	ok "$runner: by a protection that the log names" jq -es 'any(.[]; .address == "/run/docker.sock" and .verdict == "deny" and
		.enforced and (.rule.text == "container-engines: unix:/run/docker.sock"))' "$log"
	policy $runner on "${quoted[0]}" "${quoted[6]}"
	is 'ok EACCES EACCES EACCES EACCES EACCES ok EACCES EACCES' "$runner: one by one, not all or nothing" "$(reach "${names[@]}")"
	ok "$runner: denials have the socket's name" jq -es 'any(.[]; .family == "unix" and .verdict == "deny" and
		.address == "@/tmp/.X11-unix/X0" and .result == "EACCES")' "$log"
	policy $runner on '"localhost:*"'
	is 'EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES EACCES' "$runner: none without a rule" "$(reach "${names[@]}")"
done

# Servers of the session's own, also under a name that somebody outside has.
cat >"$tmp/own.py" <<'EOP'
import os, socket, sys
def pair(name):
    listening, s = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
    try:
        listening.bind(name)
        listening.listen()
        s.connect(name)
        conn = listening.accept()[0]
        conn.sendall(b"own")
        return s.recv(9).decode()
    except OSError as e:
        return os.strerror(e.errno).replace(" ", "-")
print(*map(pair, sys.argv[1:]), pair("\0own"))
EOP
engine=()
for runner in exec landlock bwrap; do
	printf 'version: 1\nmode: enforce\nrunner: %s\nnetwork: {default: deny, listen: ["unix:@own", "unix:%s"]}\n' \
		$runner "$tmp/work" >"$tmp/policy.yaml"
	reach >/dev/null 2>&1 || continue
	is 'own own' "$runner: who may listen is reached without a rule" \
		"$("$AGENTWATCH" run --quiet --policy "$tmp/policy.yaml" --log "$log" -- python3 "$tmp/own.py" "$tmp/work/$runner.sock")"
done

# Another name for a server of outside: one of the session's own, or one that a rule allows.
cat >"$tmp/names.py" <<'EOP'
import errno, os, socket, sys
def answer(call, *args):
    try:
        return call(*args) or "ok"
    except OSError as e:
        return errno.errorcode[e.errno]
def reach(name, kind=socket.SOCK_STREAM):
    s = socket.socket(socket.AF_UNIX, kind)
    s.connect(name)
    return s.recv(9).decode()
keep = []
def bind(name, kind):
    keep.append(socket.socket(socket.AF_UNIX, kind))
    keep[-1].bind(name)
secret, work, open_to = sys.argv[1:]
# a name of another type, and a name that is the same in words, are not the host's
print(answer(bind, "\0host", socket.SOCK_DGRAM), answer(reach, "\0host"),
    answer(bind, "\0a@b", socket.SOCK_STREAM), answer(reach, "\0a\0b"), end=" ")
# neither is a socket of outside that was moved or linked, by itself or in a directory
print(answer(reach, secret + "/one"), answer(os.link, secret + "/one", open_to + "/linked"), answer(reach, open_to + "/linked"),
    answer(os.rename, secret + "/one", open_to + "/moved"), answer(reach, open_to + "/moved"),
    answer(os.rename, secret, open_to + "/dir"), answer(reach, open_to + "/dir/one"), end=" ")
# one's own may be
bind(work + "/mine", socket.SOCK_STREAM)
os.mkdir(work + "/d")
bind(work + "/d/mine", socket.SOCK_STREAM)
print(answer(os.link, work + "/mine", open_to + "/mine"), answer(os.rename, work + "/d", open_to + "/d"))
EOP
mkdir -p "$tmp/secret" "$tmp/open"
python3 - "$tmp/secret/one" "$tmp/hosts" <<'EOP' &
import socket, sys, threading
def serve(name):
    s = socket.socket(socket.AF_UNIX)
    s.bind(name)
    s.listen()
    while True:
        try:
            s.accept()[0].sendall(b"SECRET")
        except BrokenPipeError:
            pass
for name in (sys.argv[1], "\0host", "\0a\0b"):
    threading.Thread(target=serve, args=(name,), daemon=True).start()
while True:
    try:
        for name in (sys.argv[1], "\0host", "\0a\0b"):
            socket.socket(socket.AF_UNIX).connect(name)
        break
    except OSError:
        pass
open(sys.argv[2], "w").close()
threading.Event().wait()
EOP
at_end "kill $!"
wait_for 5 test -e "$tmp/hosts"
engine=()
for runner in exec landlock bwrap; do
	printf 'version: 1\nmode: enforce\nrunner: %s\nfilesystem: {write: ["%s"]}\nnetwork: {default: deny, allow: ["unix:%s/**"], listen: ["unix:@*", "unix:%s"]}\n' \
		$runner "$tmp" "$tmp/open" "$tmp/work" >"$tmp/policy.yaml"
	reach >/dev/null 2>&1 || continue
	rm -rf "$tmp/open" "$tmp/work/mine" "$tmp/work/d"; mkdir "$tmp/open"
	is "ok EACCES ok EACCES EACCES EACCES ENOENT EACCES ENOENT EACCES ENOENT ok ok" "$runner: no other name makes a server of outside one to speak to" \
		"$("$AGENTWATCH" run --quiet --policy "$tmp/policy.yaml" --log "$log" -- python3 "$tmp/names.py" "$tmp/secret" "$tmp/work" "$tmp/open" 2>&1)"
done

for name in kernel preload; do
	engine=(--engine $name)
	policy exec on "${quoted[0]}" "${quoted[6]}"
	reach >/dev/null 2>&1 || { skip "engine $name" 'it does not work here'; continue; }
	is 'ok EACCES EACCES EACCES EACCES EACCES ok EACCES EACCES' "engine $name: the same" "$(reach "${names[@]}")"
done

# Where nobody is, the kernel's answer comes first, and it is no denial.
cat >"$tmp/nobody.py" <<'EOP'
import errno, socket, sys
def answer(call):
    try:
        call()
        return "ok"
    except OSError as e:
        return errno.errorcode[e.errno]
folder = sys.argv[1]
print(*[answer(lambda: socket.socket(socket.AF_UNIX).connect(folder + "/" + name))
        for name in ("none", "none/none", "file", "left", "live")],
    answer(lambda: socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b"x", folder + "/none")),
    answer(lambda: socket.socket(socket.AF_UNIX).bind(folder + "/live")))
EOP
mkdir "$tmp/nobody"
: >"$tmp/nobody/file"
python3 - "$tmp/nobody" <<'EOP' &
import os, socket, sys, threading
os.chdir(sys.argv[1])
left, live = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
left.bind("left")
left.close()
live.bind("live")
live.listen()
open("ready", "w").close()
threading.Event().wait()
EOP
at_end "kill $!"
wait_for 5 test -e "$tmp/nobody/ready"
engine=()
nobody() { "$AGENTWATCH" run --quiet "${engine[@]}" --mode "$1" --policy "$tmp/policy.yaml" --runner "$2" --log "$log" -- python3 "$tmp/nobody.py" "$tmp/nobody" 2>&1; }
printf 'version: 1\nnetwork: {default: deny}\n' >"$tmp/policy.yaml"
bare=$(python3 "$tmp/nobody.py" "$tmp/nobody")
is 'ENOENT ENOENT ECONNREFUSED ECONNREFUSED ok ENOENT EADDRINUSE' 'who is not there is told so' "$bare"
for runner in exec landlock bwrap; do
	nobody audit $runner >/dev/null 2>&1 || { skip "behind $runner" 'it does not work here'; continue; }
	rm -f "$log"
	is "${bare/ok/EACCES}" "$runner, enforce: the same, and who is there is out of reach" "$(nobody enforce $runner)"
	is 'bind allow connect allow connect allow connect allow connect allow connect deny sendto allow' "$runner, enforce: who is there alone is a denial" \
		"$(jq -r --arg folder "$tmp/nobody" 'select(.address and (.address | startswith($folder))) | "\(.call) \(.verdict)"' "$log" | sort | xargs)"
	rm -f "$log"
	is "$bare" "$runner, audit: the same" "$(nobody audit $runner)"
	is 'allow ENOENT allow ENOENT allow ENOENT' "$runner, audit: what is not there is no denial" \
		"$(jq -r 'select(.address and (.address | endswith("/none"))) | "\(.verdict) \(.result)"' "$log" | xargs)"
done
engine=(--engine preload)
got=$(nobody enforce exec)
is 'ENOENT ENOENT' 'engine preload, enforce: what is not there is missing' "$(cut -d' ' -f1-2 <<<"$got")"
is '' 'engine preload, enforce: and no denial' "$(jq -r --arg f "$tmp/nobody" 'select(.address and (.address | startswith($f)) and (.address | endswith("none")) and .verdict == "deny") | .address' "$log" | xargs)"
engine=()
# A descriptor of what has no name: no rule is about it.
rm -f "$log"
is 'ok ok' 'enforce: mode and owner of a socket and a pipe may be set by their descriptors' "$("$AGENTWATCH" run --quiet --mode enforce --runner exec --log "$log" -- \
	python3 -c 'import os, socket
s, p = socket.socket(socket.AF_UNIX), os.pipe()
for fd in s.fileno(), p[0]:
    os.fchmod(fd, 0o600); os.fchown(fd, -1, -1); print("ok", end=" ")' 2>&1 | xargs)"
is '' 'and that is no denial' "$(jq -r 'select(.verdict == "deny") | .path' "$log")"
if have tmux; then
	mkdir "$tmp/tmux"
	for runner in landlock bwrap; do
		for turn in first second; do
			is 1 "$runner: tmux starts its server, the $turn time" "$(cd "$tmp/work" && TMPDIR=$tmp/tmux TMUX_TMPDIR=$tmp/tmux TMUX='' timeout 20 \
				"$AGENTWATCH" run --quiet --mode enforce --runner $runner --log none -- \
				sh -c 'tmux -L here new-session -d "sleep 5"; tmux -L here ls' 2>&1 | grep -c '1 windows')"
		done
	done
else
	skip 'tmux starts its server' 'no tmux'
fi

# A real agent: asked by its own client.
if have ssh-agent && have ssh-add; then
	ssh-agent -D -a "$tmp/agent/real" >/dev/null 2>&1 &
	at_end "kill $!"
	wait_for 5 test -S "$tmp/agent/real"
	export SSH_AUTH_SOCK=$tmp/agent/real
	list() { "$AGENTWATCH" run --quiet --policy "$tmp/policy.yaml" --log "$log" -- ssh-add -l 2>&1; }
	policy bwrap on "${quoted[0]}"
	list >/dev/null 2>&1
	[ $? = 125 ] && policy exec on "${quoted[0]}"
	like 'authentication agent' 'ssh-add is not told of an agent that nobody lets through' "$(list)"
	echo 'environment: {unset: ["!SSH_AUTH_SOCK"]}' >>"$tmp/policy.yaml"
	is 'The agent has no identities.' 'ssh-add speaks to the agent that a rule names' "$(list)"
	sed -i 's/allow: .*\]/allow: []/' "$tmp/policy.yaml"
	like 'Permission denied' 'and to none without a rule' "$(list)"
else
	skip 'ssh-add speaks to the agent that a rule names' 'no ssh-agent'
fi
done_testing
