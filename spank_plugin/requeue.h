/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REQUEUE_H
#define PM_REQUEUE_H

#include <stdint.h>

#include "base/err.h"
#include "site/config.h"

/*
 * Requeues a batch job; Slurm refuses others. Of an array only this task. 0 also if another of its
 * nodes requeued it before, or if the job is over.
 */
int pm_job_requeue(
	const struct pm_config *config, uint32_t job_id, unsigned timeout_ms, struct pm_err *err);

#endif
