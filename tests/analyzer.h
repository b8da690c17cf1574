/* SPDX-License-Identifier: Apache-2.0 */
/* analyzer.h - what clang-tidy cannot know of a function in another file: these fail.
 */
#include "policy/error.h"
#define aw_fail(...) (aw_fail(__VA_ARGS__), -1)
#define aw_while(...) (aw_while(__VA_ARGS__), -1)
