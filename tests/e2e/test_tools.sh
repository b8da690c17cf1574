#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# test_tools.sh - presets for tools: each does its task in enforce behind a sandbox, with its preset
# and nothing else, and what the preset does not give stays refused.
#
# AW_TEST_RUNNER names one sandbox; AW_FULL=1 tries them all, and what takes long behind each.
. "$(dirname "$0")/../tap.sh"
. "$root/tests/e2e/network.sh"
need_agentwatch
alone "$0"

# Tool chains are where they are; the home is a new one.
python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null)
if have rustup || [ -d "$HOME/.rustup" ]; then export RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}; fi
unset DOCKER_HOST CONTAINER_HOST SSH_AUTH_SOCK CARGO_HOME GOPATH GOCACHE GOFLAGS GOMODCACHE npm_config_cache
export HOME=$tmp/home TMPDIR=$tmp/tmp GIT_CONFIG_NOSYSTEM=1 GO111MODULE=on GITHUB_TOKEN=secret
work=$tmp/work
mkdir -p "$HOME"/{.ssh,.aws,.cargo,.docker} "$TMPDIR" "$work"
# What each tool would like to read and has to do without.
secrets=(.ssh/id_ed25519 .aws/credentials .npmrc .pypirc .netrc .git-credentials .cargo/credentials.toml .docker/config.json)
for secret in "${secrets[@]}"; do echo PRIVATE >"$HOME/$secret"; done
echo old >"$HOME/.bashrc"
git init -q "$work" 2>/dev/null

# with PRESETS COMMAND...: in enforce, behind $runner, with a policy that names these alone.
with()
{
	printf 'version: 1\npreset: [%s]\n' "$1" >"$tmp/with.yaml"
	shift
	"$AGENTWATCH" run --quiet --mode enforce --runner "$runner" --policy "$tmp/with.yaml" --log "$log" -- "$@" 2>&1
}

refusals() { jq -r 'select(.event == "call" and .verdict != "allow") | "\(.action) \(.path // .address) \(.rule.text // "default")"' "$log" 2>/dev/null | sort | uniq -c | sort -rn | head -n 12; }

# works REGEX SENTENCE PRESETS COMMAND...: what it prints matches; else also what was refused.
works()
{
	local want=$1 sentence="$runner: $2" before=$tap_failed
	shift 2
	like "$want" "$sentence" "$(with "$@")"
	[ "$tap_failed" = "$before" ] || note "$(refusals)"
}

