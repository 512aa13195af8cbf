/* SPDX-License-Identifier: Apache-2.0 */
#include "runtime/heap/size_predictor.h"

#include <stdatomic.h>
#include <stdint.h>

#include "runtime/heap/space.h"

#define N_CLASSES     128
#define FREES_MIN     2 /* a single free may be chance */
#define CONFIDENT_MIN 8

/* Allocations at which both counts are halved: recent ones count more. */
#define AGE_AT UINT32_C(1000)

static struct {
	atomic_uint_least32_t allocs, frees;
} classes[N_CLASSES];

static unsigned class_of(size_t bytes)
{
	uint64_t granules = (bytes + PM_GRANULE - 1) / PM_GRANULE;
	unsigned log = 63 - (unsigned)__builtin_clzll(granules | 4);

	/* `| 4` keeps log at 2 or more: sizes below four granules have a class each. */
	return 4 * log + (granules >> (log - 2) & 3);
}

/* Not atomic as a whole: counts of other threads in between are lost, a few of a thousand. */
static void age(unsigned class)
{
	atomic_store_explicit(&classes[class].allocs, AGE_AT / 2, memory_order_relaxed);
	atomic_store_explicit(&classes[class].frees,
		atomic_load_explicit(&classes[class].frees, memory_order_relaxed) / 2,
		memory_order_relaxed);
}

bool pm_size_predictor_alloc(size_t bytes)
{
	unsigned class = class_of(bytes);
	uint32_t allocs =
		atomic_fetch_add_explicit(&classes[class].allocs, 1, memory_order_relaxed);
	uint32_t frees = atomic_load_explicit(&classes[class].frees, memory_order_relaxed);

	if (allocs >= AGE_AT)
		age(class);
	return frees >= FREES_MIN && frees * 2 >= allocs;
}

bool pm_size_predictor_is_confident(size_t bytes)
{
	unsigned class = class_of(bytes);
	uint32_t allocs = atomic_load_explicit(&classes[class].allocs, memory_order_relaxed);
	uint32_t frees = atomic_load_explicit(&classes[class].frees, memory_order_relaxed);

	return allocs >= CONFIDENT_MIN && frees * 4 >= allocs * 3;
}

void pm_size_predictor_free(size_t bytes)
{
	atomic_fetch_add_explicit(&classes[class_of(bytes)].frees, 1, memory_order_relaxed);
}
