/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "controller/job_update.h"

#include <errno.h>
#include <slurm/slurm_errno.h>
#include <stdio.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "controller/lease_array.h"
#include "controller/slurm_api.h"

static int refused(const slurm_job_info_t *job, const char *what)
{
	if (errno != ESLURM_JOB_NOT_PENDING && errno != ESLURM_ALREADY_DONE)
		fprintf(stderr, "job %u: %s: %s\n", (unsigned)job->job_id, what,
			slurm_strerror(errno));
	return -EIO;
}

int pm_job_update(const slurm_job_info_t *job, job_desc_msg_t *update, const char *what)
{
	pm_slurm_set_job(update, job->job_id);
	return slurm_update_job(update) ? refused(job, what) : 0;
}

int pm_job_update_tasks(
	const slurm_job_info_t *job, size_t n, job_desc_msg_t *update, const char *what)
{
	cleanup_free char *tasks = pm_lease_array_first(job->array_task_str, n);
	cleanup_free char *id =
		tasks ? pm_asprintf("%u_[%s]", (unsigned)job->array_job_id, tasks) : NULL;
	job_array_resp_msg_t *answers = NULL;
	int rc;

	if (!id)
		return -ENOMEM;
	if (!*tasks)
		return -EINVAL;
	update->job_id_str = id;
	rc = slurm_update_job2(update, &answers);
	slurm_free_job_array_resp(answers);
	update->job_id_str = NULL;
	return rc ? refused(job, what) : 0;
}
