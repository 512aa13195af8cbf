/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/candidates.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/hostlist.h"
#include "base/strv.h"
#include "controller/modes_file.h"
#include "controller/node_features.h"
#include "controller/waiters.h"
#include "site/modes.h"

bool pm_node_has(const node_info_t *node, const char *constraint, bool modes_only)
{
	cleanup_with(pm_strv_cleanup) char **asked =
		pm_strv_split(constraint ? constraint : "", PM_CONSTRAINT_OPERATORS);
	cleanup_with(pm_strv_cleanup) char **had =
		pm_strv_split(node->features ? node->features : "", ",");

	for (char **name = asked; name && *name; name++)
		if ((!modes_only || pm_mode_by_feature(*name)) && !pm_strv_contains(had, *name))
			return false;
	return asked && had;
}

static bool is_named(const char *list, const char *name)
{
	bool found = false;

	return list && *list && !pm_hostlist_contains(list, name, &found, NULL) && found;
}

/*
 * Nodes out of service are not candidates: a job that may run only on such nodes would wait for an
 * administrator.
 */
static bool is_in_service(const slurm_job_info_t *job, const node_info_t *node)
{
	const uint32_t reserved = NODE_STATE_RES | NODE_STATE_MAINT;
	bool has_reservation = job->resv_name && *job->resv_name;

	return pm_node_readiness(node->node_state) != PM_UNUSABLE &&
	       !(node->node_state & NODE_STATE_DRAIN) &&
	       (has_reservation || !(node->node_state & reserved));
}

/*
 * A candidate has each feature of the constraint, even those of alternatives, of which one would
 * do. So candidates may be too few: then no node is excluded, and the job is held in the end. If
 * they were too many, Slurm would find no node for the job and hold it at once. If -w names only a
 * part of the allocation, Slurm chooses the other nodes.
 */
static bool is_candidate(
	const slurm_job_info_t *job, const node_info_t *node, const char *excluded, bool modes_only)
{
	cleanup_with(pm_strv_cleanup) char **required =
		job->req_nodes ? pm_cluster_names(job->req_nodes) : NULL;

	if (!is_in_service(job, node) || is_named(excluded, node->name) ||
		!pm_node_has(node, job->features, modes_only))
		return false;
	return !required || !*required || pm_strv_length(required) < job->num_nodes ||
	       pm_strv_contains(required, node->name);
}

/* The record of a pending job names all partitions that it may run in. */
static bool is_in_its_partitions(
	const struct pm_cluster *cluster, char **names, const node_info_t *node)
{
	for (uint32_t i = 0; cluster->partitions && i < cluster->partitions->record_count; i++) {
		const partition_info_t *partition = &cluster->partitions->partition_array[i];

		if (pm_strv_contains(names, partition->name) &&
			is_named(partition->nodes, node->name))
			return true;
	}
	return false;
}

void pm_candidates_each(const struct pm_cluster *cluster, const slurm_job_info_t *job,
	const char *excluded, bool modes_only, pm_candidate_visit *visit, void *context)
{
	cleanup_with(pm_strv_cleanup) char **partitions =
		pm_strv_split(job->partition ? job->partition : "", ",");

	for (uint32_t i = 0; i < cluster->n_by_name; i++) {
		const node_info_t *node = cluster->by_name[i];

		if (is_in_its_partitions(cluster, partitions, node) &&
			is_candidate(job, node, excluded, modes_only))
			visit(context, node);
	}
}

static void count(void *context, const node_info_t *node)
{
	struct pm_candidates *candidates = context;

	candidates->in_service++;
	candidates->idle += pm_node_is_idle(node->node_state);
}

struct pm_candidates pm_candidates_count(const struct pm_cluster *cluster,
	const slurm_job_info_t *job, const char *excluded, bool modes_only)
{
	struct pm_candidates candidates = {0};

	pm_candidates_each(cluster, job, excluded, modes_only, count, &candidates);
	return candidates;
}

unsigned pm_candidates_needed(const slurm_job_info_t *job)
{
	return job->num_nodes ? job->num_nodes : 1;
}
