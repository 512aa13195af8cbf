/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REINSTATE_H
#define PM_REINSTATE_H

/*
 * Reinstatement. The service excludes the nodes that rejected a job. It removes them from the job's
 * excluded nodes while the job waits, if the other nodes cannot serve it: they have left service
 * since, or they lack something that only Slurm knows, such as memory or GRES.
 */
#include "controller/rejected_jobs.h"

/*
 * Reinstatement of a job that waits for nodes is due when enough other nodes were idle for so many
 * seconds.
 */
#define PM_REINSTATE_IDLE_S 60

/* Limit of jobs for which one scan counts candidate nodes; the next scan continues after them. */
#define PM_REINSTATE_JOBS_MAX 64

/*
 * True if reinstatement is due for a pending job with exclusions of the service: Slurm says that
 * the job can never run (BadConstraints); or the job is not held, and too few other nodes are in
 * service, or enough of them have been idle for PM_REINSTATE_IDLE_S while Slurm lets the job wait
 * for nodes. The caller keeps `*idle_since`, in seconds since 1970, from scan to scan; it is 0 at
 * the first.
 */
bool pm_reinstate_is_due(const struct pm_cluster *cluster, const slurm_job_info_t *job, time_t now,
	uint64_t *idle_since);

/*
 * Call it only with a new table of jobs: an older one shows lists that the service has changed
 * since.
 */
void pm_reinstate_scan(struct pm_rejected_jobs *rejected, const struct pm_cluster *cluster);

#endif
