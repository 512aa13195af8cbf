/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/heap/recur.h"

#include <stdatomic.h>
#include <stdint.h>

#include "runtime/heap/space.h"

#define CLASSES	  128
#define GIVEN_MIN 2		 /* once could be by chance */
#define SURE_MIN  8		 /* and three quarters given back */
#define ENOUGH	  UINT32_C(1000) /* then both counts are halved: what was long ago matters less */

static struct {
	atomic_uint_least32_t taken, given;
} sizes[CLASSES];

static unsigned class_of(size_t bytes)
{
	uint64_t granules = (bytes + PM_GRANULE - 1) / PM_GRANULE;
	unsigned log = 63 - (unsigned)__builtin_clzll(granules | 4);

	return 4 * log + (granules >> (log - 2) & 3);
}

/* Others may count meanwhile: what is lost is a few of a thousand. */
static void age(unsigned class)
{
	atomic_store_explicit(&sizes[class].taken, ENOUGH / 2, memory_order_relaxed);
	atomic_store_explicit(&sizes[class].given,
		atomic_load_explicit(&sizes[class].given, memory_order_relaxed) / 2,
		memory_order_relaxed);
}

bool pm_recur_taken(size_t bytes)
{
	unsigned class = class_of(bytes);
	uint32_t taken = atomic_fetch_add_explicit(&sizes[class].taken, 1, memory_order_relaxed);
	uint32_t given = atomic_load_explicit(&sizes[class].given, memory_order_relaxed);

	if (taken >= ENOUGH)
		age(class);
	return given >= GIVEN_MIN && given * 2 >= taken;
}

bool pm_recur_is_sure(size_t bytes)
{
	unsigned class = class_of(bytes);
	uint32_t taken = atomic_load_explicit(&sizes[class].taken, memory_order_relaxed);
	uint32_t given = atomic_load_explicit(&sizes[class].given, memory_order_relaxed);

	return taken >= SURE_MIN && given * 4 >= taken * 3;
}

void pm_recur_given(size_t bytes)
{
	atomic_fetch_add_explicit(&sizes[class_of(bytes)].given, 1, memory_order_relaxed);
}
