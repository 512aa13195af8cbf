/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/usable_nodes.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "controller/candidates.h"
#include "controller/node_features.h"
#include "controller/overview.h"
#include "controller/partition_nodes.h"

/* Idle nodes in the job's mode that it may take, and of its required nodes those that are so. */
struct usable {
	const struct pm_cluster *cluster;
	const slurm_job_info_t *job;
	enum pm_mode mode;
	unsigned idle, required, required_idle;
};

static void count(void *context, const node_info_t *node)
{
	struct usable *usable = context;
	const slurm_job_info_t *job = usable->job;
	int32_t index = (int32_t)(node - usable->cluster->nodes->node_array);
	bool required = pm_node_inx_has(job->req_node_inx, index);
	bool idle = pm_node_use(node->node_state) == PM_NODE_IDLE &&
		    pm_mode_of_feature(pm_node_feature(node)) == usable->mode &&
		    !pm_node_inx_has(job->exc_node_inx, index) &&
		    pm_node_has(node, job->features, /* modes_only= */ false);

	usable->idle += idle;
	usable->required += required;
	usable->required_idle += required && idle;
}

static bool names_nodes(const slurm_job_info_t *job)
{
	bool modes_alone = pm_mode_by_feature(job->features) != NULL;

	return !modes_alone || (job->req_node_inx && job->req_node_inx[0] >= 0) ||
	       (job->exc_node_inx && job->exc_node_inx[0] >= 0);
}

unsigned pm_usable_nodes(const struct pm_cluster *cluster, const slurm_job_info_t *job,
	enum pm_mode mode, unsigned needed)
{
	struct usable usable = {.cluster = cluster, .job = job, .mode = mode};
	unsigned missing, others;

	if (!names_nodes(job))
		return UINT_MAX;
	pm_partition_nodes_each(cluster, job->partition, count, &usable);
	missing = usable.required - usable.required_idle;
	others = needed > missing ? needed - missing : 0;
	return usable.idle < others ? usable.idle : others;
}
