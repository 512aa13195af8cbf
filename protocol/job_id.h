/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_JOB_ID_H
#define PM_JOB_ID_H

/*
 * Numbers of Slurm's jobs, 22.05 to 24.11. In a federation the upper six bits are the number of the
 * cluster where the job was submitted (FED_MGR_CLUSTER_ID_BEGIN in Slurm's fed_mgr.h).
 */
#include <stdbool.h>
#include <stdint.h>

/* How long a job's own cluster may not know that another has started it. */
#define PM_FEDERATION_UNHEARD_MS 5000

/* The two largest numbers are NO_VAL and INFINITE. */
#define PM_JOB_ID_MAX (UINT32_MAX - 2)

static inline bool pm_job_id_is_federated(uint32_t id)
{
	return id >> 26;
}

#endif
