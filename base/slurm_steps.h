/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_SLURM_STEPS_H
#define PM_SLURM_STEPS_H

/*
 * The steps on this node, by the titles of their slurmstepds: "slurmstepd: [12.batch]" (22.05 to
 * 24.11). slurmstepd sets the title soon after its start. A user's process could take one, and may
 * not see others' processes: so titles may only delay or refuse what the user asks for.
 */
#include <stdbool.h>
#include <stdint.h>

/* True: is_wanted() was, for a step of job_id; `step` is "batch", "extern", "0". */
bool pm_slurm_steps_any(
	bool (*is_wanted)(void *context, uint32_t job_id, const char *step), void *context);

#endif
