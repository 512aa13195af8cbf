/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_NODE_JOB_USE_H
#define PM_NODE_JOB_USE_H

/*
 * The file of a job's use of this node (protocol/job_use.h): RunDir/use/ID.json while the job runs,
 * StateDir/used/ID.json from its end until pm-controller has it; both for root alone. Writers hold
 * RunDir/use.lock. Nothing depends on these files: no failure here fails a job.
 */
#include <stdint.h>

#include "base/err.h"
#include "node/state/jobs.h"
#include "protocol/job_use.h"
#include "site/config.h"

/* Starts the file of a job that has begun here. That of the same run stays as it is. */
int pm_use_begin(const struct pm_config *config, const struct pm_job *job, uint64_t setup_ms,
	struct pm_err *err);

/*
 * Looks at what the job uses now, and keeps the highest values: of its memory cgroup, and of its
 * directories, by their quota. -ENOENT: the job has no file.
 */
int pm_use_look(const struct pm_config *config, uint32_t job_id, struct pm_err *err);

/* Moves the file to StateDir. -ENOENT: the job has none. */
int pm_use_end(
	const struct pm_config *config, uint32_t job_id, uint64_t cleanup_ms, struct pm_err *err);

/*
 * The file of a job in StateDir. Release with pm_job_use_done(). pm_use_sent() removes it. Errors
 * of base/store.h.
 */
int pm_use_read_ended(const struct pm_config *config, uint32_t job_id, struct pm_job_use *ret,
	struct pm_err *err);
int pm_use_sent(const struct pm_config *config, uint32_t job_id, struct pm_err *err);

/* The same of a job that runs, in RunDir: as of the last look. */
int pm_use_read_running(const struct pm_config *config, uint32_t job_id, struct pm_job_use *ret,
	struct pm_err *err);

/* The jobs with a file in RunDir, or in StateDir (`ended`): at most `max`; the number of them. */
size_t pm_use_list(const struct pm_config *config, bool ended, uint32_t *ret, size_t max);

#endif
