/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_NODEMASK_H
#define PM_RUNTIME_NODEMASK_H

/*
 * Masks of NUMA nodes, their memory in bytes, and address ranges that are bound to them by
 * mbind(2). Nothing here allocates. The runtime links no libnuma: libnuma allocates its masks.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PM_NUMA_NODES_MAX 1024 /* CONFIG_NODES_SHIFT of the kernel is at most 10 */

struct pm_nodemask {
	unsigned long bits[PM_NUMA_NODES_MAX / (8 * sizeof(unsigned long))];
};

/* Parses a list as the kernel writes it, "0" or "0-1,4". False: not a list; *ret is untouched. */
bool pm_nodemask_parse(const char *text, struct pm_nodemask *ret);

bool pm_nodemask_empty(const struct pm_nodemask *nodes);
bool pm_nodemask_isset(const struct pm_nodemask *nodes, unsigned node);

/*
 * Bytes of all nodes of the mask together, from nodeN/meminfo of sysfs: the total, and the bytes
 * that can be allocated now: free pages and page cache, less a margin for the kernel's watermarks.
 * UINT64_MAX: sysfs cannot be read.
 */
uint64_t pm_nodemask_total_bytes(const struct pm_nodemask *nodes);
uint64_t pm_nodemask_available_bytes(const struct pm_nodemask *nodes);

/* mbind(2) with MPOL_BIND: later page faults allocate from these nodes only. 0 or -errno. */
int pm_nodemask_bind(const struct pm_nodemask *nodes, void *start, size_t bytes);

/* The same with MPOL_MF_MOVE: pages that are present are migrated too. 0 or -errno. */
int pm_nodemask_migrate(const struct pm_nodemask *nodes, void *start, size_t bytes);

/*
 * Where n pages are, by move_pages(2): ret[i] is true for a page that is resident on a node outside
 * of the mask. n is at most PM_NODEMASK_PAGES.
 */
#define PM_NODEMASK_PAGES 512
void pm_nodemask_elsewhere(const struct pm_nodemask *nodes, char *start, size_t n, bool *ret);

#endif
