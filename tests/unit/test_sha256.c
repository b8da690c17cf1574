/* SPDX-License-Identifier: Apache-2.0 */
/* test_sha256.c - the digests that FIPS 180-4 and its test vectors give. */
#include <stdlib.h>
#include <string.h>

#include "supervisor/util/sha256.h"
#include "tests/unit/tap.h"

static void short_texts(void)
{
	static const struct {
		const char *what, *text, *digest;
	} cases[] = {
		{"nothing", "",
			"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{"one block", "abc",
			"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		{"two blocks",
			"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
			"248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
		{"112 bytes",
			"abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
			"hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
			"cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"},
	};
	char got[AW_SHA256_TEXT];

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		aw_sha256(cases[i].text, strlen(cases[i].text), got);
		ok(strcmp(got, cases[i].digest) == 0, "the digest of %s",
			cases[i].what);
	}
}

/* Each length around the ends of blocks, with the digest that coreutils gives. */
static void lengths_around_a_block(void)
{
	static const struct {
		size_t len;
		const char *digest;
	} cases[] = {
		{55, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318"},
		{56, "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a"},
		{63, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34"},
		{64, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb"},
		{65, "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0"},
		{1000000,
			"cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
	};
	char *text = malloc(1000000), got[AW_SHA256_TEXT];

	if (!text)
		abort();
	memset(text, 'a', 1000000);
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		aw_sha256(text, cases[i].len, got);
		ok(strcmp(got, cases[i].digest) == 0, "the digest of %zu times 'a'",
			cases[i].len);
	}
	free(text);
}

int main(void)
{
	short_texts();
	lengths_around_a_block();
	return done();
}
