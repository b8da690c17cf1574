/* SPDX-License-Identifier: Apache-2.0 */
/* pattern_probe.c - questions that a rule is about. */
#include "policy/image/pattern_probe.h"

#include <string.h>

#include "policy/image/image_layout.h"
#include "policy/port_net.h"

/* An address of documentation, for names. */
static const unsigned char some_address[4] = {203, 0, 113, 77};

static enum aw_action action_of(uint8_t list)
{
	switch (list) {
	case AW_LIST_DENY_WRITE:
	case AW_LIST_WRITE:
		return AW_WRITE;
	case AW_LIST_EXEC_DENY:
	case AW_LIST_EXEC_ASK:
	case AW_LIST_EXEC_ALLOW:
		return AW_EXEC;
	case AW_LIST_NET_DENY:
	case AW_LIST_NET_ASK:
	case AW_LIST_NET_ALLOW:
		return AW_CONNECT;
	case AW_LIST_NET_LISTEN:
		return AW_BIND;
	default:
		return AW_READ;
	}
}

/* Who the rule is about; what enters a profile is not in it yet. */
static uint32_t profile_of(const struct aw_image_entry *entry)
{
	return entry->stratum < AW_STRATA || entry->list == AW_LIST_ENTER ||
			       entry->list == AW_LIST_ENTER_MCP
		       ? 0
		       : 1u << (entry->stratum - AW_STRATA);
}

static void put_socket(struct aw_probe *s)
{
	s->address.family = AF_UNIX;
	s->address.path = s->path;
	s->address.path_len = strlen(s->path);
}

/* A path is a file, a program without a word on arguments, or a socket. */
static void make_of_path(struct aw_probe *s)
{
	if (s->action == AW_CONNECT || s->action == AW_BIND) {
		put_socket(s);
	} else if (s->action == AW_EXEC) {
		s->argv[0] = s->path;
		s->argc = 1;
	}
}

/* --- programs --- */

static bool add_word(
	struct aw_probe *s, size_t *used, const char *pattern, size_t len, unsigned how)
{
	char *to = s->words + *used, star[8];

	aw_probe_filling(how, star);
	if (s->argc == AW_PROBE_WORDS ||
		!aw_probe_component(pattern, len, star, to, sizeof(s->words) - *used))
		return false;
	s->argv[s->argc++] = to;
	*used += strlen(to) + 1;
	return true;
}

static bool make_command(const struct aw_image *image,
	const struct aw_image_command *command, unsigned i, struct aw_probe *s)
{
	const struct aw_image_word *words = aw_part_at(image, AW_PART_WORDS);
	const char *name = aw_image_bytes(image, command->name);
	size_t used = 0;
	char star[8];

	if (i >= AW_PROBE_WAYS)
		return false;
	aw_probe_filling(i, star);
	if (command->flags & AW_COMMAND_PATH) {
		if (!aw_probe_path(
			    name, command->name_len, i, s->path, sizeof(s->path)))
			return false;
	} else {
		size_t len = strlen(strcpy(s->path, "/zq7w/"));

		if (!aw_probe_component(name, command->name_len, star, s->path + len,
			    sizeof(s->path) - len))
			return false;
	}
	s->argv[s->argc++] = s->path;
	for (uint32_t w = 0; w < command->word_count; w++)
		if (!add_word(s, &used,
			    aw_image_bytes(image, words[command->word_first + w].text),
			    words[command->word_first + w].len, i))
			return false;
	if ((command->flags & AW_COMMAND_OPEN) && (i / 3) % 2)
		return add_word(s, &used, "*", 1, i);
	return true;
}

/* --- addresses --- */

static void put_bytes(struct aw_probe *s, const struct aw_image *image,
	const struct aw_image_net *net, bool last)
{
	size_t size = net->kind == AW_NET_IPV4 ? 4 : 16;

	s->address.family = net->kind == AW_NET_IPV4 ? AF_INET : AF_INET6;
	memcpy(s->address.bytes, aw_image_bytes(image, net->key), size);
	for (size_t bit = net->prefix; last && bit < 8 * size; bit++)
		s->address.bytes[bit / 8] |= (unsigned char)(0x80 >> (bit % 8));
}

