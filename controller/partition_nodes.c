/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/partition_nodes.h"

#include <string.h>

#include "controller/node_features.h"

bool pm_node_inx_has(const int32_t *pairs, int32_t index)
{
	for (; pairs && pairs[0] >= 0; pairs += 2)
		if (index >= pairs[0] && index <= pairs[1])
			return true;
	return false;
}

/* True if one of the first `n` partitions is in the list and has the node. */
static bool is_visited(
	const struct pm_cluster *cluster, const char *partitions, uint32_t n, int32_t index)
{
	for (uint32_t p = 0; p < n; p++) {
		const partition_info_t *partition = &cluster->partitions->partition_array[p];

		if (pm_features_have(partitions, partition->name) &&
			pm_node_inx_has(partition->node_inx, index))
			return true;
	}
	return false;
}

void pm_partition_nodes_each(const struct pm_cluster *cluster, const char *partitions,
	pm_partition_visit *visit, void *context)
{
	const node_info_msg_t *nodes = cluster->nodes;
	bool several = strchr(partitions, ',') != NULL;

	for (uint32_t p = 0; p < cluster->partitions->record_count; p++) {
		const partition_info_t *partition = &cluster->partitions->partition_array[p];

		if (!pm_features_have(partitions, partition->name))
			continue;
		for (const int32_t *pair = partition->node_inx; pair && pair[0] >= 0; pair += 2)
			for (int32_t i = pair[0]; i <= pair[1] && (uint32_t)i < nodes->record_count;
				i++)
				if (!several || !is_visited(cluster, partitions, p, i))
					visit(context, &nodes->node_array[i]);
	}
}
