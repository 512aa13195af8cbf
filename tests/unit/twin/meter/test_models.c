/* SPDX-License-Identifier: Apache-2.0 */
/* The meter's caches, its near memory, its objects, and the instructions that it tells apart. */
#include <string.h>

#include "tests/unit/tap.h"
#include "twin/meter/cache.h"
#include "twin/meter/instructions.h"
#include "twin/meter/near_memory.h"
#include "twin/meter/objects.h"

static void test_cache_sizes(void)
{
	struct pm_cache cache;

	ok(pm_cache_init(&cache, 1024, 2) && cache.sets == 8, "1 KiB in 2 ways are 8 sets");
	free(cache.lines);
	ok(!pm_cache_init(&cache, 1024, 3), "3 ways do not divide it");
	ok(!pm_cache_init(&cache, 64 * 2 * 3, 2), "3 sets are no power of two");
	ok(!pm_cache_init(&cache, 1024, 0), "no ways are no cache");
}

/* Lines 0, 8 and 16 share a set of two ways. */
static void test_cache(void)
{
	struct pm_cache cache;
	struct pm_cache_line out;
	uint32_t owner;

	pm_cache_init(&cache, 1024, 2);
	ok(!pm_cache_access(&cache, 0, 1, true, &out) && !out.tag, "a first line evicts none");
	ok(!pm_cache_access(&cache, 8, 2, false, &out) && !out.tag, "nor does a second one");
	ok(pm_cache_access(&cache, 0, 3, false, &out), "the first one is there");
	ok(!pm_cache_access(&cache, 16, 4, false, &out) && out.tag == 9 && !out.is_dirty,
		"a third one evicts the line that was used least recently, which is clean");
	ok(!pm_cache_access(&cache, 8, 2, false, &out) && out.tag == 1 && out.is_dirty &&
			out.owner == 1,
		"then the dirty one, which belongs to the one that stored into it, not to the last "
		"that loaded it");
	out = pm_cache_take(&cache, 16);
	ok(out.tag == 17 && !pm_cache_take(&cache, 16).tag, "a line is taken out once");
	ok(pm_cache_access(&cache, 8, 2, true, &out) && pm_cache_clean(&cache, 8, &owner) &&
			owner == 2 && !pm_cache_clean(&cache, 8, &owner),
		"and written back once");
	free(cache.lines);
}

static void test_near_memory(void)
{
	struct pm_near_memory near;
	struct pm_near_traffic sum = {0};

	ok(!pm_near_memory_init(&near, 100) && pm_near_memory_init(&near, 4 * 64),
		"it has whole lines");
	pm_near_memory_access(&near, 1, false, &sum);
	ok(sum.pmem_read == 1 && sum.dram_written == 1 && sum.dram_read == 1 && !sum.pmem_written,
		"a read that misses reads DRAM's tag and PMem, and fills DRAM");
	pm_near_memory_access(&near, 1, true, &sum);
	ok(sum.pmem_read == 1 && sum.dram_written == 2 && sum.dram_read == 2,
		"a write that hits goes to DRAM");
	pm_near_memory_access(&near, 5, true, &sum);
	ok(sum.pmem_read == 2 && sum.pmem_written == 1 && sum.dram_written == 4,
		"a write that misses fetches the line, and writes the dirty one back");
	pm_near_memory_access(&near, 2, false, &sum);
	pm_near_memory_access(&near, 6, false, &sum);
	ok(sum.pmem_read == 4 && sum.pmem_written == 1, "a clean line is not written back");
	free(near.tags);
}

static void test_objects(void)
{
	pm_objects_add(0x10000, 100, 7, 5);
	ok(pm_object_in(pm_objects_page(0x10000), 0x10000) == 1 &&
			pm_object_in(pm_objects_page(0x10063), 0x10063) == 1 &&
			!pm_object_in(pm_objects_page(0x10070), 0x10070),
		"an object has its granules");
	ok(!pm_object_in(pm_objects_page(0x7fff00000000), 0x7fff00000000),
		"memory without objects has none");
	pm_objects_remove(0x10010, 6);
	ok(!pm_object(1)->freed, "an address inside of it does not free it");
	pm_objects_add(0x10000, 16, 8, 7);
	ok(pm_object_in(pm_objects_page(0x10000), 0x10000) == 2, "a later object takes its place");
	pm_objects_remove(0x10000, 9);
	ok(pm_object(2)->freed == 3 && pm_object(2)->freed_at == 9 &&
			!pm_object_in(pm_objects_page(0x10000), 0x10000),
		"and is freed, third in the sequence");
	ok(pm_objects_count() == 3, "with object 0 that is none");
}

static bool is_nontemporal(const char *code, size_t bytes)
{
	return pm_is_nontemporal_store((const uint8_t *)code, bytes);
}

static void test_instructions(void)
{
	ok(is_nontemporal("\x0f\xc3\x07", 3), "movnti [rdi], eax");
	ok(is_nontemporal("\x48\x0f\xc3\x07", 4), "movnti [rdi], rax");
	ok(is_nontemporal("\x66\x0f\xe7\x07", 4), "movntdq [rdi], xmm0");
	ok(is_nontemporal("\x66\x44\x0f\xe7\x07", 5), "movntdq [rdi], xmm8");
	ok(is_nontemporal("\x0f\x2b\x07", 3), "movntps [rdi], xmm0");
	ok(is_nontemporal("\xc5\xfd\xe7\x07", 4), "vmovntdq [rdi], ymm0");
	ok(is_nontemporal("\xc4\xc1\x7d\xe7\x00", 5), "vmovntdq [r8], ymm0");
	ok(is_nontemporal("\xc5\xfc\x2b\x07", 4), "vmovntps [rdi], ymm0");
	ok(is_nontemporal("\x62\xf1\x7d\x48\xe7\x07", 6), "vmovntdq [rdi], zmm0");
	ok(!is_nontemporal("\x66\x0f\x7f\x07", 4), "not movdqa [rdi], xmm0");
	ok(!is_nontemporal("\xc5\xfd\x7f\x07", 4), "nor vmovdqa [rdi], ymm0");
	ok(!is_nontemporal("\xc5\xfe\xe6\x07", 4), "nor vcvtdq2pd ymm0, [rdi]");
	ok(!is_nontemporal("\xc4\xe2\x7d\x2a\x07", 5), "nor vmovntdqa ymm0, [rdi], a load");
	ok(!is_nontemporal("\x48\xe7\x07", 3), "nor out");
	ok(pm_mark_of((const uint8_t *)"\x66\x87\xdb", 3) == PM_MARK_BEGIN &&
			pm_mark_of((const uint8_t *)"\x66\x87\xc9", 3) == PM_MARK_END &&
			pm_mark_of((const uint8_t *)"\x66\x87\xd2", 3) == PM_MARK_PAUSE &&
			pm_mark_of((const uint8_t *)"\x66\x87\xf6", 3) == PM_MARK_RESUME &&
			pm_mark_of((const uint8_t *)"\x66\x87\xc0", 3) == PM_MARK_NONE &&
			pm_mark_of((const uint8_t *)"\x87\xdb", 2) == PM_MARK_NONE,
		"marks are these instructions and no others");
}

int main(void)
{
	test_cache_sizes();
	test_cache();
	test_near_memory();
	test_objects();
	test_instructions();
	return tap_done();
}
