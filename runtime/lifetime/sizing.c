/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/lifetime/sizing.h"

#include <stdatomic.h>

#include "runtime/advice/advice.h"
#include "runtime/heap/heap.h"
#include "runtime/heap/live_bytes.h"
#include "runtime/lifetime/promote.h"

#define SPARE_BYTES (UINT64_C(100) << 20) /* paper 000, §IV-A */
#define SPARE_SHARE 16

static struct pm_sizing sizing;
static atomic_flag is_begun = ATOMIC_FLAG_INIT;
static atomic_bool is_done;

static void measure(void)
{
	int64_t peak = pm_live_bytes_peak(), live = pm_live_bytes();
	uint64_t spare = pm_heap.settings.budget_bytes / SPARE_SHARE;

	sizing.needed_bytes = peak > live ? (uint64_t)(peak - live) : 0;
	sizing.spare_bytes = spare < SPARE_BYTES ? spare : SPARE_BYTES;
}

/* Lends the end of a space, behind its first `keep_bytes`. */
static void lend(enum pm_space_id from, uint64_t keep_bytes)
{
	sizing.lent_bytes =
		pm_space_split(&pm_heap.spaces[from], &pm_heap.spaces[PM_LENT], keep_bytes);
}

/* Bytes in use in temporary at the end of an iteration are long-lived, and stay there. */
static void resize_temporary(void)
{
	uint64_t has = pm_heap.settings.bytes[PM_TEMPORARY];
	uint64_t free = pm_heap.settings.bytes[PM_FREE];
	uint64_t wanted =
		sizing.needed_bytes + sizing.spare_bytes + pm_heap_used_bytes(PM_TEMPORARY);

	sizing.to_temporary = wanted > has;
	if (!sizing.to_temporary) {
		lend(PM_TEMPORARY, wanted);
		return;
	}
	atomic_store(&pm_heap.lent_to_temporary, true);
	lend(PM_FREE, wanted - has < free ? free - (wanted - has) : 0);
}

static void resize(void)
{
	measure();
	resize_temporary();
	if (!sizing.to_temporary)
		sizing.promoted_bytes = pm_promote();
}

/*
 * With advice there is no temporary space, and objects in PMem are not promoted. A forked child is
 * not sized: its DRAM range is bound to PMem.
 */
void pm_sizing_iteration(uint32_t number, uint32_t measured)
{
	if (pm_heap.is_child)
		return;
	if (number == 1)
		pm_live_bytes_reset_peak();
	if (number != measured + 1 || atomic_flag_test_and_set(&is_begun))
		return;
	pm_heap_keep_for_small(false);
	if (pm_heap.settings.is_fixed)
		return;
	if (!pm_advice_on)
		resize();
	atomic_store_explicit(&is_done, true, memory_order_release);
}

void pm_sizing_get(struct pm_sizing *ret)
{
	*ret = sizing;
	ret->is_done = pm_sizing_is_done();
}

bool pm_sizing_is_done(void)
{
	return atomic_load_explicit(&is_done, memory_order_acquire);
}
