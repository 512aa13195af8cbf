/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PARTITION_NODES_H
#define PM_PARTITION_NODES_H

/* The nodes of partitions, from slurmctld's tables. */
#include <stdbool.h>
#include <stdint.h>

#include "controller/cluster.h"

/*
 * True if the index is in node_inx of slurm.h, by which a record has its nodes: pairs of first and
 * last index into the table of nodes, -1 at the end. NULL has none.
 */
bool pm_node_inx_has(const int32_t *pairs, int32_t index);

/*
 * Calls `visit` with each node of the partitions in a comma list, once for each node, though
 * partitions may share it.
 */
typedef void pm_partition_visit(void *context, const node_info_t *node);
void pm_partition_nodes_each(const struct pm_cluster *cluster, const char *partitions,
	pm_partition_visit *visit, void *context);

#endif
