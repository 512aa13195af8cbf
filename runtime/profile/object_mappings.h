/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_OBJECT_MAPPINGS_H
#define PM_RUNTIME_OBJECT_MAPPINGS_H

/*
 * A mapping of its own for each object that the profile records, while a burst runs: the kernel
 * tells of accessed pages by mapping (smaps in proc(5)). Neighbours have different advice for
 * reading ahead: MADV_NORMAL, MADV_RANDOM or MADV_SEQUENTIAL, madvise(2). The kernel does not merge
 * such mappings, and does not read anonymous memory ahead.
 */
#include <stddef.h>
#include <stdint.h>

/* No more objects have mappings of their own: vm.max_map_count is 65530 by default. */
#define PM_OBJECT_MAPPINGS_MAX 8192

/* Before the first of the others. */
int pm_object_mappings_start(void);

/* For an object of the heap. Any thread. */
void pm_object_mappings_split(const void *object, size_t bytes);

/* The same for all objects that the profile's table has. */
void pm_object_mappings_split_all(void);

/* Undoes it for the whole heap. Returns the objects that were left without, for want of mappings.
 */
uint64_t pm_object_mappings_merge(void);

#endif
