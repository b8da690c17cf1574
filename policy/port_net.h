/* SPDX-License-Identifier: Apache-2.0 */
/*
 * port_net.h - address families and inet_pton(), which Windows has in headers of its
 * own.
 *
 * Nothing but names and numbers: what decides may use it.
 */
#ifndef AW_POLICY_PORT_NET_H
#define AW_POLICY_PORT_NET_H

#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <winsock2.h>
#include <ws2tcpip.h>
#undef AW_HIDE /* winuser.h: a flag of AnimateWindow() */
#else
#include <arpa/inet.h>
#include <sys/socket.h>
#endif

#endif
