/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizing of the temporary space by the first iteration: bytes lent and promoted, and pages in DRAM
 * that never exceed the budget. PM_NODE_PMEM is unset, so that what is bound is
 * DRAM. Each case is in a process of its own, for sizing is done once.
 */
#define _GNU_SOURCE
#include "runtime/lifetime/sizing.h"

#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime/advice/advice.h"
#include "runtime/heap/heap.h"
#include "runtime/heap/moved_pages.h"
#include "tests/unit/tap.h"

#define MIB    (UINT64_C(1) << 20)
#define BUDGET (64 * MIB)
#define PAGE   4096
#define MANY   100

bool pm_advice_on;

/* Results of a case. */
static struct found {
	struct pm_sizing sizing;
	uint64_t temporary_bytes, bound_large, bound_small, dram_pages;
	bool flag;
} * found;

/* --- linked in place of pm_nodemask_bind() of runtime/common/nodemask.c --- */

static uintptr_t bound_start;
static uint64_t bound_bytes;

int __wrap_pm_nodemask_bind(const struct pm_nodemask *nodes, void *start, size_t bytes);
int __real_pm_nodemask_bind(const struct pm_nodemask *nodes, void *start, size_t bytes);

int __wrap_pm_nodemask_bind(const struct pm_nodemask *nodes, void *start, size_t bytes)
{
	bound_start = (uintptr_t)start;
	bound_bytes = bytes;
	return __real_pm_nodemask_bind(nodes, start, bytes);
}

/* --- */

static void start(bool is_fixed)
{
	struct pm_settings settings = {.budget_bytes = BUDGET, .is_fixed = is_fixed};

	unsetenv("PM_ATTACH_FD");
	pm_nodemask_parse("0", &settings.dram);
	settings.bytes[PM_TEMPORARY] = 16 * MIB;
	settings.bytes[PM_FREE] = 48 * MIB;
	pm_heap_start(&settings);
}

static bool is_bound(const void *object)
{
	int mode = 0;

	return !syscall(SYS_get_mempolicy, &mode, NULL, 0, object, MPOL_F_ADDR) &&
	       mode == MPOL_BIND;
}

/* One known to be long-lived. */
static char *alloc_object(uint64_t bytes)
{
	char *object = pm_heap_alloc_predicted(bytes, 1, false, false);

	memset(object, 1, bytes);
	return object;
}

/* One known to be temporary. */
static char *alloc_temporary(uint64_t bytes)
{
	char *object = pm_heap_alloc_predicted(bytes, 1, false, true);

	memset(object, 1, bytes);
	return object;
}

/* Two of them at a time. */
static void iterate(uint32_t number, uint64_t bytes)
{
	char *a, *b;

	pm_sizing_iteration(number, 1);
	a = alloc_temporary(bytes);
	b = alloc_temporary(bytes);
	pm_heap_free(a);
	pm_heap_free(b);
}

/* Of all that is bound: DRAM's own addresses, and what has been promoted. */
static uint64_t dram_pages(void)
{
	static unsigned char there[BUDGET / PAGE];
	const struct pm_space *pmem = &pm_heap.spaces[PM_PMEM];
	uint64_t pages = 0;

	mincore((void *)pm_heap.base, BUDGET, there);
	for (uint64_t i = 0; i < BUDGET / PAGE; i++)
		pages += there[i] & 1;
	for (char *at = pmem->base; at < pmem->base + pmem->top * PM_GRANULE; at += PAGE) {
		if (is_bound(at))
			pages += !mincore(at, PAGE, there) && (there[0] & 1);
	}
	return pages;
}

static void look(void)
{
	pm_sizing_get(&found->sizing);
	found->temporary_bytes = pm_space_bytes(&pm_heap.spaces[PM_TEMPORARY]);
	found->dram_pages = dram_pages();
}

static void run(void (*work)(void))
{
	fflush(stdout);
	memset(found, 0, sizeof(*found));
	if (!fork()) {
		work();
		look();
		_exit(0);
	}
	wait(NULL);
}

/* --- cases --- */

