/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/lifetime/iteration.h"

#include <stdatomic.h>

static atomic_uint_least32_t iteration;
static atomic_int source;

uint32_t pm_iteration_number(void)
{
	return atomic_load_explicit(&iteration, memory_order_relaxed);
}

enum pm_iteration_source pm_iteration_source(void)
{
	return (enum pm_iteration_source)atomic_load_explicit(&source, memory_order_relaxed);
}

uint32_t pm_iteration_advance(void)
{
	return atomic_fetch_add_explicit(&iteration, 1, memory_order_relaxed) + 1;
}

/* Compare and exchange: an inference must not overwrite a mark of another thread. */
void pm_iteration_restart(enum pm_iteration_source how)
{
	int before = atomic_load(&source);

	while (before != PM_ITERATIONS_MARKED &&
		!atomic_compare_exchange_weak(&source, &before, how))
		;
	if (before != PM_ITERATIONS_MARKED)
		atomic_store_explicit(&iteration, 0, memory_order_relaxed);
}
