/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_NODE_MEMORY_H
#define PM_NODE_MEMORY_H

/* Memory of NUMA nodes and the socket they belong to, read below a root directory. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct pm_node_memory {
	uint64_t total_bytes, free_bytes, used_bytes;
};

/* What sys/devices/system/node/nodeN/meminfo says; a node that is not there has none of it. */
int pm_node_memory_read(const char *root, int node, struct pm_node_memory *ret, struct pm_err *err);

/* The sums of the nodes in the list, and of all others that are online. */
int pm_node_memory_split(const char *root, const int *nodes, size_t n, struct pm_node_memory *ret,
	struct pm_node_memory *ret_others, struct pm_err *err);

/*
 * Is there room in the others for all that the nodes hold, and a margin of a 32nd of their size?
 * Less has killed innocent processes: the kernel migrates until nothing is left, then kills.
 */
bool pm_node_memory_fits(const struct pm_node_memory *nodes, const struct pm_node_memory *others);

/* The physical package of a node's first processor; the node's own number where it has none, and
 * 0 where there is no node. */
int pm_node_socket(const char *root, int node);

#endif
