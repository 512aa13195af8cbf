/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/requeue.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "protocol/job_id.h"
#include "spank_plugin/allocation.h"
#include "spank_plugin/command.h"

#define STEP_MS 500

#define IS_BACK "Job is pending execution" /* slurm_strerror() of ESLURM_JOB_PENDING */

static bool is_back(int rc, const struct pm_err *words)
{
	return rc == PM_COMMAND_SAID_NO && strstr(words->text, IS_BACK);
}

/*
 * In a federation the cluster where the job was submitted decides. It hears of the job's start a
 * moment after us: until then the job is pending to it.
 */
static int requeue_federated(const struct pm_config *config, uint32_t job_id,
	const char *const *argv, unsigned timeout_ms, struct pm_err *words)
{
	int rc = pm_command(argv, timeout_ms, words);

	for (unsigned ms = 0; is_back(rc, words) && ms < PM_FEDERATION_UNHEARD_MS; ms += STEP_MS) {
		if (!pm_job_is_alive(config, job_id, timeout_ms))
			return 0;
		pm_pause_ms(STEP_MS);
		rc = pm_command(argv, timeout_ms, words);
	}
	return rc;
}

/*
 * "Incomplete": without it Slurm also requeues a job that was cancelled in the meantime. In a
 * federation, with it Slurm requeues nothing and reports success: controller/rejection.c.
 */
static int requeue(const struct pm_config *config, uint32_t job_id, const char *name,
	unsigned timeout_ms, struct pm_err *words)
{
	const char *with[] = {config->scontrol_path, "requeue", "Incomplete", name, NULL};
	const char *without[] = {config->scontrol_path, "requeue", name, NULL};
	int rc;

	if (pm_job_id_is_federated(job_id))
		return requeue_federated(config, job_id, without, timeout_ms, words);
	rc = pm_command(with, timeout_ms, words);
	return is_back(rc, words) ? 0 : rc;
}

int pm_job_requeue(
	const struct pm_config *config, uint32_t job_id, unsigned timeout_ms, struct pm_err *err)
{
	struct pm_allocation job = {0};
	struct pm_err words = {0};
	int rc;

	/* If squeue fails scontrol may still work, with the id. */
	snprintf(job.name, sizeof(job.name), "%u", (unsigned)job_id);
	(void)pm_allocation_ask(config, job_id, timeout_ms, &job, &words);
	rc = requeue(config, job_id, job.name, timeout_ms, &words);
	return rc ? pm_err_set(err, rc, "%s", words.text) : 0;
}
