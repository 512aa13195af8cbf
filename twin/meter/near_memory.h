/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_METER_NEAR_MEMORY_H
#define PM_METER_NEAR_MEMORY_H

/*
 * Memory Mode: a socket's DRAM as a direct-mapped cache of its PMem, in lines of 64 bytes that are
 * written back. A line that is missing is read from PMem for a store, too: the processor writes
 * back whole lines, yet the controller fetches them first, as measured on Cascade Lake (Hildebrand
 * et al., "A case against hardware managed DRAM caches for NVRAM based systems", 2021).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct pm_near_traffic {
	uint64_t dram_read, dram_written, pmem_read, pmem_written; /* lines */
};

struct pm_near_memory {
	uint64_t lines; /* of DRAM; 0: no Memory Mode */
	uint64_t
		*tags; /* by line of DRAM: the line of PMem + 1 that it holds, with PM_NEAR_DIRTY */
};

#define PM_NEAR_DIRTY ((uint64_t)1 << 63)

/* False: bytes are not whole lines, or there is no memory. */
bool pm_near_memory_init(struct pm_near_memory *near, size_t bytes);

/* A read or write of a line that passed the processor's caches; its traffic is added. */
void pm_near_memory_access(
	struct pm_near_memory *near, uint64_t line, bool is_write, struct pm_near_traffic *traffic);

#endif
