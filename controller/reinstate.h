/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REINSTATE_H
#define PM_REINSTATE_H

/*
 * Reinstatement. A job is kept from the nodes that rejected it. It gets these nodes back while it
 * waits, if the other nodes cannot serve it: they have left service since, or they lack something
 * that only Slurm knows, such as memory or GRES.
 */
#include "controller/rejected_jobs.h"

/* Seconds that enough other nodes are idle before a job that waits for nodes gets its own back. */
#define PM_REINSTATE_IDLE_S 60

/* Jobs of which one scan counts the candidate nodes; the next scan continues behind them. */
#define PM_REINSTATE_JOBS_MAX 64

/*
 * True if a pending job with exclusions of the service gets its nodes back: Slurm says that it can
 * never run, or too few other nodes are in service, or enough of them have been idle for
 * PM_REINSTATE_IDLE_S while Slurm has it wait for nodes. The caller keeps `*idle_since`, in seconds
 * since 1970, from scan to scan; it is 0 at the first.
 */
bool pm_reinstate_is_due(const struct pm_cluster *cluster, const slurm_job_info_t *job, time_t now,
	uint64_t *idle_since);

/*
 * Call it only with a new table of jobs: an older one shows lists that the service has changed
 * since.
 */
void pm_reinstate_scan(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster);

#endif
