/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "lib/cleanup.h"
#include "spank_plugin/command.h"
#include "spank_plugin/contexts.h"
#include "spank_plugin/option.h"
#include "spank_plugin/settings.h"

#define MODE_TIMEOUT_MS 10000

/* What this node is in, by the record of this boot that any user may read. */
static int mode_of_node(int ac, char **av, char **ret, struct pm_err *err)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	int rc = pm_settings_load(ac, av, &config, err);

	if (rc)
		return rc;
	return pm_command_read(
		(const char *[]){config.pmctl_path, "mode", NULL}, MODE_TIMEOUT_MS, ret, err);
}

/* The prolog has checked the job's constraint; this is for jobs whose option never became one. */
static int check_task(const struct pm_mode_info *mode, int ac, char **av, struct pm_err *err)
{
	cleanup_free char *name = NULL;
	int rc = mode_of_node(ac, av, &name, err);

	if (rc)
		return rc;
	if (strcmp(name, mode->name))
		return pm_err_set(err, -EINVAL,
			"--" PM_OPTION_MODE
			"=%s: this node is in mode %.64s, the task does not run",
			mode->name, name);
	return 0;
}

int pm_remote_task_init(spank_t sp, int ac, char **av)
{
	const struct pm_mode_info *mode = pm_option_mode();
	struct pm_err err = {0};

	if (!mode)
		return 0;
	if (check_task(mode, ac, av, &err))
		slurm_error("pm: %s", err.text);
	else if (spank_setenv(sp, PM_ENV_MODE, mode->name, 1) != ESPANK_SUCCESS)
		slurm_error("pm: set %s for the task: refused by Slurm", PM_ENV_MODE);
	return err.code;
}
