/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REQUEUE_H
#define PM_REQUEUE_H

#include <stdint.h>

#include "base/err.h"
#include "site/config.h"

/*
 * Back to the queue: only batch jobs can be. Of an array this task alone. 0 as well when another of
 * its nodes was faster, or the job is over.
 */
int pm_job_requeue(
	const struct pm_config *config, uint32_t job_id, unsigned timeout_ms, struct pm_err *err);

#endif
