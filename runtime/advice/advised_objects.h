/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_ADVISED_OBJECTS_H
#define PM_RUNTIME_ADVISED_OBJECTS_H

/*
 * Objects of PM_LARGE bytes and more, placed by advice. An object for which its site has fewer
 * bytes left than it needs is split: its first chunks are bound to DRAM, the others to PMem
 * (runtime/heap/moved_pages.h). An object gives its bytes back when it is freed.
 *
 * An entry a granule beside the heap has the bytes that each object has taken.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_advised_counts {
	uint64_t dram_objects, split_objects; /* so far, of known sites */
	uint64_t pmem_objects;		      /* with small ones */
	uint64_t unknown_objects;	      /* large ones of unknown sites */
	uint64_t peak_bytes;		      /* that large ones held at most */
};

/*
 * After pm_heap_start(), if advice is on. `attached`: this is the rank's own process, which warns
 * at its end if the advice was for more or less data. False: no addresses; nothing is placed by
 * advice.
 */
bool pm_advised_start(bool attached);

/* As pm_heap_alloc(). */
void *pm_advised_alloc(size_t bytes, size_t align, bool zero);

/* Before the object is freed; after it was resized in place. */
void pm_advised_free(const void *object);
void pm_advised_resize(const void *object, size_t before, size_t bytes);

/* A small object went to PMem. */
void pm_advised_count_cold(void);

void pm_advised_count(struct pm_advised_counts *ret);

#endif
