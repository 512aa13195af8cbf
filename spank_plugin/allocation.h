/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ALLOCATION_H
#define PM_ALLOCATION_H

/*
 * A job's allocation, from columns of squeue that hold only numbers and words of Slurm. 'scontrol
 * show job' is not safe: it prints the job's name, comment, account and directories among its
 * fields, and users may write line breaks into these.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "site/config.h"

struct pm_allocation {
	bool is_alive;	  /* it has nodes that it may still use */
	bool whole_nodes; /* no other job gets a part of its nodes */
	bool is_batch;	  /* a batch script, which Slurm can requeue */
	unsigned nodes;
	uint32_t leader; /* job id of the first component; its own id if it has one component */
	char name[34];	 /* "8_1" for a task of an array, else its id. The last task has the array's
			    id, which Slurm's commands take for all tasks */
	bool all_memory; /* it asked for no size, or for all memory */
	uint64_t memory_bytes; /* on each of its nodes, on average; 0: Slurm does not allocate
				  memory, and the job asked for none */
	char submitted[32];    /* "2026-01-31T12:34:56", of its submission or its last requeue */
	char run[64];	       /* differs between the runs of a job that was requeued */
};

/*
 * -ESRCH: Slurm does not know the job any more. Other errors: squeue failed. On failure *ret is
 * untouched.
 */
int pm_allocation_ask(const struct pm_config *config, uint32_t job_id, unsigned timeout_ms,
	struct pm_allocation *ret, struct pm_err *err);

/* *ret is true if the job's constraint names a mode. Errors as with pm_allocation_ask(). */
int pm_allocation_has_mode(const struct pm_config *config, uint32_t job_id, unsigned timeout_ms,
	bool *ret, struct pm_err *err);

/*
 * True if another job, without a mode, has a part of this node, or if squeue fails. slurmctld sends
 * squeue all jobs, so call it only where the answer matters.
 */
bool pm_allocation_beside(const struct pm_config *config, uint32_t job_id, unsigned timeout_ms);

/*
 * True if the job has nodes that it may still use, or if squeue fails. False if Slurm does not know
 * it any more.
 */
bool pm_job_is_alive(const struct pm_config *config, uint32_t job_id, unsigned timeout_ms);

#endif
