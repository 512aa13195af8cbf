/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/cleanup.h"
#include "node/state/job_use.h"
#include "node/state/jobview.h"
#include "spank_plugin/command.h"
#include "spank_plugin/contexts.h"
#include "spank_plugin/end_report.h"
#include "spank_plugin/job_output.h"
#include "spank_plugin/option.h"
#include "spank_plugin/task_env.h"
#include "spank_plugin/rank.h"
#include "spank_plugin/refuse.h"
#include "spank_plugin/settings.h"
#include "spank_plugin/step.h"

#define MODE_TIMEOUT_MS 10000

static bool is_component(spank_t sp)
{
	char size[16];

	return spank_getenv(sp, "SLURM_HET_SIZE", size, sizeof(size)) == ESPANK_SUCCESS;
}

/*
 * NULL in a heterogeneous job, where a step inherits the options of another component: see
 * option.h.
 */
static const struct pm_mode_info *wanted_mode(spank_t sp)
{
	return is_component(sp) ? NULL : pm_option_mode();
}

static int compare(const struct pm_mode_info *wanted, const char *is, struct pm_err *err)
{
	if (!wanted || !strcmp(is, wanted->name))
		return 0;
	return pm_err_set(err, -EINVAL,
		"--pm-mode=%s: this node is in mode %.64s, the task does not run", wanted->name,
		is);
}

/* For an option without a constraint: compares with the mode record, which any user may read. */
static int check_unmapped(
	const struct pm_config *config, const struct pm_mode_info *wanted, struct pm_err *err)
{
	cleanup_free char *name = NULL;
	int rc = pm_command_read(
		(const char *[]){config->pmctl_path, "mode", NULL}, MODE_TIMEOUT_MS, &name, err);

	return rc ? rc : compare(wanted, name, err);
}

static int serve(spank_t sp, const struct pm_config *config, const struct pm_jobview *view,
	struct pm_err *err)
{
	int rc = 0;

	if (view->refused)
		return pm_err_set(err, -EPERM, "%s", view->refused);
	if (view->mode)
		rc = compare(wanted_mode(sp), pm_mode_name(view->mode), err);
	return rc ? rc : pm_task_env_set(sp, view, config->fs_root, err);
}

static int read_view(
	spank_t sp, const struct pm_config *config, struct pm_jobview *ret, struct pm_err *err)
{
	uint32_t job_id;
	uid_t uid;
	int rc;

	if (spank_get_item(sp, S_JOB_ID, &job_id) != ESPANK_SUCCESS ||
		spank_get_item(sp, S_JOB_UID, &uid) != ESPANK_SUCCESS)
		return pm_err_set(err, -EINVAL, "Slurm does not say which job this is");
	rc = pm_jobview_read_of(config->run_dir, job_id, uid, config->fs_root, ret, err);
	if (rc == -ENOENT && pm_step()->has_record)
		return pm_err_set(err, -EIO,
			"this node has lost the job view of job %u, so the task does not run; "
			"submit the job again",
			(unsigned)job_id);
	return rc;
}

static int begin_task(spank_t sp, const struct pm_config *config, struct pm_err *err)
{
	cleanup_with(pm_jobview_done) struct pm_jobview view = {0};
	const struct pm_mode_info *wanted = wanted_mode(sp);
	int rc;

	if (pm_step()->unprepared.code)
		return pm_err_set(err, -EIO, "%s", pm_step()->unprepared.text);
	rc = read_view(sp, config, &view, err);
	if (!rc)
		return serve(sp, config, &view, err);
	if (rc != -ENOENT)
		return rc;
	if (is_component(sp))
		pm_task_env_unset(sp);
	if (pm_option_overrides_twin()) /* PM_MODE of the user's own, which did not count */
		(void)spank_unsetenv(sp, "PM_MODE");
	if (!wanted)
		return 0;
	rc = check_unmapped(config, wanted, err);
	if (!rc && spank_setenv(sp, "PM_MODE", wanted->name, 1) != ESPANK_SUCCESS)
		rc = pm_err_set(err, -EINVAL, "set PM_MODE for the task: refused by Slurm");
	return rc;
}

/*
 * This is the task's process, as its user, right before the program. A broken configuration does
 * not stop a job without a mode.
 */
int pm_remote_task_init(spank_t sp, int ac, char **av)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	struct pm_err err = {0};
	int rc = pm_settings_load(ac, av, &config, &err);

	pm_job_output_give();
	if (rc && !pm_option_mode() && !pm_step()->insists)
		return 0;
	if (!rc)
		rc = pm_rank_begin(sp, &err);
	if (!rc)
		rc = begin_task(sp, &config, &err);
	if (rc)
		pm_refuse(&err, PM_EXIT_PLUGIN);
	return 0;
}

static bool is_last(spank_t sp)
{
	static uint32_t ended;
	uint32_t tasks;

	return spank_get_item(sp, S_JOB_LOCAL_TASK_COUNT, &tasks) == ESPANK_SUCCESS &&
	       ++ended >= tasks;
}

/*
 * The job's memory cgroup still exists, but not for much longer: the last look at it, for the
 * job's report.
 */
static void look_at_use(spank_t sp, int ac, char **av)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	uint32_t job_id;

	if (!pm_step()->has_record || spank_get_item(sp, S_JOB_ID, &job_id) != ESPANK_SUCCESS ||
		pm_settings_load(ac, av, &config, NULL))
		return;
	(void)pm_use_look(&config, job_id, NULL);
}

int pm_remote_task_exit(spank_t sp, int ac, char **av)
{
	pm_rank_end();
	if (!is_last(sp))
		return 0;
	look_at_use(sp, ac, av);
	pm_end_report_of_batch(sp, ac, av);
	return 0;
}
