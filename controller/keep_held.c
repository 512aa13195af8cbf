/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/keep_held.h"

#include <stdio.h>

#include "controller/rejection.h"

static bool is_back(const slurm_job_info_t *job)
{
	return (job->job_state & JOB_STATE_BASE) == JOB_PENDING &&
	       !(job->job_state & JOB_COMPLETING);
}

static void hold_anew(const slurm_job_info_t *job)
{
	struct pm_err err = {0};

	if (pm_job_hold(job, /* admin_comment= */ NULL, &err))
		fprintf(stderr, "%s\n", err.text);
	else
		fprintf(stderr,
			"job %u: slurmctld took our hold for an administrator's: it is a "
			"user's again\n",
			job->job_id);
}

static void look_at(struct pm_rejected_jobs *rejected, const slurm_job_info_t *job)
{
	if (!pm_rejected_is_held(rejected, job) || !is_back(job))
		return;
	if (!job->priority && job->state_reason == WAIT_HELD)
		hold_anew(job); /* and seen again at the next look */
	else
		pm_rejected_forget(rejected, job->job_id);
}

void pm_keep_held_look(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster)
{
	for (uint32_t i = 0; cluster->jobs && i < cluster->jobs->record_count; i++)
		look_at(rejected, &cluster->jobs->job_array[i]);
}
