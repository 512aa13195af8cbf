/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "runtime/profile/live_objects.h"

#include <stddef.h>
#include <sys/mman.h>

#include "runtime/heap/heap.h"

static struct pm_live_object *table;

bool pm_live_objects_start(void)
{
	void *start = mmap(NULL, pm_heap.size / PM_GRANULE * sizeof(*table), PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	table = start == MAP_FAILED ? NULL : start;
	return table;
}

struct pm_live_object *pm_live_object(const void *p)
{
	return &table[((uintptr_t)p - pm_heap.base) / PM_GRANULE];
}

bool pm_live_objects_next(uintptr_t from, uintptr_t to, struct pm_live_view *ret)
{
	uintptr_t first = (from + PM_GRANULE - 1) / PM_GRANULE * PM_GRANULE;

	for (uintptr_t at = first; at < to; at += PM_GRANULE) {
		struct pm_live_object *live = pm_live_object((void *)at);
		uint64_t bytes = atomic_load_explicit(&live->bytes, memory_order_acquire);

		if (!bytes)
			continue;
		*ret = (struct pm_live_view){.start = at,
			.bytes = bytes,
			.site = atomic_load_explicit(&live->site, memory_order_relaxed),
			.is_live = atomic_load_explicit(&live->is_live, memory_order_relaxed)};
		return true;
	}
	return false;
}

/* The part of a space that has been allocated from. */
static uintptr_t end_of(const struct pm_space *space)
{
	uint32_t top = __atomic_load_n(&space->top, __ATOMIC_RELAXED);

	return (uintptr_t)space->base + top * PM_GRANULE;
}

void pm_live_objects_each(void (*fn)(const struct pm_live_view *live))
{
	for (int i = 0; i < PM_SPACES; i++) {
		const struct pm_space *space = &pm_heap.spaces[i];
		uintptr_t at = (uintptr_t)space->base, end = end_of(space);
		struct pm_live_view live;

		for (; pm_live_objects_next(at, end, &live);
			at = live.start + (live.is_live ? live.bytes : 1))
			if (live.is_live)
				fn(&live);
	}
}
