/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_BATCH_STEP_H
#define PM_BATCH_STEP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * True if this node has the slurmstepd of the job's batch step, by its title "slurmstepd:
 * [12.batch]" (22.05 to 24.11). slurmstepd sets the title soon after its start. A user's process
 * may have that title too.
 */
bool pm_batch_step_exists(uint32_t job_id);

#endif
