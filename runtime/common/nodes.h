/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RUNTIME_NODES_H
#define PM_RUNTIME_NODES_H

/* Sets of NUMA nodes, what is in them, and memory that is bound to them. Nothing here allocates. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PM_NODES_MAX 1024 /* CONFIG_NODES_SHIFT is 10 at most */

struct pm_nodes {
	unsigned long bits[PM_NODES_MAX / (8 * sizeof(unsigned long))];
};

/* "0", "0-1,4", as the kernel writes them; false: it is no such list, *ret is untouched. */
bool pm_nodes_parse(const char *text, struct pm_nodes *ret);

bool pm_nodes_empty(const struct pm_nodes *nodes);
bool pm_nodes_hold(const struct pm_nodes *nodes, unsigned node);

/*
 * Bytes of the nodes together: what they have, and what one can get now: free pages and those of
 * files, less a margin for the kernel. UINT64_MAX: not to be seen (sysfs is not there).
 */
uint64_t pm_nodes_total(const struct pm_nodes *nodes);
uint64_t pm_nodes_available(const struct pm_nodes *nodes);

/* Pages of the range, from now on, come from these nodes alone (MPOL_BIND); 0 or -errno. */
int pm_nodes_bind(const struct pm_nodes *nodes, void *start, size_t bytes);

/* The same, and pages that are there already are moved. */
int pm_nodes_move(const struct pm_nodes *nodes, void *start, size_t bytes);

#endif
