/* SPDX-License-Identifier: Apache-2.0 */
/* cppcheck.h - macros of system headers, which cppcheck does not read. */
#define HASH_ITER(hh, head, el, tmp)                                                   \
	for ((el) = (head), (tmp) = (el); (el); (el) = (tmp))
#define LL_FOREACH(head, el) for ((el) = (head); (el); (el) = (el)->next)
#define DL_FOREACH(head, el) for ((el) = (head); (el); (el) = (el)->next)
#define DL_FOREACH_SAFE(head, el, tmp)                                                 \
	for ((el) = (head), (tmp) = (el); (el); (el) = (tmp))
#define ElfW(type) Elf64_##type
