/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of pmplace.h for a program that knows its data. */
#include <stdlib.h>

#include "runtime/heap/heap.h"
#include "runtime/heap/moved_pages.h"
#include "runtime/heap/named_ranges.h"
#include "runtime/pmplace.h"
#include "runtime/profile/profile.h"
#include "runtime/start/interpose.h"
#include "runtime/stream/promotion.h"

/* A small object in PMem is an extent of its own: jemalloc's slabs are in DRAM. */
static void *alloc_in(size_t bytes, bool in_dram)
{
	void *object = in_dram ? pm_heap_alloc_advised(bytes, 1, false, true)
			       : pm_heap_alloc_placed(bytes ? bytes : 1);

	if (pm_profile_on && object && (bytes >= PM_LARGE || pm_profile_is_sample(bytes)))
		pm_profile_alloc(object, bytes);
	return object;
}

#pragma GCC visibility push(default)

/* Where nothing is placed, by name: another library's malloc() and free() may come first. */
void *pmplace_alloc(size_t bytes, int tier)
{
	if (!pm_heap.small_limit)
		return malloc(bytes);
	if (tier == PM_FAST && bytes < PM_LARGE)
		return pm_malloc(bytes, CALLER);
	return alloc_in(bytes, tier == PM_FAST);
}

size_t pmplace_move(const void *start, size_t bytes, int tier)
{
	return tier == PM_FAST ? pm_moved_pages_to_dram(start, bytes)
			       : pm_moved_pages_to_pmem(start, bytes);
}

void pmplace_advise(const void *start, size_t bytes, int advice)
{
	if (!pm_promotion_is_on())
		return;
	pm_named_ranges_remove(start, bytes);
	if (advice == PM_PROMOTE)
		(void)pm_named_ranges_add(start, bytes);
}

#pragma GCC visibility pop
