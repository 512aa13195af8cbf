/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/modes_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "controller/node_features.h"
#include "controller/partition_nodes.h"
#include "site/modes.h"

/*
 * Limit of features of all modes. Modes of the same platform mode share a feature, which counts
 * once.
 */
#define FEATURES_MAX 8

/* Limit of partitions in a reply, as the reply must fit a frame. */
#define LIST_MAX 500

struct counts {
	const char *features[FEATURES_MAX];
	unsigned idle[FEATURES_MAX];
	unsigned could[FEATURES_MAX]; /* idle without the feature, which a reboot brings, or off */
	unsigned nodes[FEATURES_MAX]; /* idle or busy with the feature, and in service */
	size_t n;
};

static struct counts all_features(void)
{
	struct counts counts = {0};

	pm_mode_foreach(row) {
		size_t i = 0;

		while (i < counts.n && strcmp(counts.features[i], row->feature))
			i++;
		if (i == counts.n && i < FEATURES_MAX)
			counts.features[counts.n++] = row->feature;
	}
	return counts;
}

bool pm_node_is_idle(uint32_t node_state)
{
	const uint32_t usable = NODE_STATE_BASE | NODE_STATE_CLOUD | NODE_STATE_PLANNED |
				NODE_STATE_DYNAMIC_NORM | NODE_STATE_POWERED_DOWN;

	return (node_state & NODE_STATE_BASE) == NODE_STATE_IDLE && !(node_state & ~usable);
}

/* True: jobs run there, or could. */
static bool is_in_service(uint32_t node_state)
{
	uint32_t base = node_state & NODE_STATE_BASE;

	return base != NODE_STATE_DOWN && base != NODE_STATE_UNKNOWN &&
	       !(node_state & (NODE_STATE_DRAIN | NODE_STATE_FAIL | NODE_STATE_NO_RESPOND));
}

static void count_node(void *context, const node_info_t *node)
{
	struct counts *counts = context;
	bool idle = pm_node_is_idle(node->node_state), serves = is_in_service(node->node_state);

	if (!node->name)
		return;
	for (size_t i = 0; i < counts->n; i++) {
		bool has = !(node->node_state & NODE_STATE_POWERED_DOWN) &&
			   pm_features_have(node->features_act, counts->features[i]);

		counts->idle[i] += idle && has;
		counts->could[i] += idle && !has && pm_node_can_be(node, counts->features[i]);
		counts->nodes[i] += serves && has;
	}
}

static struct counts count_partition(
	const struct pm_cluster *cluster, const partition_info_t *partition)
{
	struct counts counts = all_features();

	pm_partition_nodes_each(cluster, partition->name, count_node, &counts);
	return counts;
}

/* `medians_s`: of reboots into the mode of each feature; 0: not known. */
static void print_partition(FILE *out, const char *name, const struct counts *counts,
	const uint64_t medians_s[FEATURES_MAX])
{
	fprintf(out, "%s", name);
	for (size_t i = 0; i < counts->n; i++)
		fprintf(out, " %s=%u", counts->features[i], counts->idle[i]);
	for (size_t i = 0; i < counts->n; i++)
		fprintf(out, " could:%s=%u", counts->features[i], counts->could[i]);
	for (size_t i = 0; i < counts->n; i++)
		fprintf(out, " nodes:%s=%u", counts->features[i], counts->nodes[i]);
	for (size_t i = 0; i < counts->n; i++)
		if (medians_s[i])
			fprintf(out, " reboot_s:%s=%" PRIu64, counts->features[i], medians_s[i]);
	fprintf(out, "\n");
}

static void print_all(
	FILE *out, const struct pm_cluster *cluster, const struct pm_reboots *reboots, time_t now)
{
	const struct counts features = all_features();
	uint64_t medians_s[FEATURES_MAX] = {0};

	for (size_t i = 0; i < features.n; i++)
		medians_s[i] = pm_reboots_median_s(reboots, features.features[i]);
	fprintf(out, "slurm-pmem-modes 1 %lld\n", (long long)now);
	for (uint32_t i = 0; i < cluster->partitions->record_count; i++) {
		const partition_info_t *partition = &cluster->partitions->partition_array[i];
		struct counts counts = count_partition(cluster, partition);

		print_partition(out, partition->name, &counts, medians_s);
	}
}

char *pm_modes_text(const struct pm_cluster *cluster, const struct pm_reboots *reboots, time_t now)
{
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	if (!out)
		return NULL;
	print_all(out, cluster, reboots, now);
	if (fclose(out)) {
		free(text);
		return NULL;
	}
	return text;
}

static json_object *as_json(const char *name, const struct counts *counts)
{
	json_object *row = json_object_new_object();

	if (!row)
		return NULL;
	pm_json_add_string(row, "partition", name);
	for (size_t i = 0; i < counts->n; i++)
		pm_json_add_u64(row, counts->features[i], counts->idle[i]);
	return row;
}

json_object *pm_modes_list(const struct pm_cluster *cluster)
{
	json_object *list = json_object_new_array();
	uint32_t n = cluster->nodes && cluster->partitions ? cluster->partitions->record_count : 0;

	for (uint32_t i = 0; list && i < n && i < LIST_MAX; i++) {
		const partition_info_t *partition = &cluster->partitions->partition_array[i];
		struct counts counts = count_partition(cluster, partition);

		json_object_array_add(list, as_json(partition->name, &counts));
	}
	return list;
}
