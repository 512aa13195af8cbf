/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_TABLE_H
#define PM_RUNTIME_TABLE_H

/* Addresses for a table that is mostly empty: pages come with the first write, and read as zero. */
#include <stddef.h>
#include <sys/mman.h>

/* NULL, with errno: there are no such addresses (ulimit -v). */
static inline void *pm_table_reserve(size_t bytes)
{
	void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	return start == MAP_FAILED ? NULL : start;
}

#endif
