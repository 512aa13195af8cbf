/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages that are moved between tiers, against a kernel of this test: a table of the pages that are
 * in DRAM, with huge pages that are migrated as a whole and pages that are pinned. The pages in
 * DRAM never exceed the chunks that are reserved for them.
 */
#include "runtime/heap/moved_pages.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/param.h>

#include "runtime/heap/heap.h"
#include "tests/unit/tap.h"

#define MIB	    (UINT64_C(1) << 20)
#define BUDGET	    (64 * MIB)
#define FREE	    (48 * MIB)
#define PAGE	    4096
#define PAGES	    ((size_t)(256 * MIB / PAGE)) /* of PMem that the test looks at */
#define CHUNK_PAGES ((size_t)(PM_CHUNK / PAGE))

/* --- linked in place of calls of runtime/common/nodemask.c and of madvise() --- */

static bool in_dram[PAGES], is_pinned[PAGES], is_huge[PAGES / CHUNK_PAGES], is_refused;
static bool is_half_refused; /* binds to DRAM and says that it failed */

int __wrap_pm_nodemask_migrate(const struct pm_nodemask *nodes, void *start, size_t bytes);
void __wrap_pm_nodemask_elsewhere(
	const struct pm_nodemask *nodes, char *start, size_t n, bool *ret);

static size_t page_of(const char *p)
{
	return (size_t)(p - pm_heap.spaces[PM_PMEM].base) / PAGE;
}

static bool is_dram(const struct pm_nodemask *nodes)
{
	return nodes == &pm_heap.settings.dram;
}

int __wrap_pm_nodemask_migrate(const struct pm_nodemask *nodes, void *start, size_t bytes)
{
	size_t first = page_of(start), last = page_of((char *)start + bytes);

	if (is_refused)
		return -1;
	if (is_huge[first / CHUNK_PAGES]) {
		first = first / CHUNK_PAGES * CHUNK_PAGES;
		last = first + CHUNK_PAGES;
	}
	for (size_t page = first; page < last; page++)
		if (!is_pinned[page])
			in_dram[page] = is_dram(nodes);
	return is_half_refused && is_dram(nodes) ? -1 : 0;
}

void __wrap_pm_nodemask_elsewhere(const struct pm_nodemask *nodes, char *start, size_t n, bool *ret)
{
	for (size_t i = 0; i < n; i++)
		ret[i] = in_dram[page_of(start) + i] != is_dram(nodes);
}

int __real_madvise(void *start, size_t bytes, int advice);
int __wrap_madvise(void *start, size_t bytes, int advice);

/* A dropped page is on no node, even if it was pinned. */
int __wrap_madvise(void *start, size_t bytes, int advice)
{
	size_t first = page_of(start);

	if (advice == MADV_DONTNEED && first < PAGES)
		memset(&in_dram[first], false, MIN(bytes / PAGE, PAGES - first));
	return __real_madvise(start, bytes, advice);
}

/* --- */

static void start(void)
{
	struct pm_settings settings = {.budget_bytes = BUDGET};

	unsetenv("PM_ATTACH_FD");
	pm_nodemask_parse("0", &settings.dram);
	pm_nodemask_parse("0", &settings.pmem);
	settings.bytes[PM_TEMPORARY] = BUDGET - FREE;
	settings.bytes[PM_FREE] = FREE;
	pm_heap_start(&settings);
}

static char *alloc_in_pmem(uint64_t bytes)
{
	return pm_heap_alloc_advised(bytes, 1, false, false);
}

static size_t dram_pages(void)
{
	size_t n = 0;

	for (size_t page = 0; page < PAGES; page++)
		n += in_dram[page];
	return n;
}

/* Chunks that have a page in DRAM. */
static size_t dram_chunks(void)
{
	size_t n = 0;

	for (size_t chunk = 0; chunk < PAGES / CHUNK_PAGES; chunk++)
		n += memchr(&in_dram[chunk * CHUNK_PAGES], 1, CHUNK_PAGES) != NULL;
	return n;
}

/* Nothing else is in the free space. */
static size_t reserved_chunks(void)
{
	return pm_heap_used_bytes(PM_FREE) / PM_CHUNK;
}