static bool put_host(
	struct aw_probe *s, const char *below, const char *name, size_t len)
{
	size_t at = strlen(below);

	if (at + len >= sizeof(s->host))
		return false;
	memcpy(s->host, below, at);
	memcpy(s->host + at, name, len);
	s->host[at + len] = '\0';
	s->address.host = s->host;
	return true;
}

/* how: the lowest or highest port and address. */
static bool make_net(const struct aw_image *image, const struct aw_image_net *net,
	unsigned how, struct aw_probe *s)
{
	const char *key = aw_image_bytes(image, net->key);
	char star[8];

	aw_probe_filling(how, star);
	s->address.family = AF_INET;
	s->address.port = how % 2 ? net->port_high : net->port_low;
	memcpy(s->address.bytes, some_address, sizeof(some_address));
	switch (net->kind) {
	case AW_NET_HOST:
		return put_host(s, "", key, net->key_len);
	case AW_NET_BELOW:
		return put_host(s, how / 2 ? "zq7w.a." : "zq7w.", key, net->key_len);
	case AW_NET_IPV4:
	case AW_NET_IPV6:
		put_bytes(s, image, net, how / 2);
		return true;
	case AW_NET_ABSTRACT:
		if (net->key_len + 2 > sizeof(s->path))
			return false;
		s->path[0] = '@';
		memcpy(s->path + 1, key, net->key_len);
		s->path[net->key_len + 1] = '\0';
		put_socket(s);
		return true;
	case AW_NET_ABSTRACT_GLOB:
		s->path[0] = '@';
		if (!aw_probe_component(
			    key, net->key_len, star, s->path + 1, sizeof(s->path) - 1))
			return false;
		put_socket(s);
		return true;
	default:
		return true;
	}
}

/* --- any rule --- */

static const struct aw_image_command *command_of(
	const struct aw_image *image, uint32_t rule)
{
	const struct aw_image_command *commands = aw_part_at(image, AW_PART_COMMANDS);

	for (uint32_t i = 0; i < image->parts[AW_PART_COMMANDS].count; i++)
		if (commands[i].entry == rule)
			return &commands[i];
	return NULL;
}

static const struct aw_image_net *net_of(
	const struct aw_image *image, uint32_t rule, unsigned nth)
{
	const struct aw_image_net *nets = aw_part_at(image, AW_PART_NETS);

	for (uint32_t i = 0; i < image->parts[AW_PART_NETS].count; i++)
		if (nets[i].entry == rule && nth-- == 0)
			return &nets[i];
	return NULL;
}

bool aw_probe_make(
	const struct aw_image *image, uint32_t rule, unsigned i, struct aw_probe *ret)
{
	const struct aw_image_entry *entry =
		(const struct aw_image_entry *)aw_part_at(image, AW_PART_ENTRIES) +
		rule;
	const struct aw_image_command *command;
	const struct aw_image_net *net;

	memset(ret, 0, sizeof(*ret));
	ret->action = action_of(entry->list);
	ret->profiles = profile_of(entry);
	if (entry->pattern_len) {
		if (i >= AW_PROBE_WAYS ||
			!aw_probe_path(aw_image_bytes(image, entry->pattern),
				entry->pattern_len, i, ret->path, sizeof(ret->path)))
			return false;
		make_of_path(ret);
		return true;
	}
	if (ret->action == AW_EXEC) {
		command = command_of(image, rule);
		return command && make_command(image, command, i, ret);
	}
	net = net_of(image, rule, i / 4);
	return net && make_net(image, net, i % 4, ret);
}

