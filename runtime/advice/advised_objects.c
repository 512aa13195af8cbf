/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/advice/advised_objects.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h>
#include <unistd.h>

#include "runtime/advice/advice.h"
#include "runtime/common/log.h"
#include "runtime/common/table.h"
#include "runtime/heap/heap.h"
#include "runtime/heap/moved_pages.h"

#define DATA_TOLERANCE 4 /* a quarter more or less than the advice is for */
#define MIB	       ((unsigned long long)1 << 20)

static struct {
	struct pm_advised_bytes *taken; /* of the object that begins at a granule */
	atomic_uint_least64_t dram, pmem, split, cold, unknown, live_bytes, peak_bytes;
	pid_t rank; /* the rank's own process; 0: this is another one */
} advised;

bool pm_advised_start(bool attached)
{
	advised.taken = pm_table_reserve(pm_heap.size / PM_GRANULE * sizeof(*advised.taken));
	advised.rank = attached ? getpid() : 0;
	return advised.taken;
}

static struct pm_advised_bytes *entry_of(const void *object)
{
	return &advised.taken[((uintptr_t)object - pm_heap.base) / PM_GRANULE];
}

static void count_one(atomic_uint_least64_t *count)
{
	atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
}

static void add_live(uint64_t bytes)
{
	uint64_t now =
		atomic_fetch_add_explicit(&advised.live_bytes, bytes, memory_order_relaxed) + bytes;
	uint64_t peak = atomic_load_explicit(&advised.peak_bytes, memory_order_relaxed);

	while (now > peak && !atomic_compare_exchange_weak(&advised.peak_bytes, &peak, now))
		;
}

/* Gives back all but the first `kept` bytes: those of the site are kept first. */
static void keep(struct pm_advised_bytes *taken, size_t kept)
{
	size_t own = MIN(taken->own, kept), rest = MIN(taken->rest, kept - own);
	struct pm_advised_bytes surplus = {taken->site, taken->own - own, taken->rest - rest};

	pm_advice_give(&surplus);
	taken->own = own;
	taken->rest = rest;
}

/*
 * In PMem, with its first bytes bound to DRAM as far as it has taken any, whole chunks. Alignment
 * saves the DRAM that the ends of chunks would take.
 */
static void *alloc_split(size_t bytes, size_t align, bool zero, struct pm_advised_bytes *taken)
{
	size_t first = (taken->own + taken->rest) / PM_CHUNK * PM_CHUNK;
	char *object =
		pm_heap_alloc_advised(bytes, first ? MAX(align, PM_CHUNK) : align, zero, false);
	bool is_full;

	keep(taken, object && first && !pm_heap_is_in_dram(object)
			    ? pm_moved_pages_try_dram(object, first, &is_full)
			    : 0);
	return object;
}

/* In DRAM. Where its spaces have no hole that is large enough, chunks of PMem are bound to it. */
static void *alloc_in_dram(size_t bytes, size_t align, bool zero, struct pm_advised_bytes *taken)
{
	void *object = pm_heap_alloc_advised(bytes, align, zero, true);
	bool is_full;

	if (!object || !pm_heap_is_in_dram(object))
		keep(taken,
			object ? pm_moved_pages_try_dram(object, taken->own + taken->rest, &is_full)
			       : 0);
	return object;
}

static void count(const struct pm_advised_bytes *taken, size_t bytes)
{
	if (!taken->site)
		count_one(&advised.unknown);
	else if (taken->own + taken->rest >= bytes)
		count_one(&advised.dram);
	else
		count_one(taken->own + taken->rest ? &advised.split : &advised.pmem);
}

void *pm_advised_alloc(size_t bytes, size_t align, bool zero)
{
	size_t size = (bytes + PM_GRANULE - 1) / PM_GRANULE * PM_GRANULE;
	struct pm_advised_bytes taken = pm_advice_take(size);
	void *object;

	object = taken.own + taken.rest >= size ? alloc_in_dram(bytes, align, zero, &taken)
						: alloc_split(bytes, align, zero, &taken);
	if (!object)
		return NULL;
	*entry_of(object) = taken;
	count(&taken, size);
	add_live(pm_heap_usable_size(object));
	return object;
}

void pm_advised_free(const void *object)
{
	struct pm_advised_bytes *taken = entry_of(object);

	pm_advice_give(taken);
	*taken = (struct pm_advised_bytes){0};
	atomic_fetch_sub_explicit(
		&advised.live_bytes, pm_heap_usable_size(object), memory_order_relaxed);
}

/* The bytes that it grows by are DRAM if it is there, though its site may have none left. */
void pm_advised_resize(const void *object, size_t before, size_t bytes)
{
	struct pm_advised_bytes *taken = entry_of(object);

	if (bytes < before)
		keep(taken, MIN(taken->own + taken->rest, bytes));
	if (bytes > before && pm_heap_is_in_dram(object))
		pm_advice_overdraw(taken, bytes - before);
	add_live(bytes - before);
}

void pm_advised_count_cold(void)
{
	count_one(&advised.cold);
}

void pm_advised_count(struct pm_advised_counts *ret)
{
	*ret = (struct pm_advised_counts){.dram_objects = atomic_load(&advised.dram),
		.pmem_objects = atomic_load(&advised.pmem) + atomic_load(&advised.cold),
		.split_objects = atomic_load(&advised.split),
		.unknown_objects = atomic_load(&advised.unknown),
		.peak_bytes = atomic_load(&advised.peak_bytes)};
}

static bool is_first_rank(void)
{
	const char *rank = getenv("PM_LOCAL_RANK");

	return advised.rank == getpid() && (!rank || !strcmp(rank, "0"));
}

/* Advice for other data places some of them badly: one line a node. */
__attribute__((destructor)) static void warn_of_other_data(void)
{
	uint64_t expected = pm_advice_data_bytes(), run = atomic_load(&advised.peak_bytes);
	uint64_t more = run > expected ? run - expected : expected - run;

	if (pm_advice_on && is_first_rank() && more > expected / DATA_TOLERANCE)
		pm_log("PM_ADVICE is for %lluM of objects, and this run had %lluM at most: profile "
		       "it again, or write the advice by pmreport --data=%lluM",
			expected / MIB, run / MIB, run / MIB);
}
