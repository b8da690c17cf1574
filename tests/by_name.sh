#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# by_name.sh DIR: which objects that act for a target, below DIR/supervisor, make calls by a name;
# prints what may not.
#
# Between a look at a name and a call by it another thread may put something else there.  So
# what acts for a target makes such calls in path_act.c and path_bind.c alone, on what was
# judged (path_act.h).  Every other object that has one of these symbols stands in the list
# below with all it may use, and why its names are not a target's, or nothing comes of them.
root=$(realpath "${0%/*}/..")
cd "${1:?folder}/supervisor" || exit 2

symbols='open|open64|openat|openat64|creat|creat64|fopen|fopen64|freopen|freopen64|opendir|scandir|nftw|ftw|glob
rename|renameat|renameat2|remove|unlink|unlinkat|rmdir|mkdir|mkdirat|mknod|mknodat|mkfifo|mkfifoat|mkdtemp|mkstemp64
mkostemp64|link|linkat|symlink|symlinkat|bind|connect|chmod|fchmodat|chown|lchown|fchownat|utime|utimes|lutimes
utimensat|futimesat|truncate|truncate64|setxattr|lsetxattr|removexattr|lremovexattr|chdir|chroot|mount|umount2
execve|execv|execvp|execvpe|execveat|posix_spawn|posix_spawnp|system|popen|acct|swapon|name_to_handle_at|realpath
syscall'

# object: what it may use: why
allowed='path_walk: open openat syscall: the walk, O_PATH and one component at a time
path_act: fchmodat fchownat linkat mkdirat openat removexattr renameat renameat2 setxattr symlinkat syscall truncate unlinkat: the calls
path_bind: bind chdir open: the calls
path_walk_proc: open openat: O_PATH, links of /proc
emulate_open: openat syscall: asks the kernel whether flags are valid, with no folder
emulate_net: bind: addresses that are no file
emulate_address: syscall: pidfd_getfd
emulate_connect: connect: a socket file by the descriptor that holds it
connecting: connect: as emulate_connect
emulate_relay: connect: addresses of the relay, no files
emulate_send: syscall: pidfd_getfd
emulate_control: syscall: pidfd_getfd
creds: syscall: user ids
notify: syscall: seccomp
handle: syscall: seccomp
target: syscall: process_vm_readv
target_path: open syscall: O_PATH, to tell a name
git: renameat renameat2 unlinkat: names of our own, in a folder that is held
git_fresh: openat unlinkat: a name of our own, in a folder that is held
git_what: open openat: O_PATH, compared afterwards
call_file: open: /proc of the target
call_self: fopen: /proc of the target
call_shim: open: the shim
call_process: fopen syscall: /proc of a process; pidfds
machine: open syscall: O_PATH, to tell what enforce would refuse
socket_replace: fopen opendir syscall: /proc of the target
replace_epoll: fopen syscall: /proc of the target; kcmp
terminal: fopen opendir: /proc of the session
landlock_apply: open syscall: paths of the policy, O_PATH
landlock_make: opendir realpath: paths of the policy
landlock_reads: opendir: paths of the policy, before the command
absent: open openat syscall: O_PATH, to tell what is there'

broken=0
for object in git/*.o linux/{calls,emulate,seccomp,sockets,target}/*.o linux/landlock_*.o sandbox/landlock*.o; do
	[ -f "$root/supervisor/${object%.o}.c" ] || continue # of an older build
	name=${object##*/}
	name=${name%.o}
	used=$(nm -u "$object" | awk '{ sub(/@.*/, "", $2); print $2 }' | grep -xE "$(tr '\n' '|' <<<"$symbols")" | sort -u)
	row=$(grep "^$name:" <<<"$allowed" | cut -d: -f2)
	for symbol in $used; do
		case " $row " in *" $symbol "*) continue ;; esac
		echo "supervisor/${object%.o}.c: $symbol"
		broken=1
	done
done
[ $broken = 0 ] || echo '  ^ calls by a name belong into path_act.c; else say in tests/by_name.sh why not'
exit $broken
