/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/user_hold.h"

#include <stdio.h>

#include "controller/rejection.h"

static bool is_in_queue(const slurm_job_info_t *job)
{
	return pm_job_is_pending(job) && !(job->job_state & JOB_COMPLETING);
}

static void restore_hold(const slurm_job_info_t *job)
{
	struct pm_err err = {0};

	if (pm_job_hold(job, /* admin_comment= */ NULL, &err))
		fprintf(stderr, "%s\n", err.text);
	else
		fprintf(stderr,
			"job %u: slurmctld had restored the user hold as an administrator's; it "
			"is a user hold again\n",
			job->job_id);
}

static void check_job(struct pm_rejected_jobs *rejected, const slurm_job_info_t *job)
{
	if (!pm_rejected_is_held(rejected, job) || !is_in_queue(job))
		return;
	if (!job->priority && job->state_reason == WAIT_HELD)
		restore_hold(job); /* the next scan checks it again */
	else
		pm_rejected_forget(rejected, job->job_id);
}

void pm_user_holds_restore(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster)
{
	for (uint32_t i = 0; cluster->jobs && i < cluster->jobs->record_count; i++)
		check_job(rejected, &cluster->jobs->job_array[i]);
}
