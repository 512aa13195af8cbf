/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_JOB_MEMORY_H
#define PM_AGENT_JOB_MEMORY_H

/*
 * Slurm knows one amount of memory of a node, that of the mode with the most. Here is seen whether
 * what it has handed out exists in the mode that the node is in.
 */
#include "node/act/job.h"

/*
 * Is there memory for the job beside that of the others? -EBUSY with the sentence; who or what is
 * in the way is printed as pm_job_begin() says. The records come first: of two jobs that were sent
 * here at once, the first to begin stays.
 */
int pm_job_memory_check(const struct pm_jobs *jobs, const struct pm_job *job,
	uint64_t existing_bytes, const struct pm_job_request *request, struct pm_err *err);

#endif
