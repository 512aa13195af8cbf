/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_LIFETIME_H
#define PM_RUNTIME_LIFETIME_H

/*
 * Which large objects are temporary, in programs that tell their iterations (runtime/marks.h):
 * those of call sites whose objects have been given back in the iteration in which they were taken,
 * or in the next one. In others runtime/recur.h guesses by size; where arrays that stay are as
 * large as those that go, as in LULESH, only the site tells them apart.
 *
 * The site and the iteration of an object stand in an array beside the heap, an entry a granule.
 */
#include <stdbool.h>
#include <stdint.h>

/* From the first iteration on. */
extern bool pm_lifetime_on;

/* At the first iteration, where objects are placed. Without addresses for it nothing is changed. */
void pm_lifetime_begin(void);

/* Is an object of this site likely to be gone soon? `site`: its key, 0: unknown. */
bool pm_lifetime_is_short(uint64_t site);

/* One has been taken from the heap; is about to be given back. */
void pm_lifetime_taken(const void *object, uint64_t site);
void pm_lifetime_given(const void *object);

#endif
