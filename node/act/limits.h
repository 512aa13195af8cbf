/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_LIMITS_H
#define PM_AGENT_LIMITS_H

/*
 * How much of a region's file system jobs may use, in bytes and in files.
 *
 * A job with a size may use that size, and a file for each 64 KiB of it, at least 4096. A job
 * without a size may use all bytes that are not promised to jobs with a size, less a 64th of the
 * file system, and half of the files. A user may own as much as his jobs may use together, and next
 * to nothing when he has no job left: this limit holds whatever projects he moves his files to.
 * Limits for the project of each job exist only for a user with several jobs, to keep these apart.
 * Another user can fill such a project while a job of his own runs, by moving his files into it.
 * Trash of a user's earlier jobs is not counted.
 */
#include <stdbool.h>

#include "node/operation.h"
#include "node/state/jobs.h"

/* The jobs with a directory in this boot: the jobs of the records, and `job` if `with_job`. */
struct pm_tenants {
	const struct pm_jobs *jobs;
	const char *boot_id;
	const struct pm_job *job; /* may be NULL */
	bool with_job;		  /* `job` begins and has used nothing yet; else it ends */
};

/* The number of these jobs. */
size_t pm_limits_tenants(const struct pm_tenants *tenants);

/*
 * Sets the limits of every user who has a job on the file system, and of `job` and its user. Errors
 * as pm_quota_set(). On a file system without user quota only projects have limits.
 */
int pm_limits_set(int root_fd, const struct pm_tenants *tenants, struct pm_err *err);

/* The bytes that these jobs were promised and have not used. */
int pm_limits_promised(
	int root_fd, const struct pm_tenants *tenants, uint64_t *ret_bytes, struct pm_err *err);

#endif
