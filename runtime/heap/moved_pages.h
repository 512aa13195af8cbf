/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_MOVED_PAGES_H
#define PM_RUNTIME_MOVED_PAGES_H

/*
 * Pages of PMem addresses that are bound to DRAM, and the budget that they use. Addresses do not
 * change: mbind(2) with MPOL_MF_MOVE migrates the pages.
 *
 * A chunk of 2 MiB of PMem addresses that has such pages has a reservation: a chunk of DRAM
 * addresses that was never touched and never will be. A huge page that is only partly in the range
 * may be migrated as a whole; it does not cross the ends of a chunk, so that the pages in DRAM
 * never exceed the budget. A chunk without such pages returns its reservation to the spare ones,
 * which later moves use; they are not for objects any more.
 *
 * A chunk may also be kept in DRAM to the end: runtime/lifetime/promote.h.
 *
 * One lock, which is held while the pages of one chunk are migrated. Lock order: before the locks
 * of the spaces.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_moved_counts {
	uint64_t to_dram_bytes, to_pmem_bytes; /* so far */
	uint64_t refused_bytes;		       /* DRAM had no room for them */
};

/*
 * Binds the whole pages in [start, start + bytes) to DRAM or to PMem, with what is resident. Only
 * PMem addresses of the heap count. Returns the bytes that are in that tier, or will be at their
 * first touch, and were not before. Less than asked for: DRAM is used up, pages are pinned, or
 * pages were there already.
 */
size_t pm_moved_pages_to_dram(const void *start, size_t bytes);
size_t pm_moved_pages_to_pmem(const void *start, size_t bytes);

/* As pm_moved_pages_to_dram(), but nothing is counted as refused. *ret_full: DRAM had no room. */
size_t pm_moved_pages_try_dram(const void *start, size_t bytes, bool *ret_full);

/*
 * These whole chunks are about to be bound to DRAM, have reservations of their own, and stay there
 * to the end. False: no memory to note it.
 */
bool pm_moved_pages_keep(void *start, size_t bytes);

void pm_moved_pages_count(struct pm_moved_counts *ret);

/* Handlers of pthread_atfork(3). The child's copy-on-write pages come from PMem. */
void pm_moved_pages_before_fork(void);
void pm_moved_pages_after_fork(void);
void pm_moved_pages_after_fork_in_child(void);

#endif
