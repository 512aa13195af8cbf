/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/heap/live.h"

#include <stdatomic.h>

static atomic_int_least64_t now, most;

void pm_live_count(int64_t bytes)
{
	int64_t sum = atomic_fetch_add_explicit(&now, bytes, memory_order_relaxed) + bytes;
	int64_t before = atomic_load_explicit(&most, memory_order_relaxed);

	while (sum > before && !atomic_compare_exchange_weak_explicit(&most, &before, sum,
				       memory_order_relaxed, memory_order_relaxed))
		;
}

int64_t pm_live_now(void)
{
	return atomic_load_explicit(&now, memory_order_relaxed);
}

void pm_live_restart(void)
{
	atomic_store_explicit(&most, pm_live_now(), memory_order_relaxed);
}

int64_t pm_live_most(void)
{
	return atomic_load_explicit(&most, memory_order_relaxed);
}
