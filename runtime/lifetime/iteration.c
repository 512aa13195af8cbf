/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/lifetime/iteration.h"

#include <stdatomic.h>

static atomic_uint_least32_t iteration;
static atomic_int known;

uint32_t pm_iteration(void)
{
	return atomic_load_explicit(&iteration, memory_order_relaxed);
}

enum pm_known pm_iteration_known(void)
{
	return (enum pm_known)atomic_load_explicit(&known, memory_order_relaxed);
}

uint32_t pm_iteration_next(void)
{
	return atomic_fetch_add_explicit(&iteration, 1, memory_order_relaxed) + 1;
}

void pm_iteration_begin_anew(enum pm_known how)
{
	int before = atomic_load(&known);

	while (before != PM_KNOWN_MARKED && !atomic_compare_exchange_weak(&known, &before, how))
		;
	if (before != PM_KNOWN_MARKED)
		atomic_store_explicit(&iteration, 0, memory_order_relaxed);
}