static void test_range(void)
{
	char *object = alloc_in_pmem(10 * MIB);

	is_number((long long)pm_moved_pages_to_pmem(object, 10 * MIB), 0, "it is in PMem");
	is_number((long long)pm_moved_pages_to_dram(object + 1, 2 * PAGE), PAGE,
		"whole pages inside of the range only");
	ok(in_dram[page_of(object) + 1] && dram_pages() == 1, "that one");
	is_number((long long)pm_moved_pages_to_dram(object, 10 * MIB), 10 * (long long)MIB - PAGE,
		"all others");
	is_number((long long)pm_moved_pages_to_dram(object, 10 * MIB), 0,
		"a second move has nothing to do");
	is_number((long long)pm_moved_pages_to_pmem(object, 3 * MIB), 3 * (long long)MIB,
		"and back, in parts");
	is_number((long long)pm_moved_pages_to_pmem(object, 10 * MIB), 7 * (long long)MIB,
		"to the end");
	is_number((long long)dram_pages(), 0, "nothing is left in DRAM");
	pm_heap_free(object);
}

static void test_budget(void)
{
	char *object = alloc_in_pmem(100 * MIB);
	struct pm_moved_counts counts;
	size_t n = pm_moved_pages_to_dram(object, 100 * MIB);

	ok(n <= FREE && n > FREE - PM_CHUNK, "as much as the budget has room for: %zu", n);
	is_number((long long)dram_pages() * PAGE, (long long)n, "is in DRAM");
	pm_moved_pages_count(&counts);
	is_number(
		(long long)counts.refused_bytes, (long long)(100 * MIB - n), "the rest is counted");
	is_number((long long)pm_moved_pages_to_dram(object + 60 * MIB, MIB), 0, "not a page more");
	(void)pm_moved_pages_to_pmem(object, 20 * MIB);
	is_number((long long)pm_moved_pages_to_dram(object + 60 * MIB, 20 * MIB),
		20 * (long long)MIB, "but as much as others make room for");
	pm_heap_free(object);
	is_number((long long)dram_pages(), 0, "free() ends it");
	object = alloc_in_pmem(100 * MIB);
	is_number((long long)pm_moved_pages_to_dram(object, 100 * MIB), (long long)n,
		"and gives the room to the next one");
	ok(pm_heap_resize(object, 10 * MIB), "an object that shrinks");
	is_number((long long)dram_pages() * PAGE, 10 * (long long)MIB, "keeps what it has");
	pm_heap_free(object);
}

static void test_neighbours(void)
{
	char *a = alloc_in_pmem(MIB), *b = alloc_in_pmem(MIB);
	size_t chunk = page_of(a) / CHUNK_PAGES;

	memset(is_huge, true, sizeof(is_huge));
	(void)pm_moved_pages_to_dram(a, MIB);
	ok(in_dram[page_of(b)], "a huge page goes to DRAM as a whole");
	is_number((long long)pm_moved_pages_to_dram(b, MIB), (long long)MIB,
		"of which each object asks for its own pages");
	memset(is_huge, false, sizeof(is_huge));
	(void)pm_moved_pages_to_pmem(a, MIB);
	ok(in_dram[page_of(b)], "a neighbour stays");
	memset(&is_huge[chunk], true, 1);
	pm_heap_free(b);
	is_number((long long)dram_pages(), 0, "the last one takes all of them back");
	memset(is_huge, true, sizeof(is_huge));
	(void)pm_moved_pages_to_dram(a, MIB);
	memset(is_huge, false, sizeof(is_huge));
	(void)pm_moved_pages_to_pmem(a, MIB);
	is_number((long long)dram_pages(), 0, "also of a huge page that has been split since");
	pm_heap_free(a);
}

static void test_pinned(void)
{
	char *object = alloc_in_pmem(4 * MIB);
	size_t page = page_of(object) + 3, reserved;
	char *others;

	is_pinned[page] = true;
	is_number((long long)pm_moved_pages_to_dram(object, 4 * MIB), 4 * (long long)MIB - PAGE,
		"a pinned page is not in DRAM");
	in_dram[page] = true;
	is_number((long long)pm_moved_pages_to_pmem(object, 4 * MIB), 4 * (long long)MIB - PAGE,
		"one that is pinned there stays");
	reserved = reserved_chunks();
	others = pm_heap_alloc_advised(2 * BUDGET, PM_CHUNK, false, false);
	(void)pm_moved_pages_to_dram(others, 2 * BUDGET);
	ok(dram_chunks() <= reserved_chunks() && reserved <= reserved_chunks(),
		"and keeps its reservation");
	(void)pm_moved_pages_to_pmem(others, 2 * BUDGET);
	is_pinned[page] = false;
	ok(pm_moved_pages_to_pmem(object, 4 * MIB), "until it can go");
	is_refused = true;
	is_number((long long)pm_moved_pages_to_dram(object, 4 * MIB), 0, "mbind() may fail");
	is_refused = false;
	is_number((long long)pm_moved_pages_to_pmem(object, 4 * MIB), 4 * (long long)MIB,
		"half way perhaps: the room is kept until that is undone");
	is_number(
		(long long)pm_moved_pages_to_dram(others, 2 * BUDGET), FREE, "and then it is free");
	pm_heap_free(others);
	is_half_refused = true;
	is_number((long long)pm_moved_pages_to_dram(object, 4 * MIB), 0, "half way");
	is_number((long long)dram_pages(), 0, "which goes back");
	is_half_refused = false;
	pm_heap_free(object);
}

