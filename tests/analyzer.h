/* SPDX-License-Identifier: Apache-2.0 */
/* analyzer.h - what clang-tidy cannot know of a function in another file: these fail. */
#include "policy/error.h"
#define aw_fail(...) (aw_fail(__VA_ARGS__), -1)
#define aw_while(...) (aw_while(__VA_ARGS__), -1)
#ifdef __clang__
/* It does not follow that an element of a list has one behind it or is the last. */
#include <utlist.h>
void aw_list_remove(void *list, void *what);
#undef DL_DELETE
#define DL_DELETE(head, del) aw_list_remove(&(head), del)
#endif
