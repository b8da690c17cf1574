# SPDX-License-Identifier: Apache-2.0
# lab.sh - hosts of the test's own, with names: http, https, ssh, dns, socks, git, npm, pip.
#
# lab_alone "$0" runs the script again in namespaces of its own; lab_start builds the hosts there, all
# on addresses of the loopback device that are not loopback addresses.  $lab is its folder:
#   zone        names of the name server, may be changed; lab_name NAME TTL TYPE VALUE adds one
#   dns.log web.log socks.log   what was asked for
#   ca.pem      whom https is signed by
#   known_hosts id   for ssh, when lab_ssh was called
# shellcheck shell=bash

lab_v4=(192.0.2.53 192.0.2.10 192.0.2.20 192.0.2.30) # name server, allowed, denied, another
lab_v6=(2001:db8::53 2001:db8::10 2001:db8::20 2001:db8::30)

# Does not return unless the script is in namespaces of its own.
lab_alone()
{
	local flags=-mn
	[ -z "${AW_ALONE:-}" ] || return 0
	have python3 || skip_all 'no python3'
	is_root || flags=-rmn
	have ip && unshare $flags true 2>/dev/null || skip_all 'no namespaces of its own here'
	lab_user=$(id -u)
	export lab_user
	rm -rf "$tmp"
	trap - EXIT
	AW_ALONE=1 exec unshare $flags bash "$1"
}

lab_name() { printf '%s %s %s %s\n' "$@" >>"$lab/zone"; }

# allowed.test and denied.test are the same servers, under different addresses.
lab_zone()
{
	local i=0 name
	for name in allowed denied other; do
		i=$((i + 1))
		lab_name $name.test 300 A "${lab_v4[i]}"
		lab_name $name.test 300 AAAA "${lab_v6[i]}"
		lab_name v4.$name.test 300 A "${lab_v4[i]}"
		lab_name v6.$name.test 300 AAAA "${lab_v6[i]}"
		lab_name alias.$name.test 300 CNAME $name.test
		lab_name text.$name.test 300 TXT "text of $name"
		lab_name mail.$name.test 300 MX "10 $name.test"
		lab_name _web._tcp.$name.test 300 SRV "0 0 80 $name.test"
	done
}

# Certificates for all of it, by a CA of its own.
lab_certificate()
{
	have openssl || return 0
	(
		cd "$lab" || exit
		openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 -subj '/CN=lab CA' \
			-keyout ca.key -out ca.pem -addext 'basicConstraints=critical,CA:TRUE'
		openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj '/CN=lab' -keyout key.pem -out csr.pem
		printf 'subjectAltName=DNS:allowed.test,DNS:*.allowed.test,DNS:denied.test,DNS:*.denied.test,DNS:other.test,DNS:*.other.test,IP:192.0.2.10,IP:192.0.2.20\n' >san
		openssl x509 -req -in csr.pem -CA ca.pem -CAkey ca.key -CAcreateserial -days 30 -extfile san -out cert.pem
	) >"$lab/openssl.log" 2>&1
}

# A repository with one commit.
lab_repository()
{
	local to=$lab/repositories/one.git
	have git || return 0
	mkdir -p "$lab/repositories"
	HOME=$lab GIT_CONFIG_NOSYSTEM=1 git init -q --bare -b main "$to" &&
		printf '%s\n' 'commit refs/heads/main' 'committer Lab <lab@allowed.test> 1700000000 +0000' 'data 5' 'first' \
			'M 644 inline README' 'data 13' 'from the lab' '' | git --git-dir="$to" fast-import --quiet
}

# lab_start [RESOLV_LINE...]: names, addresses and servers; fails when /etc cannot be replaced.
lab_start()
{
	local address
	lab=$tmp/lab
	mkdir -p "$lab"
	ip link set lo up
	for address in "${lab_v4[@]}"; do ip address add "$address/32" dev lo; done
	for address in "${lab_v6[@]}"; do ip address add "$address/128" dev lo nodad; done
	lab_zone
	printf '%s\n' '127.0.0.1 localhost' '::1 localhost' >"$lab/hosts"
	if [ $# -gt 0 ]; then printf '%s\n' "$@"; else echo "nameserver ${lab_v4[0]}"; fi >"$lab/resolv.conf"
	mount --bind "$lab/hosts" /etc/hosts && mount --bind "$lab/resolv.conf" /etc/resolv.conf || return 1
	lab_certificate &
	lab_repository &
	wait
	PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/e2e/lab/servers.py" "$lab" "${lab_v4[0]}" "${lab_v6[0]}" \
		"${lab_v4[@]:1}" "${lab_v6[@]:1}" >"$lab/servers.log" 2>&1 &
	lab_servers=$!
	at_end "kill $lab_servers"
	wait_for 10 test -e "$lab/ready" || { note "$(cat "$lab/servers.log")"; return 1; }
}

# An ssh server on port 2222; fails, with the reason in $lab_why, where none can run.
lab_ssh()
{
	local as=() sshd
	lab_why='no ssh server'
	sshd=$(PATH=$PATH:/usr/sbin command -v sshd) && have ssh-keygen || return 1
	ssh-keygen -q -t ed25519 -N '' -f "$lab/host_key" && ssh-keygen -q -t ed25519 -N '' -f "$lab/id" || return 1
	cat >"$lab/sshd_config" <<-EOF
		Port 2222
		HostKey $lab/host_key
		AuthorizedKeysFile $lab/id.pub
		PidFile none
		StrictModes no
		UsePAM no
		PasswordAuthentication no
		PermitRootLogin yes
		PermitUserEnvironment no
		AcceptEnv GIT_PROTOCOL
	EOF
	printf "[%s]:2222 $(cat "$lab/host_key.pub")\n" allowed.test denied.test v4.allowed.test v6.allowed.test >"$lab/known_hosts"
	lab_login=$(id -un)
	if is_root && [ "${lab_user:-0}" = 0 ]; then
		mkdir -p /run/sshd
	else # it may not be root without other users: as who we are outside
		as=(unshare -U --map-user="$lab_user" --map-group="$lab_user")
		lab_login=$("${as[@]}" id -un 2>/dev/null) || { lab_why='no user namespace in a user namespace'; return 1; }
	fi
	"${as[@]}" "$sshd" -D -e -f "$lab/sshd_config" >"$lab/sshd.log" 2>&1 &
	at_end "kill $!"
	lab_ssh=(ssh -F none -i "$lab/id" -o IdentitiesOnly=yes -o UserKnownHostsFile="$lab/known_hosts"
		-o GlobalKnownHostsFile=/dev/null -o BatchMode=yes -o ConnectTimeout=10 -l "$lab_login" -p 2222)
	wait_for 5 grep -q 'Server listening on :: port' "$lab/sshd.log" ||
		{ lab_why="the ssh server does not start: $(tail -n 1 "$lab/sshd.log")"; return 1; }
}
