/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/lifetime/lifetime.h"

#include <stddef.h>
#include <sys/mman.h>

#include "runtime/heap/heap.h"
#include "runtime/heap/size_predictor.h"
#include "runtime/lifetime/iteration.h"

#define SITES	     8192u
#define PROBES	     16 /* of the hash table; a site that finds no slot is unknown */
#define SHORT	     1	/* freed at most so many iterations later: short-lived */
#define FREES_MIN    2	/* a single free may be chance */
#define GROW_ENTRIES (UINT64_C(1) << 16) /* of the table at a time: 4 GiB of the heap */

/* Entry of an object's first granule. */
struct live_object {
	uint64_t site; /* 0: no object, or an unknown site */
	uint32_t iteration;
};

atomic_bool pm_lifetime_on;

static struct {
	struct live_object *first;
	atomic_flag is_growing;
	atomic_uintptr_t end; /* entries below may be written */
} table = {.is_growing = ATOMIC_FLAG_INIT};

static struct {
	atomic_uint_least64_t key;
	atomic_uint_least32_t allocs, early_frees;
} sites[SITES];

void pm_lifetime_begin(void)
{
	static atomic_flag is_begun = ATOMIC_FLAG_INIT;
	void *start;

	if (atomic_flag_test_and_set(&is_begun))
		return;
	start = mmap(NULL, pm_heap.size / PM_GRANULE * sizeof(struct live_object), PROT_NONE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (start == MAP_FAILED)
		return;
	table.first = start;
	atomic_store(&table.end, (uintptr_t)start);
	atomic_store_explicit(&pm_lifetime_on, true, memory_order_release);
}

/* The site's slot, which it gets at its first lookup. SITES: none is free within reach. */
static uint32_t slot_of(uint64_t key)
{
	for (uint32_t probe = 0; key && probe < PROBES; probe++) {
		uint32_t at = (uint32_t)((key + probe) % SITES);
		uint64_t there = 0;

		if (atomic_compare_exchange_strong(&sites[at].key, &there, key) || there == key)
			return at;
	}
	return SITES;
}

bool pm_lifetime_is_short(uint64_t site, size_t bytes)
{
	uint32_t at = slot_of(site), allocs, frees;

	if (at == SITES)
		return false;
	allocs = atomic_load_explicit(&sites[at].allocs, memory_order_relaxed);
	frees = atomic_load_explicit(&sites[at].early_frees, memory_order_relaxed);
	return allocs < FREES_MIN ? pm_size_predictor_is_confident(bytes)
				  : frees >= FREES_MIN && frees >= allocs / 2;
}

/* The object's entry; NULL: not writable yet. */
static struct live_object *live_object_of(const void *object)
{
	struct live_object *entry = &table.first[((uintptr_t)object - pm_heap.base) / PM_GRANULE];

	return (uintptr_t)entry < atomic_load(&table.end) ? entry : NULL;
}

/* Makes the table writable up to this object's entry, unless another thread is growing it. */
static void grow(const void *object)
{
	uint64_t n = ((uintptr_t)object - pm_heap.base) / PM_GRANULE / GROW_ENTRIES + 1;
	uintptr_t begin, end = (uintptr_t)&table.first[n * GROW_ENTRIES];

	if (atomic_flag_test_and_set(&table.is_growing))
		return;
	begin = atomic_load(&table.end);
	if (begin < end && !mprotect((void *)begin, end - begin, PROT_READ | PROT_WRITE))
		atomic_store(&table.end, end);
	atomic_flag_clear(&table.is_growing);
}

void pm_lifetime_alloc(const void *object, uint64_t site)
{
	uint32_t at = slot_of(site);
	struct live_object *entry;

	if (!live_object_of(object))
		grow(object);
	entry = live_object_of(object);
	if (at == SITES || !entry)
		return;
	atomic_fetch_add_explicit(&sites[at].allocs, 1, memory_order_relaxed);
	*entry = (struct live_object){site, pm_iteration_number()};
}

void pm_lifetime_free(const void *object)
{
	struct live_object *entry = live_object_of(object);
	uint32_t at = entry ? slot_of(entry->site) : SITES;

	if (at != SITES && pm_iteration_number() - entry->iteration <= SHORT)
		atomic_fetch_add_explicit(&sites[at].early_frees, 1, memory_order_relaxed);
	if (entry)
		entry->site = 0;
}
