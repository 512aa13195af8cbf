/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/memory_sizes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "controller/node_features.h"

#define PERCENT "node_reg_mem_percent="

double pm_reg_mem_percent(const char *slurmctld_parameters)
{
	const char *at = slurmctld_parameters ? strstr(slurmctld_parameters, PERCENT) : NULL;
	char *end;
	double percent;

	if (!at)
		return 100;
	percent = strtod(at + strlen(PERCENT), &end);
	return end != at + strlen(PERCENT) && percent >= 0 ? percent : 100;
}

/* Of the modes that the node can have, and for which the site has a size. */
struct sizes {
	const struct pm_mode_info *largest, *least;
	uint64_t largest_mib, least_mib;
};

static struct sizes sizes_of(const struct pm_config *config, const node_info_t *node)
{
	struct sizes sizes = {0};

	pm_mode_foreach(row) {
		uint64_t mib = config->usable_memory_bytes[row->mode] >> 20;

		if (!mib || !pm_config_allows(config, row->mode) ||
			!pm_node_can_be(node, row->feature))
			continue;
		if (!sizes.largest || mib > sizes.largest_mib) {
			sizes.largest = row;
			sizes.largest_mib = mib;
		}
		if (!sizes.least || mib < sizes.least_mib) {
			sizes.least = row;
			sizes.least_mib = mib;
		}
	}
	return sizes;
}

static void warn_of_real_memory(const node_info_t *node, const struct sizes *sizes)
{
	fprintf(stderr,
		"RealMemory=%llu of %s is below UsableMemory=%s:%lluM: Slurm refuses jobs in that "
		"mode that ask for all memory; write the largest of UsableMemory as RealMemory\n",
		(unsigned long long)node->real_memory, node->name, sizes->largest->name,
		(unsigned long long)sizes->largest_mib);
}

static void warn_of_percent(const node_info_t *node, const struct sizes *sizes, double percent)
{
	fprintf(stderr,
		"node_reg_mem_percent=%.0f lets %s register with %.0fM or more, but it has about "
		"%lluM in mode %s: Slurm would drain it there (Low RealMemory); write "
		"node_reg_mem_percent=5 into SlurmctldParameters\n",
		percent, node->name, (double)node->real_memory * percent / 100,
		(unsigned long long)sizes->least_mib, sizes->least->name);
}

/* One node of each kind of fault is named: most sites have many alike. */
void pm_warn_of_memory_sizes(const struct pm_cluster *cluster, const struct pm_config *config)
{
	node_info_msg_t *nodes = NULL;
	double percent = pm_reg_mem_percent(cluster->slurmctld_params);
	bool told_memory = false, told_percent = false;

	if (slurm_load_node(0, &nodes, PM_CLUSTER_SHOWN))
		return; /* the service asks again, and tells */
	for (uint32_t i = 0; i < nodes->record_count; i++) {
		const node_info_t *node = &nodes->node_array[i];
		struct sizes sizes = sizes_of(config, node);

		if (!node->name || !sizes.largest)
			continue;
		if (!told_memory && node->real_memory < sizes.largest_mib) {
			warn_of_real_memory(node, &sizes);
			told_memory = true;
		}
		if (!told_percent &&
			(double)sizes.least_mib < (double)node->real_memory * percent / 100) {
			warn_of_percent(node, &sizes, percent);
			told_percent = true;
		}
	}
	slurm_free_node_info_msg(nodes);
}
