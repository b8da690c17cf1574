/* SPDX-License-Identifier: Apache-2.0 */
/* log_words.c - tables of words; not every libc has them. */
#include "supervisor/audit/log_words.h"

#include <errno.h>
#include <sys/socket.h>

#include "policy/array.h"

#define NAME(number) [number] = #number

/* clang-format off */
static const char *const errnos[] = {
	NAME(EPERM), NAME(ENOENT), NAME(ESRCH), NAME(EINTR), NAME(EIO), NAME(ENXIO),
	NAME(E2BIG), NAME(ENOEXEC), NAME(EBADF), NAME(ECHILD), NAME(EAGAIN),
	NAME(ENOMEM), NAME(EACCES), NAME(EFAULT), NAME(ENOTBLK), NAME(EBUSY),
	NAME(EEXIST), NAME(EXDEV), NAME(ENODEV), NAME(ENOTDIR), NAME(EISDIR),
	NAME(EINVAL), NAME(ENFILE), NAME(EMFILE), NAME(ENOTTY), NAME(ETXTBSY),
	NAME(EFBIG), NAME(ENOSPC), NAME(ESPIPE), NAME(EROFS), NAME(EMLINK),
	NAME(EPIPE), NAME(EDOM), NAME(ERANGE), NAME(EDEADLK), NAME(ENAMETOOLONG),
	NAME(ENOLCK), NAME(ENOSYS), NAME(ENOTEMPTY), NAME(ELOOP), NAME(ENOMSG),
	NAME(EIDRM), NAME(ECHRNG), NAME(EL2NSYNC), NAME(EL3HLT), NAME(EL3RST),
	NAME(ELNRNG), NAME(EUNATCH), NAME(ENOCSI), NAME(EL2HLT), NAME(EBADE),
	NAME(EBADR), NAME(EXFULL), NAME(ENOANO), NAME(EBADRQC), NAME(EBADSLT),
	NAME(EBFONT), NAME(ENOSTR), NAME(ENODATA), NAME(ETIME), NAME(ENOSR),
	NAME(ENONET), NAME(ENOPKG), NAME(EREMOTE), NAME(ENOLINK), NAME(EADV),
	NAME(ESRMNT), NAME(ECOMM), NAME(EPROTO), NAME(EMULTIHOP), NAME(EDOTDOT),
	NAME(EBADMSG), NAME(EOVERFLOW), NAME(ENOTUNIQ), NAME(EBADFD), NAME(EREMCHG),
	NAME(ELIBACC), NAME(ELIBBAD), NAME(ELIBSCN), NAME(ELIBMAX), NAME(ELIBEXEC),
	NAME(EILSEQ), NAME(ERESTART), NAME(ESTRPIPE), NAME(EUSERS), NAME(ENOTSOCK),
	NAME(EDESTADDRREQ), NAME(EMSGSIZE), NAME(EPROTOTYPE), NAME(ENOPROTOOPT),
	NAME(EPROTONOSUPPORT), NAME(ESOCKTNOSUPPORT), NAME(EOPNOTSUPP),
	NAME(EPFNOSUPPORT), NAME(EAFNOSUPPORT), NAME(EADDRINUSE), NAME(EADDRNOTAVAIL),
	NAME(ENETDOWN), NAME(ENETUNREACH), NAME(ENETRESET), NAME(ECONNABORTED),
	NAME(ECONNRESET), NAME(ENOBUFS), NAME(EISCONN), NAME(ENOTCONN),
	NAME(ESHUTDOWN), NAME(ETOOMANYREFS), NAME(ETIMEDOUT), NAME(ECONNREFUSED),
	NAME(EHOSTDOWN), NAME(EHOSTUNREACH), NAME(EALREADY), NAME(EINPROGRESS),
	NAME(ESTALE), NAME(EUCLEAN), NAME(ENOTNAM), NAME(ENAVAIL), NAME(EISNAM),
	NAME(EREMOTEIO), NAME(EDQUOT), NAME(ENOMEDIUM), NAME(EMEDIUMTYPE),
	NAME(ECANCELED), NAME(ENOKEY), NAME(EKEYEXPIRED), NAME(EKEYREVOKED),
	NAME(EKEYREJECTED), NAME(EOWNERDEAD), NAME(ENOTRECOVERABLE), NAME(ERFKILL),
	NAME(EHWPOISON),
};

static const char *const families[] = {
	[AF_UNSPEC] = "unspec", [AF_UNIX] = "unix", [AF_INET] = "inet",
	[AF_INET6] = "inet6", [AF_NETLINK] = "netlink", [AF_PACKET] = "packet",
	[AF_BLUETOOTH] = "bluetooth", [AF_ALG] = "alg", [AF_VSOCK] = "vsock",
};

static const char *const events[] = {
	[AW_EV_CALL] = "call", [AW_EV_START] = "start", [AW_EV_EXEC] = "exec",
	[AW_EV_EXIT] = "exit", [AW_EV_REGISTER] = "hello", [AW_EV_LOST_SHIM] = "lost-shim",
	[AW_EV_POLICY] = "policy", [AW_EV_SUMMARY] = "summary",
	[AW_EV_WARNING] = "warning",
	[AW_EV_CONNECTION] = "connection",
};
/* clang-format on */

static const char *look_up(const char *const *table, size_t count, int number)
{
	return number >= 0 && (size_t)number < count ? table[number] : NULL;
}

const char *aw_errno_name(int number)
{
	return look_up(errnos, ARRAY_SIZE(errnos), number);
}

const char *aw_family_name(int family)
{
	return look_up(families, ARRAY_SIZE(families), family);
}

const char *aw_event_name(enum aw_event_kind kind)
{
	return look_up(events, ARRAY_SIZE(events), (int)kind);
}

const char *aw_source_name(enum aw_source source)
{
	switch (source) {
	case AW_FROM_SHIM:
		return "shim";
	case AW_FROM_KERNEL:
		return "kernel";
	}
	return NULL;
}

const char *aw_event_verdict(const struct aw_event *event)
{
	if (event->verdict == AW_ASK)
		return event->ask_denied ? "ask-deny" : "ask-allow";
	return aw_verdict_name(event->verdict);
}
