/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CANCEL_H
#define PM_CANCEL_H

/* Cancels a job that this node cannot serve and that cannot be requeued. */
#include <stdint.h>

#include "base/err.h"
#include "site/config.h"

/*
 * Prints the sentence at the job's client, srun or salloc, and cancels the job on all of its nodes,
 * with all of its components. Slurm starts neither salloc's command nor a task before the prologs
 * of all nodes have ended, so a job that is cancelled during a prolog starts no process. 0 also if
 * the job has already ended. After an error the job may still start.
 */
int pm_job_cancel(const struct pm_config *config, uint32_t job_id, const char *sentence,
	unsigned timeout_ms, struct pm_err *err);

#endif
