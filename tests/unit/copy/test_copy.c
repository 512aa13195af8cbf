/* SPDX-License-Identifier: Apache-2.0 */
/* Every byte of a copy, and no byte beside it, for each kernel, kind, alignment and odd length. */
#include <stdint.h>

#include "copy/copy.h"
#include "copy/kernels.h"
#include "tests/unit/tap.h"

#define ROOM   8192
#define MARGIN 128

static unsigned char source[ROOM + 2 * MARGIN], target[ROOM + 2 * MARGIN];

static void fill(void)
{
	uint32_t state = 1;

	for (size_t i = 0; i < sizeof(source); i++) {
		state = state * 1664525 + 1013904223;
		source[i] = (unsigned char)(state >> 24);
		target[i] = (unsigned char)~source[i];
	}
}

/* True: the bytes are copied, and those beside them are as fill() left them. */
static bool is_copied(size_t to, size_t from, size_t bytes)
{
	for (size_t i = 0; i < sizeof(target); i++) {
		bool inside = i >= to && i < to + bytes;
		unsigned char expected = inside ? source[from + i - to] : (unsigned char)~source[i];

		if (target[i] != expected)
			return false;
	}
	return true;
}

static bool try(size_t to, size_t from, size_t bytes, enum pm_copy_kind kind)
{
	fill();
	pm_copy(target + to, source + from, bytes, kind);
	return is_copied(to, from, bytes);
}

static void test_kind(const char *kernel, enum pm_copy_kind kind)
{
	static const size_t lengths[] = {
		0, 1, 63, 64, 65, 127, 128, 255, 256, 257, 320, 1000, 4096, 4097, 7777, ROOM};
	unsigned wrong = 0;

	FOR_EACH(length, lengths)
	for (size_t to = 0; to < 64; to += 7)
		for (size_t from = 0; from < 64; from += 9)
			wrong += !try(MARGIN + to - 64, MARGIN + from - 64, *length, kind);
	is_number(wrong, 0, kernel);
}

static void test_kernels(void)
{
	for (const struct pm_copy_kernel *row = pm_copy_kernels; row->name; row++) {
		is_number(pm_copy_use(row->name), row->is_here(), "a kernel of this processor");
		if (!row->is_here())
			continue;
		is_text(pm_copy_kernel_name(), row->name, "is in use");
		for (int kind = PM_COPY_CACHED; kind <= PM_COPY_PERSISTED; kind++)
			test_kind(row->name, (enum pm_copy_kind)kind);
	}
	ok(!pm_copy_use("abacus"), "an unknown kernel is not used");
}

static void test_kinds(void)
{
	is_number(pm_copy_kind_for(4096), PM_COPY_CACHED, "a small batch goes through the caches");
	is_number(pm_copy_kind_for((size_t)1 << 30), PM_COPY_STREAMED, "a large one past them");
}

int main(void)
{
	is_text(pm_copy_kernel_name(),
		pm_copy_kernels->is_here() ? pm_copy_kernels->name : pm_copy_kernel_name(),
		"the fastest kernel by default");
	test_kernels();
	test_kinds();
	return tap_done();
}
