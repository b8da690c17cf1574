/* SPDX-License-Identifier: Apache-2.0 */
/* subject_key.c - rule and subject of a question as bytes. */
#include "supervisor/approval/subject_key.h"

#include <stdlib.h>
#include <string.h>

#include "policy/bytes.h"
#include "supervisor/approval/questions.h"

enum aw_subject_access aw_access_of(int action)
{
	switch ((enum aw_action)action) {
	case AW_WRITE:
	case AW_CREATE:
	case AW_DELETE:
	case AW_RENAME:
		return AW_ACCESS_CHANGE;
	case AW_EXEC:
		return AW_ACCESS_EXEC;
	case AW_CONNECT:
	case AW_SEND:
		return AW_ACCESS_CONNECT;
	case AW_BIND:
		return AW_ACCESS_LISTEN;
	default:
		return AW_ACCESS_READ;
	}
}

/* Its length in front, so that no two lists of texts give the same bytes. */
static void put(struct aw_bytes *out, const char *bytes, size_t len)
{
	aw_bytes_add(out, &len, sizeof(len));
	aw_bytes_add(out, bytes, len);
}

static void put_word(struct aw_bytes *out, const char *word)
{
	put(out, word, word ? strlen(word) : 0);
}

bool aw_key_make(const struct aw_asked *asked, struct aw_subject_key *ret)
{
	const struct aw_event *event = asked->event;
	const char access = (char)aw_access_of(event->action);
	struct aw_bytes out = {NULL, 0, 0, false};

	aw_bytes_add(&out, &access, 1); /* the first byte: as_change() */
	if (event->rule) {
		put_word(&out, event->rule->layer);
		put_word(&out, event->rule->file);
		put_word(&out, event->rule->text);
	}
	put(&out, event->path.bytes, event->path.len);
	put(&out, event->path2.bytes, event->path2.len);
	put(&out, event->address.bytes, event->address.len);
	aw_bytes_add(&out, &event->port, sizeof(event->port));
	aw_bytes_add(&out, &event->family, sizeof(event->family));
	for (size_t i = 0; i < event->argc; i++)
		put(&out, event->argv[i].bytes, event->argv[i].len);
	if (event->argv_truncated) /* what is not known may differ */
		aw_bytes_add(&out, &asked->cookie, sizeof(asked->cookie));
	*ret = (struct aw_subject_key){
		out.data, out.len}; /* handed over: cut short it would be like others */
	if (!out.failed)
		return true;
	aw_key_release(ret);
	return false;
}

bool aw_key_copy(const struct aw_subject_key *key, struct aw_subject_key *ret)
{
	char *bytes = malloc(key->len + 1);

	if (!bytes)
		return false;
	memcpy(bytes, key->bytes, key->len);
	*ret = (struct aw_subject_key){bytes, key->len};
	return true; /* cppcheck-suppress memleak; the key owns it */
}

bool aw_key_equal(const struct aw_subject_key *a, const struct aw_subject_key *b)
{
	return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

void aw_key_release(struct aw_subject_key *key)
{
	free(key->bytes);
	*key = (struct aw_subject_key){NULL, 0};
}

bool aw_key_as_change(struct aw_subject_key *key, bool change)
{
	if (key->bytes[0] != (change ? AW_ACCESS_READ : AW_ACCESS_CHANGE))
		return false;
	key->bytes[0] = change ? AW_ACCESS_CHANGE : AW_ACCESS_READ;
	return true;
}
