/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_JOB_UPDATE_H
#define PM_JOB_UPDATE_H

/*
 * Changes of pending jobs. Both begin with slurm_init_job_desc_msg() by the caller, and return 0,
 * -ENOMEM, or -EIO after "job 17: `what`: Slurm's words" on stderr; a job that has started or ended
 * meanwhile is none to speak of.
 */
#include <slurm/slurm.h>
#include <stddef.h>

int pm_job_update(const slurm_job_info_t *job, job_desc_msg_t *update, const char *what);

/*
 * The first `n` tasks of an array's record: each gets a record of its own, as at its start.
 * -EINVAL: the record is of a single task.
 */
int pm_job_update_tasks(
	const slurm_job_info_t *job, size_t n, job_desc_msg_t *update, const char *what);

#endif
