/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_JOB_MEMORY_H
#define PM_AGENT_JOB_MEMORY_H

/*
 * Slurm knows one amount of memory for a node: the amount in the mode that has most. This check
 * compares the memory that Slurm has allocated with the memory that exists in the node's mode.
 */
#include "node/act/job.h"

/*
 * 0: there is memory for the job beside the memory of the others. -EBUSY with the sentence; the
 * holders, or the unrecorded bytes, are printed as described at pm_job_begin(). `existing_bytes`:
 * main memory of the node in the job's mode. Records are checked before the sum of Slurm: of two
 * jobs that Slurm has put here at once, the first to begin stays.
 */
int pm_job_memory_check(const struct pm_jobs *jobs, const struct pm_job *job,
	uint64_t existing_bytes, const struct pm_job_request *request, struct pm_err *err);

#endif
