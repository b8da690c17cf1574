# a profile
quiet
include firejail-more.inc
include nothing-here.inc
include nothing-here.local
ignore noexec /tmp
noblacklist ${HOME}/.tool
blacklist ${HOME}/.*history
blacklist ${PATH}/sudo
read-only ${HOME}/.bashrc
read-write ${HOME}/.tool/rc
whitelist ${HOME}/.tool
whitelist ${DOWNLOADS}
whitelist /tmp/tool
noexec /tmp
noexec ${HOME}
net none
protocol unix,inet
caps.drop all
nonewprivs
nosound
nodbus
seccomp
noforgotten
env TOOL=1
rmenv TOKEN
rlimit-nofile 256
rlimit-fsize 2g
timeout 01:30:00
private-etc passwd
?HAS_X11: include x.inc
frobnicate
