/* SPDX-License-Identifier: Apache-2.0 */
#include "twin/meter/near_memory.h"

#include <stdlib.h>

#include "twin/meter/cache.h"

bool pm_near_memory_init(struct pm_near_memory *near, size_t bytes)
{
	if (!bytes || bytes % PM_LINE_BYTES)
		return false;
	near->lines = bytes / PM_LINE_BYTES;
	near->tags = calloc(near->lines, sizeof(*near->tags));
	return near->tags != NULL;
}

/* The tag check of each access reads DRAM; a hit of a read needs no other access. */
void pm_near_memory_access(
	struct pm_near_memory *near, uint64_t line, bool is_write, struct pm_near_traffic *traffic)
{
	uint64_t *tag = &near->tags[line % near->lines];

	traffic->dram_read++;
	if ((*tag & ~PM_NEAR_DIRTY) != line + 1) {
		if (*tag & PM_NEAR_DIRTY)
			traffic->pmem_written++;
		traffic->pmem_read++;
		traffic->dram_written++;
		*tag = line + 1;
	}
	if (is_write) {
		traffic->dram_written++;
		*tag |= PM_NEAR_DIRTY;
	}
}
