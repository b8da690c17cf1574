/* SPDX-License-Identifier: Apache-2.0 */
/* bpf.h - runs a seccomp filter as the kernel would, for the instructions we use. */
#ifndef AW_TESTS_UNIT_BPF_H
#define AW_TESTS_UNIT_BPF_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>

#define BPF_WRONG                                                                      \
	0xffffffffu /* an instruction or jump that the kernel would refuse             \
		     */

static inline uint32_t bpf_run(
	const struct sock_filter *code, unsigned count, const struct seccomp_data *data)
{
	uint32_t a = 0;

	for (unsigned i = 0; i < count; i++) {
		const struct sock_filter *f = &code[i];

		switch (f->code) {
		case BPF_LD | BPF_W | BPF_ABS:
			if (f->k % 4 || f->k + 4 > sizeof(*data))
				return BPF_WRONG;
			memcpy(&a, (const char *)data + f->k, sizeof(a));
			break;
		case BPF_JMP | BPF_JEQ | BPF_K:
			i += a == f->k ? f->jt : f->jf;
			break;
		case BPF_JMP | BPF_JGE | BPF_K:
			i += a >= f->k ? f->jt : f->jf;
			break;
		case BPF_JMP | BPF_JSET | BPF_K:
			i += a & f->k ? f->jt : f->jf;
			break;
		case BPF_ALU | BPF_AND | BPF_K:
			a &= f->k;
			break;
		case BPF_JMP | BPF_JA:
			i += f->k;
			break;
		case BPF_RET | BPF_K:
			return f->k;
		default:
			return BPF_WRONG;
		}
	}
	return BPF_WRONG; /* past the end */
}

#endif
