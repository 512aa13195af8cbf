/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/holds.h"

#include <errno.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/list.h"
#include "base/strv.h"
#include "controller/candidates.h"
#include "controller/modes_file.h"
#include "controller/slurm_api.h"
#include "site/features.h"

static bool is_held(const slurm_job_info_t *job)
{
	return pm_job_is_pending(job) && !job->priority &&
	       job->state_reason == FAIL_BAD_CONSTRAINTS;
}

static bool names_its_nodes(const slurm_job_info_t *job)
{
	return job->req_nodes && *job->req_nodes;
}

static bool named_nodes_have_modes(const struct pm_cluster *cluster, const slurm_job_info_t *job)
{
	cleanup_with(pm_strv_cleanup) char **names = pm_cluster_names(job->req_nodes);

	for (char **name = names; name && *name; name++) {
		const node_info_t *node = pm_cluster_node(cluster, *name);

		if (!node || !pm_node_has(node, job->features, /* modes_only= */ true))
			return false;
	}
	return names && *names;
}

static bool enough_nodes_have_modes(const struct pm_cluster *cluster, const slurm_job_info_t *job)
{
	struct pm_candidates count =
		pm_candidates_count(cluster, job, job->exc_nodes, /* modes_only= */ true);

	return count.in_service >= pm_candidates_needed(job);
}

bool pm_hold_is_mistaken(const struct pm_cluster *cluster, const slurm_job_info_t *job)
{
	if (!is_held(job) || !pm_features_may_be_ours(job->features))
		return false;
	return names_its_nodes(job) ? named_nodes_have_modes(cluster, job)
				    : enough_nodes_have_modes(cluster, job);
}

/*
 * Without required nodes it is enough that nodes have the mode, busy or not: slurmctld did not know
 * their modes when it held the job.
 */
static bool named_nodes_are_idle(const struct pm_cluster *cluster, const slurm_job_info_t *job)
{
	if (!names_its_nodes(job))
		return true;

	cleanup_with(pm_strv_cleanup) char **names = pm_cluster_names(job->req_nodes);

	for (char **name = names; name && *name; name++) {
		const node_info_t *node = pm_cluster_node(cluster, *name);

		if (!node || !pm_node_is_idle(node->node_state))
			return false;
	}
	return names;
}

static struct pm_hold *find(struct pm_holds *holds, uint32_t job_id)
{
	struct pm_hold *hold;

	for (size_t i = 0; i < holds->n; i++)
		if (holds->list[i].job_id == job_id)
			return &holds->list[i];
	hold = pm_list_next(&holds->list, holds->n, sizeof(*hold));
	if (!hold)
		return NULL;
	*hold = (struct pm_hold){job_id, 0, PM_HOLD_FIRST_PAUSE_MS, false};
	holds->n++;
	return hold;
}

static void send_empty_update(const slurm_job_info_t *job)
{
	job_desc_msg_t nothing;

	slurm_init_job_desc_msg(&nothing);
	pm_slurm_set_job(&nothing, job->job_id);
	if (slurm_update_job(&nothing))
		fprintf(stderr, "job %u: have slurmctld look again: %s\n", job->job_id,
			slurm_strerror(errno));
	else if (names_its_nodes(job))
		fprintf(stderr, "job %u: held for '%s', which is idle now: slurmctld looks again\n",
			job->job_id, job->req_nodes);
	else
		fprintf(stderr,
			"job %u: held, though enough nodes have its mode: slurmctld looks again\n",
			job->job_id);
}

/* True if the job was updated. */
static bool update_if_due(
	struct pm_hold *hold, const struct pm_cluster *cluster, const slurm_job_info_t *job)
{
	uint64_t now_ms = pm_now_ms();

	if (now_ms < hold->after_ms || !named_nodes_are_idle(cluster, job))
		return false;
	send_empty_update(job);
	hold->after_ms = now_ms + hold->pause_ms;
	if (hold->pause_ms < PM_HOLD_MOST_PAUSE_MS)
		hold->pause_ms *= 2;
	return true;
}

/* Removes jobs that this scan did not find held. */
static void forget(struct pm_holds *holds)
{
	size_t kept = 0;

	for (size_t i = 0; i < holds->n; i++) {
		struct pm_hold hold = holds->list[i];

		if (!hold.seen)
			continue;
		hold.seen = false;
		holds->list[kept++] = hold;
	}
	holds->n = kept;
}

void pm_holds_look(struct pm_holds *holds, const struct pm_cluster *cluster)
{
	unsigned updates = 0;

	for (uint32_t i = 0; cluster->jobs && i < cluster->jobs->record_count; i++) {
		const slurm_job_info_t *job = &cluster->jobs->job_array[i];
		struct pm_hold *hold;

		if (!pm_hold_is_mistaken(cluster, job))
			continue;
		hold = find(holds, job->job_id);
		if (!hold) /* out of memory: the next scan may have some */
			break;
		hold->seen = true;
		if (updates < PM_HOLD_UPDATES_MAX)
			updates += update_if_due(hold, cluster, job);
	}
	forget(holds);
	holds->waited = holds->n > 0;
}

void pm_holds_done(struct pm_holds *holds)
{
	free(holds->list);
	memset(holds, 0, sizeof(*holds));
}
