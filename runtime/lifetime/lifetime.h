/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_LIFETIME_H
#define PM_RUNTIME_LIFETIME_H

/*
 * Which large objects are temporary, where iterations are known (runtime/start/marks.h): those of
 * call sites whose objects have been given back in the iteration in which they were taken, or in
 * the next one. Before that runtime/heap/size_predictor.h guesses by size; where arrays that stay
 * are as large as those that go, as in LULESH, only the site tells them apart.
 *
 * The site and the iteration of an object stand in an array beside the heap, an entry a granule. It
 * is reserved as a whole and writable as far as it is needed, as the heap is.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* From the first iteration on, which one thread may be at while others allocate. */
extern atomic_bool pm_lifetime_on;

static inline bool pm_lifetime_is_on(void)
{
	return atomic_load_explicit(&pm_lifetime_on, memory_order_acquire);
}

/* At the first iteration; later ones do nothing. Without addresses for it nothing is changed. */
void pm_lifetime_begin(void);

/*
 * Is an object of this site likely to be gone soon? `site`: its key, 0: unknown. Of the first two
 * of a site that is guessed by their size, if that is all but sure: in a loop that is entered
 * already they are most of what is temporary.
 */
bool pm_lifetime_is_short(uint64_t site, size_t bytes);

/* One has been taken from the heap; is about to be given back. */
void pm_lifetime_taken(const void *object, uint64_t site);
void pm_lifetime_given(const void *object);

#endif