/* One that the program wants in PMem, and one that was spilled. */
static void placed(void)
{
	char *named, *spilled;

	start(false);
	named = pm_heap_alloc_placed(2 * MIB);
	(void)alloc_object(47 * MIB);
	spilled = alloc_object(5 * MIB);
	iterate(1, MIB);
	iterate(2, MIB);
	found->flag = is_bound(named) || is_bound(named + 2 * MIB - 1);
	found->bound_large = is_bound(spilled + 2 * MIB) && is_bound(spilled + 5 * MIB - 1);
}

static void test_placed(void)
{
	run(placed);
	ok(found->bound_large, "a spilled object is promoted");
	ok(!found->flag, "one that the program wants in PMem stays there");
}

/* 40 MiB, 10 of them in PMem, then small ones in PMem; 3 MiB of temporaries. */
static void few_temporaries(void)
{
	char *large[5], *small[6], *later;

	start(false);
	for (int i = 0; i < 5; i++)
		large[i] = alloc_object(11 * MIB);
	for (int i = 0; i < 6; i++)
		small[i] = alloc_object(3 * MIB / 2);
	iterate(1, 3 * MIB / 2);
	found->flag = is_bound(small[5]);
	iterate(2, 3 * MIB / 2);
	for (int i = 0; i < 5; i++)
		found->bound_large += is_bound(large[i]) && is_bound(large[i] + 11 * MIB - 1);
	for (int i = 0; i < 6; i++)
		found->bound_small += is_bound(small[i]) && is_bound(small[i] + 3 * MIB / 2 - 1);
	later = alloc_object(4 * MIB);
	found->flag |= is_bound(later + 4 * MIB - 1);
}

static void test_lent(void)
{
	run(few_temporaries);
	is_number((long long)found->sizing.needed_bytes, 3 * (long long)MIB,
		"two objects of 1.5 MiB are what is needed");
	is_number(
		(long long)found->sizing.spare_bytes, 4 * (long long)MIB, "of 64 MiB, 4 are spare");
	is_number((long long)found->temporary_bytes, 8 * (long long)MIB, "of 16 MiB, 8 stay");
	is_number((long long)found->sizing.lent_bytes, 8 * (long long)MIB, "and 8 are lent");
	ok(!found->sizing.to_temporary, "to what is long-lived");
	is_number((long long)found->bound_small, 6, "the small objects have it");
	is_number((long long)found->bound_large, 4, "of the large ones those that had DRAM before");
	ok(!found->flag, "not before the iteration ends, nor when there is no more");
	ok(found->dram_pages <= BUDGET / PAGE && found->dram_pages > 50 * MIB / PAGE,
		"%llu pages of DRAM, of %llu", (unsigned long long)found->dram_pages,
		(unsigned long long)(BUDGET / PAGE));
}

/* Nothing had been spilled: what comes later has it. */
static void later_objects(void)
{
	start(false);
	(void)alloc_object(40 * MIB);
	iterate(1, MIB);
	iterate(2, MIB);
	for (int i = 0; i < MANY; i++)
		found->bound_large += is_bound(alloc_object(MIB));
}

static void test_later(void)
{
	run(later_objects);
	is_number((long long)found->sizing.lent_bytes, 10 * (long long)MIB, "10 MiB are lent");
	is_number((long long)found->sizing.promoted_bytes, 0, "nothing is promoted");
	is_number((long long)found->bound_large, 8 + 10, "objects that come later have them");
	ok(found->dram_pages <= BUDGET / PAGE, "and not a page more");
}

/* 40 MiB of temporaries for 16 MiB of temporary, and 18 MiB of free never committed. */
static void many_temporaries(void)
{
	char *a, *b;

	start(false);
	(void)alloc_object(10 * MIB);
	iterate(1, 10 * MIB);
	iterate(2, 10 * MIB);
	for (int i = 0; i < MANY; i++)
		found->bound_small += is_bound(alloc_object(MIB));
	a = alloc_temporary(12 * MIB);
	b = alloc_temporary(8 * MIB);
	found->flag = is_bound(a) && is_bound(b);
}

