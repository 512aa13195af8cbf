/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "spank_plugin/contexts.h"
#include "spank_plugin/end_report.h"
#include "spank_plugin/option.h"
#include "spank_plugin/refuse.h"
#include "spank_plugin/request.h"
#include "spank_plugin/target_cluster.h"

static bool is_step(void)
{
	return getenv("SLURM_JOB_ID") != NULL;
}

/*
 * Slurm passes the job's option to its steps, so only an option of the step itself can differ. A
 * constraint, PM_MODE and another component's option are not known here; task_init compares with
 * the job view.
 */
static int check_step(struct pm_err *err)
{
	const struct pm_mode_info *mode = pm_option_mode();
	const char *job_mode = getenv(pm_option_carrier(PM_OPTION_MODE));

	if (!mode || !job_mode || !strcmp(mode->name, job_mode) ||
		!strcmp(job_mode, PM_AUTO_MODE) || getenv("SLURM_HET_SIZE"))
		return pm_request_check_plan(err);
	return pm_err_set(err, -EINVAL,
		"--pm-mode=%s: this job runs in mode %.64s and a step cannot change it, "
		"leave the option out or submit another job",
		mode->name, job_mode);
}

static int check_job(spank_t sp, int ac, char **av, struct pm_err *err)
{
	int rc = pm_request_check(sp, ac, av, err);

	return rc ? rc : pm_target_cluster_require(err);
}

int pm_local_init_post_opt(spank_t sp, int ac, char **av)
{
	struct pm_err err = {0};

	if (is_step() ? check_step(&err) : check_job(sp, ac, av, &err))
		pm_refuse(&err, PM_EXIT_PLUGIN);
	pm_end_report_ask();
	pm_option_end_component(sp);
	return 0;
}
