/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PARTITION_H
#define PM_PARTITION_H

/*
 * How ipmctl partitions modules by percentages. Memory is whole GiB, App Direct whole multiples of
 * the platform's alignment; the part of a module beyond whole GiB is unused. From
 * MapRequestToActualRegionGoalTemplates() and ReduceAppDirectCapacityPerReservedCapacity() in
 * ipmctl's DcpmPkg/driver/Core/Region.c; the results equal the goals that ipmctl 03.00.00.0468
 * stored for each of 400 requests on modules of 2 to 502 GiB.
 */
#include <stdbool.h>
#include <stdint.h>

#include "node/tools/ipmctl.h"

struct pm_partition {
	uint64_t memory_bytes, appdirect_bytes;
};

/* Percentages of a socket's capacity; the rest is App Direct. */
struct pm_shares {
	unsigned memory_percent, reserved_percent;
	uint64_t alignment_bytes; /* of App Direct, see struct pm_capabilities */
};

/*
 * The partition of the module `dimm` of `dimms`, by the manageable modules of its socket. A limit
 * of the memory that the CPU can map is ignored.
 */
struct pm_partition pm_partition_of(
	const struct pm_shares *shares, const struct pm_dimms *dimms, const struct pm_dimm *dimm);

/* Main memory of all manageable modules of a socket, in bytes. */
uint64_t pm_partition_memory(
	const struct pm_shares *shares, const struct pm_dimms *dimms, const char *socket);

/* True for a module that a goal covers. */
bool pm_dimm_is_manageable(const struct pm_dimm *dimm);

/* True for such a module that is healthy and not locked. */
bool pm_dimm_is_sound(const struct pm_dimm *dimm);

#endif
