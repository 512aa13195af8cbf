/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REJECTION_H
#define PM_REJECTION_H

/* Rejections: a node's refusal to run a job that it cannot serve. */
#include "controller/rejected_jobs.h"
#include "protocol/message.h"

/*
 * Handles the message of a node that rejects a job. *ret_done is set to true if the node has
 * nothing more to do: the job was requeued, with nodes excluded or with a hold and its cause in
 * AdminComment; or the job is over or held already. Else the job is left as it is, and the node
 * requeues or cancels it. -ESRCH: the job does not run on that node; -EIO: slurmctld refused.
 */
int pm_rejection_handle(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster,
	const struct pm_message *message, unsigned limit, bool *ret_done, struct pm_err *err);

/*
 * Sets a user hold, which the job's owner may release (ALLOC_SID_USER_HOLD). NULL leaves
 * AdminComment as it is. -EIO.
 */
int pm_job_hold(const slurm_job_info_t *job, char *admin_comment, struct pm_err *err);

/*
 * Requeues the job, of an array this task alone. `flags` are those of slurm_requeue(). 0 also if it
 * is in the queue already. -EIO.
 */
int pm_job_back_to_queue(const slurm_job_info_t *job, uint32_t flags, struct pm_err *err);

/*
 * Sets the job's ExcNodeList; "" for none. The update makes slurmctld test a pending job again,
 * even one that it holds because no node satisfies the constraint. -EIO.
 */
int pm_job_exclude(const slurm_job_info_t *job, char *nodes, struct pm_err *err);

#endif
