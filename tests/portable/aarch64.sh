#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# aarch64.sh DIR COMMAND...: run a command where aarch64 programs run as if they were native.
#
# A user namespace of its own has a binfmt_misc of its own (Linux 6.7), where qemu is set up;
# nothing outside changes.  There the shell and the small programs (sh, cat, ...) are those
# of DIR/aarch64, laid over the machine's, so that what a test has watched is aarch64 as well.
# Status 77, with the reason on stderr, when that cannot be done here.
set -u
dir=$(cd "${1:?folder}" && pwd) || exit 1
shift
qemu=$(command -v qemu-aarch64-static) || { echo 'qemu-user-static is not installed' >&2; exit 77; }

if [ -z "${AW_INSIDE_AARCH64:-}" ]; then
	unshare --user --map-root-user --mount true 2>/dev/null ||
		{ echo 'user namespaces are not permitted here' >&2; exit 77; }
	AW_INSIDE_AARCH64=1 exec unshare --user --map-root-user --mount "$BASH" "$0" "$dir" "$@"
fi
unset AW_INSIDE_AARCH64

mount -t binfmt_misc none /proc/sys/fs/binfmt_misc 2>/dev/null ||
	{ echo 'a user namespace has no binfmt_misc of its own here (Linux 6.7 and later)' >&2; exit 77; }
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
# F: opened here and now, so that it is found whatever is mounted over it
echo ":qemu-aarch64:M::$magic:$mask:$qemu:F" >/proc/sys/fs/binfmt_misc/register ||
	{ echo 'binfmt_misc takes no interpreter here' >&2; exit 77; }

for folder in bin lib; do
	mount -t overlay -o "lowerdir=$dir/aarch64/usr/$folder:/usr/$folder" none "/usr/$folder" 2>/dev/null ||
		{ echo "a user namespace may not put an overlay over /usr/$folder here" >&2; exit 77; }
done
exec "$@"