# closed PRESETS PATH...: secrets, start-up files and the world stay closed, and so do these.
closed()
{
	local presets=$1 path got
	shift
	got=$(with "$presets" bash -c 'for f in '"${secrets[*]}"'; do cat ~/$f; done
		echo evil >>~/.bashrc; exec 3<>/dev/tcp/192.0.2.1/443; echo "token: $GITHUB_TOKEN"
		for f; do mkdir -p "${f%/*}"; echo evil >"$f"; done 2>/dev/null' - "$@" | grep -v ' /dev/tcp/')
	is "$((${#secrets[@]} + 2)) 0" "$runner: $presets opens no secret, no start-up file and no other address" \
		"$(grep -c 'ermission denied$' <<<"$got") $(grep -c PRIVATE <<<"$got")"
	is old "$runner: $presets: ~/.bashrc is as it was" "$(cat "$HOME/.bashrc")"
	like 'token: ($|[^s])' "$runner: $presets lets no token into the environment" "$got"
	for path; do ok "$runner: $presets does not let ${path/#$HOME/\~} be written" sh -c '! grep -qs evil "$1"' - "$path"; done
}

# missing PRESET COMMAND: skips, and is true, when there is no such program.
missing()
{
	if [ -n "$2" ] && have "$2" && "$2" --version >/dev/null 2>&1; then return 1; fi
	[ "$2" != go ] || ! have go || return 1
	skip "$runner: $1" "no $2 here that runs"
}

test_node()
{
	! missing node npm || return
	mkdir -p "$work/node-$runner" && cd "$work/node-$runner" || exit 1
	echo '{"name": "app", "version": "1.0.0", "scripts": {"test": "node -p \"require(\\\"left\\\")\""}}' >package.json
	rm -rf "$HOME/.npm"
	works 'added 1 package' 'npm installs a package' node npm install --offline --no-fund --no-audit ../left-1.0.0.tgz
	ok "$runner: npm's cache was filled" test -d "$HOME/.npm/_cacache"
	works '(^|[^0-9])42' 'npm test runs' node npm test
	closed node "$HOME/.npmrc" "$HOME/.local/share/pnpm/global/x" "$HOME/.local/bin/x"
}

# Making an environment with pip takes seconds, so it is done where there is no other pip.
test_python()
{
	local how=(--without-pip) pip=("$python" -m pip)
	! missing python "$python" || return
	mkdir -p "$work/python-$runner" && cd "$work/python-$runner" || exit 1
	[ -z "${AW_FULL:-}" ] && "${pip[@]}" --version >/dev/null 2>&1 || how=() pip=(env/bin/python -m pip)
	works '^$' 'python makes an environment' python "$python" -m venv "${how[@]}" env
	works 'Successfully installed left' 'pip installs a wheel' python "${pip[@]}" --python env/bin/python install --no-index ../left-1.0-py3-none-any.whl
	works '^42$' 'what it installed can be imported' python env/bin/python -c 'import left; print(left.x)'
	works '^\[1, 2\]$' 'multiprocessing works' python "$python" -c 'import multiprocessing as m; print(m.Pool(2).map(abs, [-1, -2]))'
	works '^True$' 'pip may see that there is IPv6' python "$python" -c 'import socket
try: socket.socket(socket.AF_INET6).bind(("::1", 0))
except OSError as e: print(e.errno != 13)
else: print(True)'
	closed python "$HOME/.pypirc" "$HOME/.config/pip/pip.conf" "$HOME/.local/lib/python3/site-packages/evil.pth"
	# behind bwrap the loopback is the session's own
	[ "$runner" = bwrap ] || works 'ermission denied' 'python may not serve' python "$python" -c 'import socket; socket.socket().bind(("127.0.0.1", 8000))'
}

test_go()
{
	! missing go go || return
	mkdir -p "$work/go-$runner" && cd "$work/go-$runner" || exit 1
	printf 'module example.com/two\n\ngo 1.16\n' >go.mod
	printf 'package main\n\nfunc two() int { return 2 }\n\nfunc main() { println(two()) }\n' >two.go
	printf 'package main\n\nimport "testing"\n\nfunc TestTwo(t *testing.T) {\n\tif two() != 2 {\n\t\tt.Fail()\n\t}\n}\n' >two_test.go
	rm -rf "$HOME/.cache/go-build"
	like 'ermission denied' "$runner: without the preset go has no cache" "$(with '' go build -o two .)"
	works '^2$' 'go builds' go sh -c 'go build -o two . && ./two'
	works '^ok' 'go tests' go go test -vet=off ./...
	ok "$runner: go's cache was filled" sh -c 'ls "$HOME"/.cache/go-build/*/*-a'
	closed go "$HOME/go/bin/x" "$HOME/.config/go/env"
	mkdir -p "$HOME/.config/go" "${XDG_CONFIG_HOME:-$HOME/.config}/go"
	works 'ermission denied' 'go env -w is refused' go go env -w GOFLAGS=-toolexec=/bin/evil
}

test_rust()
{
	! missing rust cargo || return
	mkdir -p "$work/rust-$runner/src" && cd "$work/rust-$runner" || exit 1
	printf '[package]\nname = "two"\nversion = "0.1.0"\nedition = "2021"\n' >Cargo.toml
	printf 'fn main() {\n    println!("{}", 2);\n}\n' >src/main.rs
	works 'Finished' 'cargo builds' rust cargo build --offline
	is 2 "$runner: what it built runs" "$(target/debug/two)"
	ok "$runner: cargo has its lock" test -e "$HOME/.cargo/.package-cache"
	closed rust "$HOME/.cargo/bin/x" "$HOME/.cargo/config.toml" "$HOME/.cargo/credentials.toml" "$HOME/.rustup/toolchains/x"
}

test_java()
{
	! missing java javac || return
	mkdir -p "$work/java-$runner" && cd "$work/java-$runner" || exit 1
	echo 'public class Two { public static void main(String[] a) { System.out.println(1 + 1); } }' >Two.java
	works '^$' 'javac compiles' java javac Two.java
	works '^2$' 'java runs' java java -cp . Two
	closed java "$HOME/.m2/settings.xml" "$HOME/.gradle/init.d/x.gradle" "$HOME/.gradle/gradle.properties"
	if [ -z "${AW_FULL:-}" ] || ! have mvn; then
		skip "$runner: mvn validates" 'no mvn, or not AW_FULL'
		return
	fi
	echo '<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>x</artifactId><version>1</version></project>' >pom.xml
	works 'BUILD SUCCESS' 'mvn validates' java env MAVEN_OPTS="-Duser.home=$HOME" mvn -B -o validate
	ok "$runner: its repository was made" test -d "$HOME/.m2/repository"
}

test_git()
{
	mkdir -p "$work/git-$runner" && cd "$work/git-$runner" || exit 1
	works '^2 one two$' 'git commits, branches, adds worktrees, clones and pushes' git sh -ec '
		git init -q one; cd one; git config user.name x; git config user.email x@example.com
		echo a >a; git add a; git commit -qm one; git checkout -qb side; git worktree add -q ../two -b two >/dev/null 2>&1
		(cd ../two && echo b >b && git add b && git commit -qm two)
		git init -q --bare ../bare.git; git push -q "file://$PWD/../bare.git" two >/dev/null 2>&1
		git clone -q -b two "file://$PWD/../bare.git" ../copy; cd ../copy
		echo $(git rev-list --count HEAD) $(git log --reverse --format=%s)'
	closed git "$HOME/.gitconfig" "$HOME/.config/git/config" "$work/.git/hooks/post-checkout"
}

# Presets bring what tools in the home need to be run where a policy closes everything else.
test_closed_home()
{
	local tool
	cd "$work" || exit 1
	for tool in "$HOME/.nvm/bin/tool" "$HOME/elsewhere/tool"; do
		mkdir -p "${tool%/*}"
		printf '#!/bin/sh\necho tool\n' >"$tool"
		chmod +x "$tool"
	done
	printf 'version: 1\npreset: [node]\nfilesystem: {default: deny, read: [/usr, /bin, /lib, /lib64, /etc]}\n' >"$tmp/home.yaml"
	for tool in .nvm/bin/tool elsewhere/tool; do
		"$AGENTWATCH" run --quiet --mode enforce --runner "$runner" --policy "$tmp/home.yaml" --log "$log" -- \
			sh -c "$HOME/$tool" 2>&1
	done >"$tmp/tools"
	is tool "$runner: in a closed home the tool chains of a preset can be run" "$(head -n 1 "$tmp/tools")"
	like 'denied|not found' "$runner: and nothing else" "$(tail -n 1 "$tmp/tools")"
}

test_ssh_agent()
{
	cd "$work" || exit 1
	if [ -z "${SSH_AUTH_SOCK:-}" ]; then
		skip "$runner: ssh-agent" 'no ssh-agent that runs here'
		return
	fi
	works 'ED25519' 'ssh-add lists the keys of the agent outside' ssh-agent ssh-add -l
	works "$SSH_AUTH_SOCK" 'the variable is let through' ssh-agent sh -c 'echo "$SSH_AUTH_SOCK"'
	closed ssh-agent "$HOME/.ssh/authorized_keys" "$HOME/.ssh/known_hosts"
	unlike_key=$(with git,node,python ssh-add -l)
	is 0 "$runner: without the preset the agent is out of reach" "$(grep -c ED25519 <<<"$unlike_key")"
	like 'ermission denied' "$runner: also for who knows its socket" \
		"$(with git,node,python env SSH_AUTH_SOCK="$SSH_AUTH_SOCK" ssh-add -l)"
	like 'ermission denied' "$runner: the preset opens no other socket" "$(with ssh-agent "${ask[@]}" "$XDG_RUNTIME_DIR/docker.sock")"
}

test_docker_client()
{
	local engine=$XDG_RUNTIME_DIR/docker.sock
	cd "$work" || exit 1
	if [ ! -S "$engine" ]; then
		skip "$runner: docker-client" 'no stand-in for the engine here'
		return
	fi
	like 'ermission denied' "$runner: without the preset the engine is out of reach" "$(with git,node "${ask[@]}" "$engine")"
	ok "$runner: which the log says" jq -es 'any(.[]; .verdict == "deny" and (.rule.text // "" | startswith("container-engines: ")))' "$log"
	works 'stand-in' 'with it the engine answers' docker-client "${ask[@]}" "$engine"
	works 'stand-in' 'also where DOCKER_HOST says it is' docker-client env "${ask[@]}" "$TMPDIR/other engine.sock"
	like 'ermission denied' "$runner: other engines stay out of reach" "$(with docker-client "${ask[@]}" "$XDG_RUNTIME_DIR/podman/other.sock")"
	if have docker; then
		works 'stand-in$' 'docker version asks it' docker-client docker -H "unix://$engine" version --format '{{.Server.Version}}'
	else skip "$runner: docker version asks it" 'no docker client'; fi
	closed docker-client "$HOME/.docker/config.json" "$HOME/.docker/cli-plugins/docker-x"
	printf 'version: 1\nprotections: {container-engines: on}\npreset: [docker-client]\n' >"$tmp/on.yaml"
	like 'is ignored: a policy file has it on' "$runner: a file that has the protection on is obeyed, and says so" \
		"$("$AGENTWATCH" run --mode enforce --runner "$runner" --policy "$tmp/on.yaml" --log "$log" -- "${ask[@]}" "$engine" 2>&1)"
	ok "$runner: the engine is out of reach then" jq -es 'any(.[]; .verdict == "deny" and (.rule.text // "" | startswith("container-engines: ")))' "$log"
}

# An engine that says what version it is, at each of these sockets.
start_engines()
{
	[ -n "$python" ] || return
	mkdir -p "$XDG_RUNTIME_DIR/podman"
	"$python" "$root/tests/e2e/engine.py" "$XDG_RUNTIME_DIR/docker.sock" "$TMPDIR/other engine.sock" \
		"$XDG_RUNTIME_DIR/podman/other.sock" &
	engine_pid=$!
	at_end 'kill $engine_pid'
	wait_for 5 test -S "$XDG_RUNTIME_DIR/podman/other.sock"
	export DOCKER_HOST="unix://$TMPDIR/other engine.sock"
}

start_ssh_agent()
{
	have ssh-agent && have ssh-add || return
	ssh-keygen -q -t ed25519 -N '' -f "$tmp/key" && eval "$(ssh-agent -s -a "$TMPDIR/agent.sock")" >/dev/null || return
	at_end 'kill $SSH_AGENT_PID'
	ssh-add -q "$tmp/key" || unset SSH_AUTH_SOCK
}

# What is installed, made by hand: a package of npm's and a wheel.
make_packages()
{
	mkdir -p "$tmp/package"
	echo '{"name": "left", "version": "1.0.0", "main": "i.js"}' >"$tmp/package/package.json"
	echo 'module.exports = 42' >"$tmp/package/i.js"
	tar -C "$tmp" -czf "$work/left-1.0.0.tgz" package
	[ -z "$python" ] || (cd "$work" && "$python" - <<-'END'
		import zipfile
		info = "left-1.0.dist-info/"
		files = {"left/__init__.py": "x = 42\n", info + "METADATA": "Metadata-Version: 2.1\nName: left\nVersion: 1.0\n",
		    info + "WHEEL": "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}
		with zipfile.ZipFile("left-1.0-py3-none-any.whl", "w") as wheel:
		    for name, text in files.items(): wheel.writestr(name, text)
		    wheel.writestr(info + "RECORD", "".join(n + ",,\n" for n in [*files, info + "RECORD"]))
	END
	)
}

make_packages
start_engines
start_ssh_agent
ask=("$python" "$root/tests/e2e/engine.py" --ask)
runners=(bwrap landlock)
[ -z "${AW_FULL:-}" ] || runners+=(exec)
[ -z "${AW_TEST_RUNNER:-}" ] || runners=("$AW_TEST_RUNNER")
for runner in "${runners[@]}"; do
	if ! with '' true >/dev/null 2>&1; then
		skip "tools behind $runner" "$(with '' true | tail -n 1)"
		continue
	fi
	for tool in ${AW_TOOLS:-node python go rust java git closed_home ssh_agent docker_client}; do
		start=$(date +%s%N)
		"test_$tool"
		note "$tool: $((($(date +%s%N) - start) / 1000000)) ms"
	done
done

# What cannot be installed here is not pretended to have been tried.
for agent in aider goose; do
	runner=${runners[0]}
	if have "$agent"; then works . "$agent starts" "$agent" "$agent" --version; else
		skip "$agent in enforce" 'it is not installed; its preset comes from its documentation'
	fi
done

# The list of presets, and the page about them.
listed=$("$AGENTWATCH" policy presets)
is "$(cd "$root/data/presets" && ls ./*.yaml | sed 's|./||; s|.yaml||')" 'policy presets lists all of them' "$(cut -d' ' -f1 <<<"$listed")"
is '' 'docs/PRESETS.md has a row for each' "$(for p in $(cut -d' ' -f1 <<<"$listed"); do grep -q "^| \`$p\` |" "$root/docs/PRESETS.md" || echo "$p"; done)"
is '' 'each has one line of what it is for' "$(grep -vE '^[a-z-]+ +[^ ].{10,}' <<<"$listed")"
like 'claude-code +Claude Code.*\[claude, claude-agent-acp, claude-code-acp\]' 'with the commands that pick it' "$listed"
same <("$AGENTWATCH" policy presets git) "$root/data/presets/git.yaml" 'policy presets NAME prints one, with its comments'
is "agentwatch: no preset 'nodee'; did you mean 'node'?" 'a slip is named with what was meant' "$("$AGENTWATCH" policy presets nodee 2>&1)"
is 1 'and is a failure' "$("$AGENTWATCH" policy presets nodee >/dev/null 2>&1; echo $?)"
mkdir "$tmp/alone" && cp "$AGENTWATCH" "$tmp/alone/"
like 'neither beside the program.*install it again' 'without its presets it says where they are missed' "$("$tmp/alone/agentwatch" policy presets 2>&1)"
done_testing
