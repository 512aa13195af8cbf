/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/requeue.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "protocol/job_id.h"
#include "spank_plugin/allocation.h"
#include "spank_plugin/command.h"

#define IS_BACK "Job is pending execution" /* slurm_strerror() of ESLURM_JOB_PENDING */

int pm_job_requeue(
	const struct pm_config *config, uint32_t job_id, unsigned timeout_ms, struct pm_err *err)
{
	struct pm_allocation job = {0};
	struct pm_err words = {0};
	/*
	 * "Incomplete": without it Slurm also requeues a job that was cancelled in the meantime. In
	 * a federation, with it Slurm requeues nothing and reports success: controller/rejection.c.
	 */
	const char *with[] = {config->scontrol_path, "requeue", "Incomplete", job.name, NULL};
	const char *without[] = {config->scontrol_path, "requeue", job.name, NULL};
	int rc;

	/* If squeue fails scontrol may still work, with the id. */
	snprintf(job.name, sizeof(job.name), "%u", (unsigned)job_id);
	(void)pm_allocation_ask(config, job_id, timeout_ms, &job, &words);
	rc = pm_command(pm_job_id_is_federated(job_id) ? without : with, timeout_ms, &words);
	if (!rc || (rc == PM_COMMAND_SAID_NO && strstr(words.text, IS_BACK)))
		return 0;
	return pm_err_set(err, rc, "%s", words.text);
}
