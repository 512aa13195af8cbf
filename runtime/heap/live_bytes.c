/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/heap/live_bytes.h"

#include <stdatomic.h>

static atomic_int_least64_t live, peak;

void pm_live_bytes_add(int64_t bytes)
{
	int64_t sum = atomic_fetch_add_explicit(&live, bytes, memory_order_relaxed) + bytes;
	int64_t before = atomic_load_explicit(&peak, memory_order_relaxed);

	while (sum > before && !atomic_compare_exchange_weak_explicit(&peak, &before, sum,
				       memory_order_relaxed, memory_order_relaxed))
		;
}

int64_t pm_live_bytes(void)
{
	return atomic_load_explicit(&live, memory_order_relaxed);
}

void pm_live_bytes_reset_peak(void)
{
	atomic_store_explicit(&peak, pm_live_bytes(), memory_order_relaxed);
}

int64_t pm_live_bytes_peak(void)
{
	return atomic_load_explicit(&peak, memory_order_relaxed);
}