static void test_elsewhere(void)
{
	static char other[4 * PAGE];
	char *dram = pm_heap_alloc_predicted(MIB, 1, false, false), *small = alloc_in_pmem(MIB);

	is_number((long long)pm_moved_pages_to_dram(other, sizeof(other)), 0, "not our memory");
	is_number((long long)pm_moved_pages_to_pmem(dram, MIB), 0, "an object in DRAM");
	is_number((long long)pm_moved_pages_to_dram((void *)PAGE, SIZE_MAX), 0, "one that wraps");
	is_number((long long)pm_moved_pages_to_dram(small, PAGE - 1), 0, "no page");
	pm_heap_free(dram);
	pm_heap_free(small);
}

static void test_child(void)
{
	char *object = alloc_in_pmem(4 * MIB);

	(void)pm_moved_pages_to_dram(object, 4 * MIB);
	pm_moved_pages_before_fork();
	pm_moved_pages_after_fork_in_child();
	is_number(
		(long long)pm_moved_pages_to_pmem(object, 4 * MIB), 0, "a child has moved nothing");
	is_number((long long)pm_moved_pages_to_dram(object, 4 * MIB), 0,
		"and all reservations are its parent's");
}

/* Kept chunks are neither moved nor forgotten. */
static void test_kept(void)
{
	char *object = pm_heap_alloc_advised(4 * MIB, PM_CHUNK, false, false);

	(void)pm_moved_pages_to_dram(object, MIB);
	ok(pm_moved_pages_keep(object, 2 * PM_CHUNK), "kept");
	is_number((long long)pm_moved_pages_to_dram(object, 4 * MIB), 0, "it is in DRAM");
	is_number((long long)pm_moved_pages_to_pmem(object, 4 * MIB), 0, "to the end");
	pm_heap_free(object);
	object = pm_heap_alloc_advised(2 * BUDGET, PM_CHUNK, false, false);
	is_number((long long)pm_moved_pages_to_dram(object, 2 * BUDGET), FREE,
		"what it had is for others");
	pm_heap_free(object);
}

#define OBJECTS 40

struct object {
	char *start;
	uint64_t bytes;
};

static void step(struct object *object, unsigned n)
{
	uint64_t from = n % 97 * (object->bytes / 97), bytes = (n >> 8) % 3 * MIB + n % 12000;

	if (!object->start) {
		object->bytes = (1 + n % 60) * MIB / 10;
		object->start = alloc_in_pmem(object->bytes);
	} else if (n % 11 == 0) {
		pm_heap_free(object->start);
		object->start = NULL;
	} else if (n % 11 == 1) {
		object->bytes = object->bytes / 2 + 1;
		(void)pm_heap_resize(object->start, object->bytes);
	} else if (n % 2) {
		(void)pm_moved_pages_to_dram(object->start + from,
			bytes < object->bytes - from ? bytes : object->bytes - from);
	} else {
		(void)pm_moved_pages_to_pmem(object->start + from,
			bytes < object->bytes - from ? bytes : object->bytes - from);
	}
}

static void test_anything(void)
{
	struct object objects[OBJECTS] = {0};
	bool is_kept = true;

	srandom(1);
	for (int i = 0; i < 3000; i++) {
		unsigned n = (unsigned)random();

		is_huge[n / 7 % (PAGES / CHUNK_PAGES)] = n & 1;
		is_pinned[n / 3 % PAGES] = n & 2;
		step(&objects[n / 5 % OBJECTS], n / 9);
		if (i % 10 == 0)
			is_kept &= dram_chunks() <= reserved_chunks();
	}
	ok(is_kept, "never more chunks in DRAM than are reserved");
	memset(is_pinned, false, sizeof(is_pinned));
	for (int i = 0; i < OBJECTS; i++)
		if (objects[i].start)
			pm_heap_free(objects[i].start);
	/* A neighbour's page that was pinned, and is free, goes with the next object there. */
	pm_heap_free(alloc_in_pmem(PAGES * PAGE));
	is_number((long long)dram_chunks(), 0, "nothing in DRAM when all is free");
	ok(reserved_chunks() * PM_CHUNK <= FREE, "within the budget");
}

int main(void)
{
	start();
	test_range();
	test_budget();
	test_neighbours();
	test_pinned();
	test_elsewhere();
	test_anything();
	test_kept();
	test_child();
	return tap_done();
}