static void test_grown(void)
{
	run(many_temporaries);
	ok(found->sizing.to_temporary, "temporary has not enough");
	is_number((long long)found->sizing.lent_bytes, 8 * (long long)MIB, "free lends the rest");
	is_number((long long)found->bound_small, 48 - 10 - 8, "which what is long-lived has not");
	ok(found->flag, "and temporaries have, when all else is full");
	ok(found->dram_pages <= BUDGET / PAGE, "within the budget");
}

static void fixed(void)
{
	start(true);
	iterate(1, MIB);
	iterate(2, MIB);
}

static void advised(void)
{
	pm_advice_on = true;
	few_temporaries();
}

static void squatter(void)
{
	start(false);
	(void)alloc_temporary(5 * MIB);
	iterate(1, MIB);
	iterate(2, MIB);
}

static void become_child(void)
{
	pm_moved_pages_before_fork();
	pm_moved_pages_after_fork_in_child();
}

/* Its pages in common with its parent are the parent's part of the budget. */
static void child(void)
{
	become_child();
	found->flag = bound_bytes;
	few_temporaries();
	pm_nodemask_parse("0", &pm_heap.settings.pmem);
	become_child();
	found->flag |= bound_start != (uintptr_t)pm_heap.spaces[PM_PMEM].base ||
		       bound_bytes != pm_space_bytes(&pm_heap.spaces[PM_PMEM]);
}

static void test_others(void)
{
	run(fixed);
	ok(!found->sizing.is_done && found->temporary_bytes == 16 * MIB,
		"where sizes are fixed they stay");
	run(advised);
	ok(found->sizing.is_done && !found->sizing.promoted_bytes,
		"with an advice, what is in PMem stays there");
	run(child);
	ok(!found->flag, "what has been promoted is PMem in a child, that is, all of it");
	run(squatter);
	is_number((long long)found->temporary_bytes, 12 * (long long)MIB,
		"what has come to stay in temporary, stays: 5 + 2 + 4 MiB");
}

static void keep(bool is_fixed)
{
	start(is_fixed);
	pm_heap_keep_for_small(true);
	iterate(1, MIB);
	found->bound_small = pm_heap.spaces[PM_FREE].kept;
	iterate(2, MIB);
	found->bound_large = pm_heap.spaces[PM_FREE].kept;
}

static void kept(void)
{
	keep(false);
}

static void kept_where_fixed(void)
{
	keep(true);
}

static void test_kept(void)
{
	run(kept_where_fixed);
	is_number((long long)found->bound_large, 0, "at its end, also where sizes are fixed");
	run(kept);
	is_number((long long)found->bound_small, 4 * (long long)MIB / (long long)PM_GRANULE,
		"room for small objects is kept in the first iteration");
	is_number((long long)found->bound_large, 0, "and given up at its end");
}

/*
 * Everything, to the last page, from many sides; what is freed is used again, and DRAM that is free
 * when objects are promoted has pages.
 */
static void everything(void)
{
	char *objects[MANY], *first;

	start(false);
	first = alloc_object(10 * MIB);
	for (int i = 0; i < MANY; i++)
		objects[i] = alloc_object(MIB / 2 + (uint64_t)(i % 7) * 300 * 1024);
	pm_heap_free(first);
	iterate(1, MIB);
	for (uint32_t n = 2; n < 5; n++) {
		iterate(n, MIB * n);
		for (int i = (int)n; i < MANY; i += 3) {
			pm_heap_free(objects[i]);
			objects[i] = alloc_object(MIB / 2 + (uint64_t)(i % 11) * 200 * 1024);
		}
		for (int i = 0; i < 30; i++)
			(void)alloc_temporary(MIB);
		found->flag |= dram_pages() > BUDGET / PAGE;
	}
}

static void test_budget(void)
{
	run(everything);
	ok(found->sizing.promoted_bytes, "much is promoted");
	ok(!found->flag && found->dram_pages <= BUDGET / PAGE, "and never more than the budget");
	ok(found->dram_pages > BUDGET / PAGE * 9 / 10, "of which hardly anything is left");
}

int main(void)
{
	found = mmap(
		NULL, sizeof(*found), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	test_placed();
	test_lent();
	test_later();
	test_grown();
	test_others();
	test_kept();
	test_budget();
	return tap_done();
}
