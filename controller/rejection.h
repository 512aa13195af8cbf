/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REJECTION_H
#define PM_REJECTION_H

/* What becomes of a job that a node has turned away. */
#include "controller/rejected_jobs.h"
#include "protocol/message.h"

/*
 * Handles the message of a node that rejects a job. *ret_done: the job was requeued, to other
 * nodes, or held as its user would hold it, with why in its AdminComment; else the node is to
 * requeue it. -ESRCH: it does not run on that node.
 */
int pm_rejection_handle(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster,
	const struct pm_message *message, unsigned limit, bool *ret_done, struct pm_err *err);

/* As its user would, who may release it. NULL leaves the comment as it is. */
int pm_job_hold(const slurm_job_info_t *job, char *admin_comment, struct pm_err *err);

/* Makes that its list of excluded nodes; "": none. Slurm looks at the job again, also at one that
 * it holds for a constraint that no node has. */
int pm_job_exclude(const slurm_job_info_t *job, char *nodes, struct pm_err *err);

#endif
