/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/reinstate.h"

#include <stdio.h>

#include "base/cleanup.h"
#include "controller/candidates.h"
#include "controller/rejection.h"

/*
 * A job that waits for its turn, a licence or a time has other reasons, which say nothing about
 * nodes.
 */
static bool waits_for_nodes(const slurm_job_info_t *job)
{
	return job->state_reason == WAIT_RESOURCES || job->state_reason == WAIT_NODE_NOT_AVAIL;
}

static bool are_idle_long_enough(bool are_idle, time_t now, uint64_t *idle_since)
{
	if (!are_idle)
		*idle_since = 0;
	else if (!*idle_since || *idle_since > (uint64_t)now) /* the clock was set back */
		*idle_since = (uint64_t)now;
	return are_idle && (uint64_t)now >= *idle_since + PM_REINSTATE_IDLE_S;
}

bool pm_reinstate_is_due(const struct pm_cluster *cluster, const slurm_job_info_t *job, time_t now,
	uint64_t *idle_since)
{
	unsigned needed = pm_candidates_needed(job);
	struct pm_candidates others;

	if (job->state_reason == FAIL_BAD_CONSTRAINTS)
		return true;
	if (!job->priority) /* a hold of a user or an administrator */
		return false;
	others = pm_candidates_count(cluster, job, job->exc_nodes, /* modes_only= */ false);
	return others.in_service < needed ||
	       are_idle_long_enough(others.idle >= needed && waits_for_nodes(job), now, idle_since);
}

/*
 * The record is written before the update: if the service ends in between, the next service still
 * finds the longer list in the job, and the user's own list in the file.
 */
static void reinstate(struct pm_rejected_jobs *rejected, const slurm_job_info_t *job)
{
	cleanup_free char *excluded = NULL;
	struct pm_err err = {0};

	if (pm_rejected_begin_reinstatement(rejected, job, &excluded, &err) ||
		pm_job_exclude(job, excluded, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return;
	}
	pm_rejected_end_reinstatement(rejected, job);
	fprintf(stderr,
		"job %u: no other node can serve it: gets back those that have turned it away, of "
		"'%s'\n",
		job->job_id, job->exc_nodes);
}

/* True if the job counts for PM_REINSTATE_JOBS_MAX: it has exclusions of the service. */
static bool check_job(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster,
	const slurm_job_info_t *job)
{
	uint64_t before, idle_since;

	if (!pm_job_is_pending(job) || !pm_rejected_has_exclusions(rejected, job))
		return false;
	before = idle_since = pm_rejected_idle_since(rejected, job);
	if (pm_reinstate_is_due(cluster, job, time(NULL), &idle_since))
		reinstate(rejected, job);
	else if (idle_since != before)
		pm_rejected_set_idle_since(rejected, job, idle_since);
	return true;
}

void pm_reinstate_scan(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster)
{
	bool knows_all = cluster->jobs && cluster->nodes && cluster->partitions;
	uint32_t n = knows_all ? cluster->jobs->record_count : 0;
	uint32_t at = rejected->next_look < n ? rejected->next_look : 0;
	unsigned counted = 0;

	for (uint32_t i = 0; i < n && counted < PM_REINSTATE_JOBS_MAX; i++, at = (at + 1) % n)
		counted += check_job(rejected, cluster, &cluster->jobs->job_array[at]);
	rejected->next_look = at;
}
