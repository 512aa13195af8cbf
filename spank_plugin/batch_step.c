/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/batch_step.h"

#include <string.h>

#include "base/slurm_steps.h"

static bool is_batch_step(void *context, uint32_t job_id, const char *step)
{
	const uint32_t *wanted = context;

	return job_id == *wanted && !strcmp(step, "batch");
}

bool pm_batch_step_exists(uint32_t job_id)
{
	return pm_slurm_steps_any(is_batch_step, &job_id);
}
