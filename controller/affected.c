/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/affected.h"

#include "base/hostlist.h"
#include "controller/partition_nodes.h"

/* The node's place in Slurm's table, by which a job's record has its nodes, too. */
static int32_t index_of(const struct pm_cluster *cluster, const node_info_t *node)
{
	return (int32_t)(node - cluster->nodes->node_array);
}

/* By the index first, as there may be many jobs; the tables may be of different times. */
static bool has_node(const char *list, const int32_t *pairs, int32_t index, const char *name)
{
	bool found = false;

	return list && pm_node_inx_has(pairs, index) &&
	       !pm_hostlist_contains(list, name, &found, NULL) && found;
}

/* The member of the row that the job belongs to; NULL: to none. */
static const char *kind_of(const struct pm_rejected_jobs *rejected, const slurm_job_info_t *job,
	const node_info_t *node, int32_t index)
{
	uint32_t base = job->job_state & JOB_STATE_BASE;

	if (base == JOB_RUNNING || base == JOB_SUSPENDED)
		return has_node(job->nodes, job->node_inx, index, node->name) ? "running" : NULL;
	if (!pm_job_is_pending(job))
		return NULL;
	if (has_node(job->req_nodes, job->req_node_inx, index, node->name))
		return "waiting";
	/* Its rejection has requeued it. */
	return job->restart_cnt && pm_rejected_by(rejected, job, node->name) ? "turned_away" : NULL;
}

/* False: there are enough of this kind. */
static bool add_job(json_object *row, const char *kind, uint32_t job_id)
{
	json_object *list;

	if (!json_object_object_get_ex(row, kind, &list))
		list = pm_json_add_array(row, kind);
	if (json_object_array_length(list) >= PM_AFFECTED_MAX)
		return false;
	json_object_array_add(list, json_object_new_int64(job_id));
	return true;
}

void pm_affected_add(json_object *row, const struct pm_cluster *cluster,
	const struct pm_rejected_jobs *rejected, const node_info_t *node, const uid_t *only)
{
	int32_t index = index_of(cluster, node);
	uint64_t more = 0;

	for (uint32_t i = 0; cluster->jobs && i < cluster->jobs->record_count; i++) {
		const slurm_job_info_t *job = &cluster->jobs->job_array[i];
		const char *kind;

		if (only && job->user_id != *only)
			continue;
		kind = kind_of(rejected, job, node, index);
		more += kind && !add_job(row, kind, job->job_id);
	}
	if (more)
		pm_json_add_u64(row, "more", more);
}
