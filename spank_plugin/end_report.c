/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/end_report.h"

#include <slurm/slurm.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "spank_plugin/command.h"
#include "spank_plugin/job_output.h"
#include "spank_plugin/option.h"
#include "spank_plugin/settings.h"

/* Of pmctl, which gives pm-controller ten. */
#define TIMEOUT_MS 15000

/* srun and salloc: nodes send their part after their clean-up. */
#define WAIT_S	  "15"
#define CLIENT_MS 40000

static bool is_batch;

/* --- a batch script --- */

static bool is_asked_of_step(spank_t sp)
{
	char value[16];

	if (pm_option_given(PM_OPTION_JOB_REPORT))
		return true;
	return spank_getenv(sp, pm_option_info(PM_OPTION_JOB_REPORT)->twin, value, sizeof(value)) ==
		       ESPANK_SUCCESS &&
	       *value && strcmp(value, "0") != 0;
}

void pm_end_report_prepare(spank_t sp)
{
	uint32_t id;

	is_batch = spank_get_item(sp, S_JOB_STEPID, &id) == ESPANK_SUCCESS &&
		   id == SLURM_BATCH_SCRIPT && is_asked_of_step(sp);
	if (is_batch)
		pm_job_output_prepare();
}

void pm_end_report_of_batch(spank_t sp, int ac, char **av)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	cleanup_with(pm_output_done) struct pm_output output = {0};
	cleanup_close int fd = is_batch ? pm_job_output_take() : -1;
	uint32_t job_id;
	char job[16];
	struct pm_err err;

	if (fd < 0 || spank_get_item(sp, S_JOB_ID, &job_id) != ESPANK_SUCCESS)
		return;
	snprintf(job, sizeof(job), "%u", job_id);
	if (pm_settings_load(ac, av, &config, &err) ||
		pm_command_output((const char *[]){config.pmctl_path, "report", job, NULL},
			TIMEOUT_MS, &output, &err))
		slurm_spank_log("pm: --pm-report: %s", err.text);
	else
		pm_job_output_write(sp, fd, output.out);
}

/* --- srun and salloc --- */

static struct {
	bool is_asked;
	char *before; /* SLURM_JOB_ID when it started: it runs in that job */
} client;

static bool is_asked_of_client(void)
{
	const char *twin = pm_option_twin(PM_OPTION_JOB_REPORT);

	return pm_option_given(PM_OPTION_JOB_REPORT) || (twin && strcmp(twin, "0") != 0);
}

void pm_end_report_ask(void)
{
	const char *job = getenv("SLURM_JOB_ID");

	client.is_asked |= is_asked_of_client();
	if (job && !client.before)
		client.before = strdup(job);
}

static void print_report(const char *job, int ac, char **av)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	cleanup_with(pm_output_done) struct pm_output output = {0};
	const char *file = pm_settings_file(ac, av);
	cleanup_free char *word = file ? pm_asprintf("--config=%s", file) : NULL;
	struct pm_err err;

	if (pm_settings_load(ac, av, &config, &err) ||
		pm_command_output((const char *[]){config.pmctl_path, "report", "--wait=" WAIT_S,
					  job, word, NULL},
			CLIENT_MS, &output, &err))
		slurm_error("pm: --pm-report: %s", err.text);
	else
		(void)fputs(output.out, stderr);
}

/* srun and salloc have read slurm.conf into this; slurm.h has the type, but no header the object.
 */
extern slurm_conf_t slurm_conf __attribute__((weak));

/*
 * pmctl would ask this cluster's pm-controller, which may have another job of this number. srun and
 * salloc put the name of the job's cluster into their own environment, which differs with -M, and
 * for a federation's job that another cluster runs.
 */
static bool is_on_another_cluster(void)
{
	const char *name = getenv("SLURM_CLUSTER_NAME");

	return name && &slurm_conf && slurm_conf.cluster_name &&
	       strcasecmp(name, slurm_conf.cluster_name) != 0;
}

static void print_or_refuse(const char *job, int ac, char **av)
{
	if (is_on_another_cluster())
		slurm_spank_log(
			"pm: --pm-report: job %s is on another cluster, ask 'pmctl report %s' "
			"there",
			job, job);
	else
		print_report(job, ac, av);
}

/* Both put their job's number into their own environment; sbatch does not, and has none. */
void pm_end_report_of_client(int ac, char **av)
{
	const char *job = getenv("SLURM_JOB_ID");

	if (client.is_asked && job && (!client.before || strcmp(client.before, job) != 0))
		print_or_refuse(job, ac, av);
	client.is_asked = false;
}
