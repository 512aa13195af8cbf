/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_RESIDENCY_H
#define PM_RUNTIME_RESIDENCY_H

/* Where this process's pages are, as the kernel sees it: /proc/self/numa_maps, numa(7). */
#include <stdint.h>

#include "runtime/common/nodemask.h"

/* Of what: the heap's DRAM spaces, its PMem, and all that is not the heap's. */
enum pm_part { PM_PART_DRAM, PM_PART_PMEM, PM_PART_OTHER, PM_PARTS };

extern const char *const pm_part_names[PM_PARTS]; /* "dram", "pmem", "other" */

struct pm_residency {
	uint64_t bytes[PM_PARTS][PM_NUMA_NODES_MAX];
};

/* Adds to *residency; false: the kernel does not tell. */
bool pm_residency_read(struct pm_residency *residency);

#endif
