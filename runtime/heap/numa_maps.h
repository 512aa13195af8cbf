/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_NUMA_MAPS_H
#define PM_RUNTIME_NUMA_MAPS_H

/* Resident bytes of this process by NUMA node, from /proc/self/numa_maps: numa(7). */
#include <stdint.h>

#include "runtime/common/nodemask.h"

/* Groups of mappings: the heap's DRAM range, its PMem range, and all others. */
enum pm_mapping { PM_MAPPING_DRAM, PM_MAPPING_PMEM, PM_MAPPING_OTHER, PM_MAPPINGS };

extern const char *const pm_mapping_names[PM_MAPPINGS]; /* "dram", "pmem", "other" */

struct pm_numa_maps {
	uint64_t bytes[PM_MAPPINGS][PM_NUMA_NODES_MAX];
};

/* Adds to *numa_maps. Not reentrant. False: the file cannot be read. */
bool pm_numa_maps_read(struct pm_numa_maps *numa_maps);

#endif
