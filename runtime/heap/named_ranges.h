/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_NAMED_RANGES_H
#define PM_RUNTIME_NAMED_RANGES_H

/*
 * Ranges that the program has named for promotion, pm_advise(3): PMem addresses of the heap that
 * are to go to DRAM, a part at a time. A range is named until it is in DRAM, until the program
 * takes its name back, or until a part of it is freed.
 *
 * One lock, which is held while the pages of one chunk are migrated. Lock order: before that of
 * moved pages.
 */
#include <stdbool.h>
#include <stddef.h>

#define PM_NAMED_RANGES_MAX 256

/* False: the list is full. */
bool pm_named_ranges_add(const void *start, size_t bytes);

/* Takes each range off the list that has a part in common with this one. */
void pm_named_ranges_remove(const void *start, size_t bytes);

/*
 * Moves at most `bytes` to DRAM, whole pages, in the order in which the ranges were named. Returns
 * the bytes that are now in DRAM and were not before. Ends early when DRAM has no room: the rest
 * stays on the list.
 */
size_t pm_named_ranges_promote(size_t bytes);

/* Handlers of pthread_atfork(3). In the child nothing is named. */
void pm_named_ranges_before_fork(void);
void pm_named_ranges_after_fork(void);
void pm_named_ranges_after_fork_in_child(void);

#endif
