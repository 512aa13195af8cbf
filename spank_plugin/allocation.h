/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ALLOCATION_H
#define PM_ALLOCATION_H

/*
 * What Slurm has given a job, asked of squeue by columns that hold numbers and words of Slurm's
 * alone. Never of what 'scontrol show job' prints: a job's name, comment, account and directories
 * are its user's, may hold line breaks, and stand among the fields there.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "site/config.h"

struct pm_allocation {
	bool is_alive;	  /* has nodes that it may still use */
	bool whole_nodes; /* no other job is given a part of its nodes */
	bool is_batch;	  /* a script, which Slurm can start again */
	unsigned nodes;
	uint32_t leader;       /* of its components; its own number if it has none */
	char name[34];	       /* "8_1" for a task of an array, else its number: the last task has
				* the number of its array, which is all tasks for Slurm's tools */
	bool all_memory;       /* it asked for no size, or for all */
	uint64_t memory_bytes; /* on each of its nodes, on average; 0: Slurm does not hand out
				* memory, and the job asked for none */
	char submitted[32];    /* "2026-01-31T12:34:56", also when it was requeued last */
	char run[64];	       /* differs between the runs of a job that was requeued */
};

/* -ESRCH: Slurm has forgotten the job. Others: Slurm does not answer. On failure *ret is untouched.
 */
int pm_allocation_ask(const struct pm_config *config, uint32_t job_id, unsigned timeout_ms,
	struct pm_allocation *ret, struct pm_err *err);

/* Does the job's constraint name a mode? As with pm_allocation_ask(). */
int pm_allocation_has_mode(const struct pm_config *config, uint32_t job_id, unsigned timeout_ms,
	bool *ret, struct pm_err *err);

/*
 * Has a job without a mode, another than this one, a part of this node? Slurm is asked for all
 * jobs, so not more often than must be. When it does not answer, there may be one.
 */
bool pm_allocation_beside(const struct pm_config *config, uint32_t job_id, unsigned timeout_ms);

/*
 * Has this job nodes that it may still use? A job that Slurm has forgotten has none. When Slurm
 * does not answer, it may have.
 */
bool pm_job_is_alive(const struct pm_config *config, uint32_t job_id, unsigned timeout_ms);

#endif
