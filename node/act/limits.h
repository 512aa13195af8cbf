/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_LIMITS_H
#define PM_AGENT_LIMITS_H

/*
 * How much of a region's file system jobs may use, in bytes and in files.
 *
 * A job with a size gets that and a file for each 64 KiB of it, at least 4096. Jobs without one
 * may each use what is promised to nobody, less a 64th of the file system, and half of its files.
 * A user may own what his jobs may use together, and next to nothing when no job of his is left:
 * that holds whatever projects he moves his files to. Only a user with several jobs has limits for
 * the project of each as well, which keep these apart: another user who moves files of his own into
 * such a project can fill it, for as long as his job runs. The trash of a user's earlier jobs is
 * not counted.
 */
#include <stdbool.h>

#include "node/operation.h"
#include "node/state/jobs.h"

/* The jobs that have a directory in this boot: those of the records, `job` only if `with_job`. */
struct pm_tenants {
	const struct pm_jobs *jobs;
	const char *boot_id;
	const struct pm_job *job; /* may be NULL */
	bool with_job;		  /* it begins: it has used nothing yet */
};

/* How many are there? */
size_t pm_limits_tenants(const struct pm_tenants *tenants);

/* Sets the limits of every user who has a job there, and of `job` and its user. As pm_quota_set();
 * a file system that was made without quotas of users has those of projects. */
int pm_limits_set(int root_fd, const struct pm_tenants *tenants, struct pm_err *err);

/* The bytes that these jobs were promised and do not use yet. */
int pm_limits_promised(
	int root_fd, const struct pm_tenants *tenants, uint64_t *ret_bytes, struct pm_err *err);

#endif
