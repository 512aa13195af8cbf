/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rank's DRAM as the kernel sees it: the addresses are reserved once, each page is committed
 * once, before its first allocation, and the pages never exceed the budget.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "runtime/heap/heap.h"
#include "runtime/heap/size_predictor.h"
#include "tests/unit/tap.h"

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define MIB	   (UINT64_C(1) << 20)
#define BUDGET	   (64 * MIB)
#define PAGE	   4096
#define OWNERS	   60
#define ROUNDS	   4000
#define LOOK_EVERY 50

static unsigned reserved, populated[BUDGET / PAGE];

/* --- in place of the C library's functions: the heap's system calls --- */

void *mmap(void *address, size_t bytes, int prot, int flags, int fd, off_t offset)
{
	void *start = (void *)syscall(SYS_mmap, address, bytes, prot, flags, fd, offset);

	reserved += bytes > BUDGET && start != MAP_FAILED;
	return start;
}

int madvise(void *start, size_t bytes, int advice)
{
	uintptr_t at = (uintptr_t)start - pm_heap.base;

	if (advice == MADV_POPULATE_WRITE)
		for (uintptr_t end = at + bytes; at < end && at < BUDGET; at += PAGE)
			populated[at / PAGE]++;
	return (int)syscall(SYS_madvise, start, bytes, advice);
}

/* --- observed state --- */

static uint64_t pages_in(uintptr_t start, uint64_t bytes)
{
	static unsigned char is_there[BUDGET / PAGE];
	uint64_t pages = 0;

	if (mincore((void *)start, bytes, is_there))
		return UINT64_MAX;
	for (uint64_t i = 0; i < bytes / PAGE; i++)
		pages += is_there[i] & 1;
	return pages;
}

static uint64_t dram_pages(void)
{
	return pages_in(pm_heap.base, BUDGET);
}

static unsigned most_often_populated(void)
{
	unsigned most = 0;

	for (size_t i = 0; i < BUDGET / PAGE; i++)
		most = populated[i] > most ? populated[i] : most;
	return most;
}

/* --- tests --- */

static void start(void)
{
	struct pm_settings settings = {.budget_bytes = BUDGET};

	unsetenv("PM_ATTACH_FD");
	pm_nodemask_parse("0", &settings.dram);
	pm_nodemask_parse("0", &settings.pmem);
	settings.bytes[PM_METADATA] = 8 * MIB;
	settings.bytes[PM_TEMPORARY] = 16 * MIB;
	settings.bytes[PM_MIGRATION] = 8 * MIB;
	settings.bytes[PM_FREE] = 32 * MIB;
	ok(pm_heap_start(&settings), "it starts");
	is_number(reserved, 1, "its addresses are reserved in one piece");
	is_number((long long)dram_pages(), 0, "of which no page is there yet");
}

static uint64_t in_pages(size_t bytes)
{
	return (bytes + PM_GRANULE - 1) / PM_GRANULE * (PM_GRANULE / PAGE);
}

static void test_one(void)
{
	char *object = pm_heap_alloc(3 * MIB, 1, false);
	uint64_t there;

	is_number((long long)pages_in((uintptr_t)object, 3 * MIB), (long long)in_pages(3 * MIB),
		"a large object's pages are there when it is handed out");
	ok(pm_heap_resize(object, 9 * MIB), "it grows");
	is_number((long long)pages_in((uintptr_t)object, 9 * MIB), (long long)in_pages(9 * MIB),
		"those of its growth, too");
	there = dram_pages();
	ok(there <= in_pages(9 * MIB + PM_CHUNK), "and none but of a huge page that these are of");
	pm_heap_free(object);
	is_number((long long)dram_pages(), (long long)there, "DRAM is kept");
	object = pm_heap_alloc(9 * MIB, 1, false);
	is_number(most_often_populated(), 1, "and not made ready again");
	pm_heap_free(object);
}

static uint32_t random_below(uint32_t n)
{
	static uint32_t seed = 4711;

	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % n;
}

struct owned {
	char *start;
	bool is_slab;
};

static void alloc_owned(struct owned *owned)
{
	size_t bytes = random_below(4) ? 256 * 1024 + random_below(3 * MIB) : 5 * MIB;

	owned->is_slab = !random_below(4);
	owned->start = owned->is_slab ? pm_heap_take_slab(PM_CHUNK)
				      : pm_heap_alloc(bytes, PM_GRANULE << random_below(6), false);
	memset(owned->start, 1, pm_heap_usable_size(owned->start));
}

static void free_owned(struct owned *owned)
{
	if (owned->is_slab)
		pm_heap_give_slab(owned->start, PM_CHUNK);
	else
		pm_heap_free(owned->start);
	owned->start = NULL;
}

static void resize(struct owned *owned)
{
	if (!owned->is_slab && pm_heap_resize(owned->start, 256 * 1024 + random_below(6 * MIB)))
		memset(owned->start, 1, pm_heap_usable_size(owned->start));
}

static void step(struct owned *owned)
{
	if (!owned->start)
		alloc_owned(owned);
	else if (random_below(3))
		free_owned(owned);
	else
		resize(owned);
}

/* Allocates objects of all kinds, several times the budget, and writes to all their bytes. */
static void test_random(void)
{
	struct owned owned[OWNERS] = {{0}};
	uint64_t pages, most = 0;

	for (int round = 0; round < ROUNDS; round++) {
		step(&owned[random_below(OWNERS)]);
		if (round % LOOK_EVERY)
			continue;
		pages = dram_pages();
		most = pages > most ? pages : most;
	}
	ok(most <= BUDGET / PAGE && most > BUDGET / PAGE * 9 / 10,
		"%llu pages of DRAM at most, of %llu of the budget", (unsigned long long)most,
		(unsigned long long)(BUDGET / PAGE));
	is_number((long long)pages_in(pm_heap.base + BUDGET, PM_CHUNK), 0,
		"none is behind it, where nothing is handed out");
	is_number(most_often_populated(), 1, "each was made ready once at most");
	for (int i = 0; i < OWNERS; i++)
		if (owned[i].start)
			free_owned(&owned[i]);
}

/* Fills every space to its last page. */
static void test_full(void)
{
	static const size_t sizes[] = {PM_CHUNK, 256 * 1024, PM_GRANULE};
	char *object;

	for (int i = 0; i < 20; i++)
		pm_heap_free(pm_heap_alloc(PM_GRANULE, 1, false));
	ok(pm_size_predictor_alloc(PM_GRANULE), "what recurs is temporary");
	FOR_EACH(size, sizes)
	{
		do {
			object = *size == PM_CHUNK ? pm_heap_take_slab(*size)
						   : pm_heap_alloc(*size, 1, false);
			pm_size_predictor_free(*size);
			memset(object, 1, *size);
		} while ((uintptr_t)object - pm_heap.base < BUDGET);
	}
	is_number((long long)dram_pages(), BUDGET / PAGE, "full, it is the budget to the page");
	is_number(most_often_populated(), 1, "each made ready once at most");
	is_number(reserved, 1, "and nothing else was reserved");
}

int main(void)
{
	start();
	test_one();
	test_random();
	test_full();
	return tap_done();
}
