/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CANCEL_H
#define PM_CANCEL_H

/* A job that this node cannot serve, and that cannot go back to the queue. */
#include <stdint.h>

#include "base/err.h"
#include "site/config.h"

/*
 * The client, srun or salloc, prints the sentence, and the job ends on all of its nodes, with all
 * of its components. Slurm starts neither salloc's command nor a task before the prologs of all
 * nodes have ended, so a job that ends during a prolog starts no process. Returns 0 also when the
 * job has already ended. On other errors the job may still start.
 */
int pm_job_cancel(const struct pm_config *config, uint32_t job_id, const char *sentence,
	unsigned timeout_ms, struct pm_err *err);

#endif
