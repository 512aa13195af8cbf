/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REINSTATE_H
#define PM_REINSTATE_H

/*
 * A job that nodes have turned away is kept from these nodes. It gets them back while it waits when
 * the other nodes cannot serve it: they have left service since, or they lack something that only
 * Slurm knows, as memory or GRES.
 */
#include "controller/rejected_jobs.h"

/* So long Slurm may leave enough idle nodes to a job that waits for nodes. */
#define PM_REINSTATE_IDLE_S 60

/* Counts nodes for so many jobs in one look; the next look goes on behind them. */
#define PM_REINSTATE_JOBS_MAX 64

/*
 * Is a job that waits with our exclusions to have its nodes back? So it is when Slurm says that it
 * can never run, or too few of the others are in service, or enough of them have been idle for
 * PM_REINSTATE_IDLE_S while Slurm had it wait for nodes. `*idle_since` is kept by the caller from
 * look to look; 0 at the first.
 */
bool pm_reinstate_is_due(const struct pm_cluster *cluster, const slurm_job_info_t *job, time_t now,
	uint64_t *idle_since);

/* To be called when the table of jobs is new: an older one shows lists that we have changed. */
void pm_reinstate_scan(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster);

#endif
