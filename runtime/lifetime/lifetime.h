/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_LIFETIME_H
#define PM_RUNTIME_LIFETIME_H

/*
 * Predicts the lifetime of a large object from its call site, where iterations are known
 * (runtime/lifetime/iteration.h). A site is short-lived if at least half of its objects were freed
 * in the iteration of their allocation or in the next one. Before the first iteration
 * runtime/heap/size_predictor.h predicts by size. Sites are needed where long-lived and short-lived
 * arrays have one size, as in LULESH.
 *
 * The live-object table holds the site and the iteration of each live object: an array beside the
 * heap, one entry a granule. It is reserved as a whole and made writable as far as it is used.
 *
 * Lock-free. The counts of a site are exact; an object that is allocated while another thread grows
 * the table is not recorded.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Set once, at the first iteration, perhaps while other threads allocate. */
extern atomic_bool pm_lifetime_on;

static inline bool pm_lifetime_is_on(void)
{
	return atomic_load_explicit(&pm_lifetime_on, memory_order_acquire);
}

/* At the first iteration; later calls do nothing. Stays off if no addresses can be reserved. */
void pm_lifetime_begin(void);

/*
 * True: an object of this site is likely to be freed soon. `site` is its key, 0: unknown, and never
 * short-lived. The first two objects of a site are predicted by their size, if that predictor is
 * confident. When a loop begins, these are most of its short-lived objects.
 */
bool pm_lifetime_is_short(uint64_t site, size_t bytes);

/* After an object is allocated from the heap; before it is freed. */
void pm_lifetime_alloc(const void *object, uint64_t site);
void pm_lifetime_free(const void *object);

#endif
