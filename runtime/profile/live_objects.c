/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/profile/live_objects.h"

#include <stddef.h>

#include "runtime/common/table.h"
#include "runtime/heap/heap.h"

static struct pm_live_object *table;
static atomic_uint_least32_t *begins; /* of a granule: 1 + its distance from its object's first */

bool pm_live_objects_start(void)
{
	table = pm_table_reserve(pm_heap.size / PM_GRANULE * sizeof(*table));
	begins = pm_table_reserve(pm_heap.size / PM_GRANULE * sizeof(*begins));
	return table && begins;
}

struct pm_live_object *pm_live_object(const void *p)
{
	return &table[((uintptr_t)p - pm_heap.base) / PM_GRANULE];
}

/* False: no object has begun at this granule. */
static bool view(uintptr_t at, struct pm_live_view *ret)
{
	const struct pm_live_object *live = pm_live_object((void *)at);
	uint64_t bytes = atomic_load_explicit(&live->bytes, memory_order_acquire);

	*ret = (struct pm_live_view){.start = at,
		.bytes = bytes,
		.site = atomic_load_explicit(&live->site, memory_order_relaxed),
		.is_live = atomic_load_explicit(&live->is_live, memory_order_relaxed)};
	return bytes;
}

bool pm_live_objects_next(uintptr_t from, uintptr_t to, struct pm_live_view *ret)
{
	uintptr_t first = (from + PM_GRANULE - 1) / PM_GRANULE * PM_GRANULE;

	for (uintptr_t at = first; at < to; at += PM_GRANULE)
		if (view(at, ret))
			return true;
	return false;
}

static uint64_t granule_of(uintptr_t address)
{
	return (address - pm_heap.base) / PM_GRANULE;
}

void pm_live_objects_cover(const void *object, uint64_t bytes)
{
	uint64_t first = granule_of((uintptr_t)object);
	uint32_t granules = (uint32_t)((bytes + PM_GRANULE - 1) / PM_GRANULE);

	for (uint32_t i = 0; i < granules; i++)
		atomic_store_explicit(&begins[first + i], i + 1, memory_order_relaxed);
}

bool pm_live_objects_covering(uintptr_t address, struct pm_live_view *ret)
{
	uint64_t granule = granule_of(address);
	uint32_t distance = atomic_load_explicit(&begins[granule], memory_order_relaxed);

	return distance && view(pm_heap.base + (granule - (distance - 1)) * PM_GRANULE, ret) &&
	       address < ret->start + ret->bytes;
}

void pm_live_objects_each(void (*fn)(const struct pm_live_view *live))
{
	for (int i = 0; i < PM_SPACES; i++) {
		struct pm_live_view live;
		uintptr_t at, end;

		pm_space_tiled(&pm_heap.spaces[i], &at, &end);
		for (; pm_live_objects_next(at, end, &live);
			at = live.start + (live.is_live ? live.bytes : 1))
			if (live.is_live)
				fn(&live);
	}
}
