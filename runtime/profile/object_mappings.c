/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/profile/object_mappings.h"

#include <errno.h>
#include <stdatomic.h>
#include <sys/mman.h>

#include "runtime/common/table.h"
#include "runtime/heap/heap.h"
#include "runtime/profile/live_objects.h"

#define COLOURS 3

static const int advice_of[COLOURS] = {MADV_NORMAL, MADV_RANDOM, MADV_SEQUENTIAL};

static struct {
	atomic_uchar *colours; /* of an object's first and last granule */
	atomic_uint_least32_t n;
	atomic_uint_least64_t lost;
} mappings;

int pm_object_mappings_start(void)
{
	mappings.colours = pm_table_reserve(pm_heap.size / PM_GRANULE);
	return mappings.colours ? 0 : -errno;
}

static unsigned colour_at(uint64_t granule)
{
	return atomic_load_explicit(&mappings.colours[granule], memory_order_relaxed);
}

/* A colour that neither neighbour has. Two threads may choose the same: then two objects share. */
static unsigned char choose(uint64_t first, uint64_t last)
{
	uint64_t end = pm_heap.size / PM_GRANULE;
	unsigned before = first ? colour_at(first - 1) : 0;
	unsigned behind = last + 1 < end ? colour_at(last + 1) : 0;
	unsigned char colour = 0;

	while (colour == before || colour == behind)
		colour++;
	return colour;
}

void pm_object_mappings_split(const void *object, size_t bytes)
{
	uint64_t first = ((uintptr_t)object - pm_heap.base) / PM_GRANULE;
	uint64_t granules = bytes ? (bytes + PM_GRANULE - 1) / PM_GRANULE : 1;
	unsigned char colour;

	if (atomic_fetch_add(&mappings.n, 1) >= PM_OBJECT_MAPPINGS_MAX) {
		atomic_fetch_add(&mappings.lost, 1);
		return;
	}
	colour = choose(first, first + granules - 1);
	atomic_store_explicit(&mappings.colours[first], colour, memory_order_relaxed);
	atomic_store_explicit(
		&mappings.colours[first + granules - 1], colour, memory_order_relaxed);
	(void)madvise((void *)object, granules * PM_GRANULE, advice_of[colour]);
}

static void split(const struct pm_live_view *live)
{
	pm_object_mappings_split((void *)live->start, live->bytes);
}

void pm_object_mappings_split_all(void)
{
	pm_live_objects_each(split);
}

uint64_t pm_object_mappings_merge(void)
{
	(void)madvise((void *)pm_heap.base, pm_heap.size, MADV_NORMAL);
	(void)madvise(mappings.colours, pm_heap.size / PM_GRANULE, MADV_DONTNEED);
	atomic_store(&mappings.n, 0);
	return atomic_exchange(&mappings.lost, 0);
}