/* The paths that a rule is about, a program's name at any depth; 0: there are none. */
static size_t pattern_of(
	const struct aw_image *image, uint32_t rule, char *to, size_t size)
{
	const struct aw_image_entry *entry =
		(const struct aw_image_entry *)aw_part_at(image, AW_PART_ENTRIES) +
		rule;
	const struct aw_image_command *command = NULL;
	const char *text = aw_image_bytes(image, entry->pattern), *above = "";
	size_t len = entry->pattern_len, at;

	if (!len && action_of(entry->list) == AW_EXEC)
		command = command_of(image, rule);
	if (command) {
		text = aw_image_bytes(image, command->name);
		len = command->name_len;
		above = command->flags & AW_COMMAND_PATH ? "" : "/**/";
	}
	at = strlen(above);
	if (!len || at + len >= size)
		return 0;
	memcpy(to, above, at);
	memcpy(to + at, text, len);
	to[at + len] = '\0';
	return at + len;
}

/* An address that both are about, if any: the narrower of each part. */
static bool meet_nets(const struct aw_image *image, const struct aw_image_net *a,
	const struct aw_image_net *b, struct aw_probe *s)
{
	const struct aw_image_net *host = a->kind == AW_NET_HOST    ? a
					  : b->kind == AW_NET_HOST  ? b
					  : a->kind == AW_NET_BELOW ? a
					  : b->kind == AW_NET_BELOW ? b
								    : NULL;
	const struct aw_image_net *low = a->port_low > b->port_low ? a : b;
	const struct aw_image_net *bytes = NULL;
	bool good = true;

	memset(&s->address, 0, sizeof(s->address));
	for (int i = 0; i < 2; i++) {
		const struct aw_image_net *net = i ? b : a;

		if ((net->kind == AW_NET_IPV4 || net->kind == AW_NET_IPV6) &&
			(!bytes || net->prefix > bytes->prefix))
			bytes = net;
	}
	if (low->port_low > a->port_high || low->port_low > b->port_high ||
		!make_net(image, bytes ? bytes : a, 0, s))
		return false;
	s->address.port = low->port_low;
	if (host)
		good = put_host(s, host->kind == AW_NET_BELOW ? "zq7w." : "",
			aw_image_bytes(image, host->key), host->key_len);
	return good;
}

/* Pair n of the addresses that two rules stand for. */
static bool meet_addresses(const struct aw_image *image, uint32_t a, uint32_t b,
	unsigned n, struct aw_probe *s)
{
	const struct aw_image_net *mine, *theirs;
	unsigned i, j;

	for (i = 0; (mine = net_of(image, a, i)); i++)
		for (j = 0; (theirs = net_of(image, b, j)); j++)
			if (meet_nets(image, mine, theirs, s) && n-- == 0)
				return true;
	return false;
}

bool aw_probe_meet(const struct aw_image *image, uint32_t a, uint32_t b, unsigned n,
	struct aw_probe *ret)
{
	const struct aw_image_entry *entries = aw_part_at(image, AW_PART_ENTRIES);
	const struct aw_image_command *command;
	char mine[AW_PROBE_PATH], theirs[AW_PROBE_PATH];
	size_t len = pattern_of(image, a, mine, sizeof(mine));
	size_t their_len = pattern_of(image, b, theirs, sizeof(theirs));

	memset(ret, 0, sizeof(*ret));
	ret->action = action_of(entries[a].list);
	ret->profiles = profile_of(&entries[a]);
	if (!len && !their_len)
		return meet_addresses(image, a, b, n, ret);
	if (ret->action == AW_EXEC) {
		command = command_of(image, a);
		if (!command || !command->word_count)
			command = command_of(image, b);
		if (command && !make_command(image, command, 0, ret))
			return false;
	}
	if (!len || !their_len ||
		!aw_probe_common(
			mine, len, theirs, their_len, n, ret->path, sizeof(ret->path)))
		return false;
	if (!ret->argc)
		make_of_path(ret);
	return true;
}

void aw_probe_decide(const struct aw_image *image, const struct aw_probe *sample,
	struct aw_decision *ret)
{
	size_t len = strlen(sample->path);

	if (sample->address.family)
		aw_image_decide_address_in(
			image, sample->profiles, sample->action, &sample->address, ret);
	else if (sample->action == AW_EXEC)
		aw_image_decide_exec_in(image, sample->profiles, sample->path, len,
			sample->argv, sample->argc, ret);
	else
		aw_image_decide_path_in(image, sample->profiles, sample->action,
			sample->path, len, ret);
}
