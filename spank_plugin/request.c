/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/request.h"

#include <errno.h>
#include <stdlib.h>

#include "lib/cleanup.h"
#include "spank_plugin/option.h"
#include "spank_plugin/settings.h"

static int check_offered(const char *source, const struct pm_mode_info *mode,
	const struct pm_config *config, struct pm_err *err)
{
	cleanup_free char *names = NULL;

	if (pm_config_allows(config, mode->mode))
		return 0;
	names = pm_config_mode_names(config);
	return pm_err_set(err, -EINVAL, "%s: mode '%s' is not offered here, take one of %s", source,
		mode->name, names ? names : "(out of memory)");
}

static int check_mode(
	const char *source, const struct pm_mode_info *mode, int ac, char **av, struct pm_err *err)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	int rc = pm_settings_load(ac, av, &config, err);

	return rc ? rc : check_offered(source, mode, &config, err);
}

/* Slurm carries an option to the controller by itself, a variable only when told to. */
static int pass_on(spank_t sp, const struct pm_mode_info *mode, struct pm_err *err)
{
	if (spank_job_control_setenv(sp, PM_ENV_MODE, mode->name, 1) != ESPANK_SUCCESS)
		return pm_err_set(err, -EINVAL, "pass on %s: refused by Slurm", PM_ENV_MODE);
	return 0;
}

static int check_twin(spank_t sp, const char *name, int ac, char **av, struct pm_err *err)
{
	const struct pm_mode_info *mode;
	int rc = pm_option_parse(PM_ENV_MODE, name, &mode, err);

	if (!rc)
		rc = check_mode(PM_ENV_MODE, mode, ac, av, err);
	return rc ? rc : pass_on(sp, mode, err);
}

int pm_request_check(spank_t sp, int ac, char **av, struct pm_err *err)
{
	const struct pm_mode_info *mode = pm_option_mode();
	const char *twin = getenv(PM_ENV_MODE);

	if (mode)
		return check_mode("--" PM_OPTION_MODE, mode, ac, av, err);
	if (twin && *twin)
		return check_twin(sp, twin, ac, av, err);
	return 0;
}
