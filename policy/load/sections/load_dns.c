/* SPDX-License-Identifier: Apache-2.0 */
/* load_dns.c - "$NAMESERVERS" in network lists: who answers for names here. */
#include <stdio.h>
#include <string.h>

#include "policy/load/load_internal.h"
#include "policy/port_net.h"

#define LINES_MAX 1000

static bool add(struct aw_loader *l, struct aw_draft_entry *entry, char *text,
	unsigned low, unsigned high)
{
	unsigned char bytes[16];

	text[strcspn(text, "%")] = '\0'; /* fe80::1%eth0 */
	if (inet_pton(AF_INET, text, bytes) == 1)
		aw_net_add(l, entry, AW_NET_IPV4, 32, bytes, 4, low, high);
	else if (inet_pton(AF_INET6, text, bytes) == 1)
		aw_net_add(l, entry, AW_NET_IPV6, 128, bytes, 16, low, high);
	else
		return false;
	return true;
}

void aw_name_servers_add(
	struct aw_loader *l, struct aw_draft_entry *entry, unsigned low, unsigned high)
{
	FILE *file = fopen("/etc/resolv.conf", "re");
	char line[512], address[128], home[] = "127.0.0.1";
	bool any = false;
	int n = 0;

	while (file && n++ < LINES_MAX && fgets(line, sizeof(line), file))
		if (sscanf(line, " nameserver %127s", address) == 1)
			any |= add(l, entry, address, low, high);
	if (file)
		fclose(file);
	if (!any) /* what resolvers assume, too */
		add(l, entry, home, low, high);
}
