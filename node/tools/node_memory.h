/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_NODE_MEMORY_H
#define PM_NODE_MEMORY_H

/* Memory and sockets of NUMA nodes, read below a root directory. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct pm_node_memory {
	uint64_t total_bytes, free_bytes, used_bytes;
};

/* Finds the value of a key such as "MemTotal:" in a text as in proc/meminfo. False: it has none. */
bool pm_meminfo_find(const char *text, const char *key, uint64_t *ret_bytes);

/* Reads sys/devices/system/node/nodeN/meminfo; zeros for a node that does not exist. */
int pm_node_memory_read(const char *root, int node, struct pm_node_memory *ret, struct pm_err *err);

/* The sum over the nodes in the list, and the sum over all other online nodes. */
int pm_node_memory_split(const char *root, const int *nodes, size_t n, struct pm_node_memory *ret,
	struct pm_node_memory *ret_others, struct pm_err *err);

/*
 * True if the others have room for all used bytes of the nodes, and a margin of a 32nd of their
 * own size. Without the margin, memory is migrated until nothing is free and processes are killed.
 */
bool pm_node_memory_fits(const struct pm_node_memory *nodes, const struct pm_node_memory *others);

/*
 * The physical package of the node's first CPU; the node's own number if it has no CPU, 0 for node
 * -1.
 */
int pm_node_socket(const char *root, int node);

#endif
