/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/cancel.h"

#include <errno.h>
#include <slurm/spank.h>
#include <stdio.h>
#include <time.h>

#include "base/cleanup.h"
#include "spank_plugin/allocation.h"
#include "spank_plugin/command.h"
#include "spank_plugin/node.h"

/*
 * slurmctld sends the message and the job's end to the client independently: wait so that the
 * message arrives first.
 */
static void let_message_arrive(void)
{
	const struct timespec second = {.tv_sec = 1};

	nanosleep(&second, NULL);
}

/* Without a client ('salloc --no-shell') only the log has the sentence. */
static void notify_user(
	const struct pm_config *config, const char *id, const char *sentence, unsigned timeout_ms)
{
	cleanup_free char *node = pm_node_name();
	struct pm_err words = {0}, err = {0};
	const char *argv[] = {config->scontrol_path, "notify", id, words.text, NULL};

	pm_err_set(&words, -ECANCELED, "pm: %s: %s, so job %s ends", node ? node : "a node",
		sentence, id);
	if (pm_command(argv, timeout_ms, &err))
		slurm_error("pm: tell the user of job %s: %s", id, err.text);
	else
		let_message_arrive();
}

static int scancel(
	const struct pm_config *config, const char *id, unsigned timeout_ms, struct pm_err *err)
{
	const char *argv[] = {config->scancel_path, id, NULL};

	return pm_command(argv, timeout_ms, err);
}

int pm_job_cancel(const struct pm_config *config, uint32_t job_id, const char *sentence,
	unsigned timeout_ms, struct pm_err *err)
{
	struct pm_allocation job = {.is_alive = true, .leader = job_id};
	struct pm_err unasked = {0};
	int rc;

	/* If squeue fails scancel may still work, with the id. */
	snprintf(job.name, sizeof(job.name), "%u", (unsigned)job_id);
	rc = pm_allocation_ask(config, job_id, timeout_ms, &job, &unasked);
	if (rc == -ESRCH || !job.is_alive)
		return 0;
	if (job.leader != job_id)
		snprintf(job.name, sizeof(job.name), "%u", (unsigned)job.leader);
	notify_user(config, job.name, sentence, timeout_ms);
	rc = scancel(config, job.name, timeout_ms, err);
	return rc && pm_job_is_alive(config, job_id, timeout_ms) ? rc : 0;
}
