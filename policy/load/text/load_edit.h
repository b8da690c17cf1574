/* SPDX-License-Identifier: Apache-2.0 */
/*
 * load_edit.h - one more entry in the text of a policy, all else left as it is.
 *
 * Comments, order and layout stay: the entry is put into the text at the end of its
 * list, and lists and sections that are not there are made.  Texts in, texts out; the
 * caller reads the result again to see that it says what was meant.
 */
#ifndef AW_POLICY_LOAD_TEXT_LOAD_EDIT_H
#define AW_POLICY_LOAD_TEXT_LOAD_EDIT_H

#include <stddef.h>

#include "policy/error.h"

struct aw_edit {
	const char *section, *list; /* "filesystem", "ask" */
	const char *entry;	    /* UTF-8; quoted as needed */
	const char *comment;	    /* one line, without "#" */
};

/*
 * The len bytes of text with the entry, terminated, in *ret (owned by the caller).  -1:
 * the text is no YAML, or is laid out in a way in which nothing can be added safely.
 */
int aw_edit_add(const char *text, size_t len, const struct aw_edit *edit, char **ret,
	struct aw_error *err);

#endif
