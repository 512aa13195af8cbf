/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/request.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/strv.h"
#include "plan/apply/preload.h"
#include "spank_plugin/option.h"
#include "spank_plugin/settings.h"

/*
 * True if the site or one of its partitions offers the mode: the job's partition is not known here,
 * so pmem.lua checks that.
 */
static bool is_offered(const struct pm_config *config, const struct pm_mode_info *mode)
{
	const struct pm_job_pairs *pairs = &config->for_jobs;
	bool offered = pm_config_allows(config, mode->mode);

	for (size_t i = 0; i < pairs->count; i++) {
		cleanup_with(pm_strv_cleanup) char **names =
			pm_strv_split(pairs->list[i].text, ",");

		if (pairs->list[i].key == PM_KEY_MODES)
			offered = offered || pm_strv_contains(names, mode->name);
	}
	return offered;
}

static int check_offered(
	const char *source, const char *name, int ac, char **av, struct pm_err *err)
{
	cleanup_with(pm_config_done) struct pm_config config = {0};
	cleanup_free char *names = NULL;
	int rc;

	if (pm_option_is_no_mode(name))
		return 0;
	rc = pm_settings_load(ac, av, &config, err);
	if (rc || is_offered(&config, pm_mode_by_name(name)))
		return rc;
	names = pm_config_mode_names(&config);
	return pm_err_set(err, -EINVAL, "%s: mode '%s' is not offered here, take one of %s", source,
		name, names ? names : "(out of memory)");
}

/* Slurm passes options to the controller itself, variables only by this call. */
static int pass_on(spank_t sp, enum pm_option option, struct pm_err *err)
{
	const char *name = pm_option_info(option)->twin, *value = pm_option_twin(option);

	if (value && spank_job_control_setenv(sp, name, value, 1) != ESPANK_SUCCESS)
		return pm_err_set(err, -EINVAL, "pass on %s: refused by Slurm", name);
	return 0;
}

/* For 'pmctl explain -- OPTION...': pmem.lua tells by which lines it decides. */
static int pass_on_explain(spank_t sp, struct pm_err *err)
{
	const char *value = getenv("PM_EXPLAIN");

	if (value && spank_job_control_setenv(sp, "PM_EXPLAIN", value, 1) != ESPANK_SUCCESS)
		return pm_err_set(err, -EINVAL, "pass on PM_EXPLAIN: refused by Slurm");
	return 0;
}

static int check_mode(spank_t sp, int ac, char **av, struct pm_err *err)
{
	const struct pm_option_info *option = pm_option_info(PM_OPTION_MODE);
	const char *given = pm_option_given(PM_OPTION_MODE);
	const char *twin = pm_option_twin(PM_OPTION_MODE);
	int rc = 0;

	if (given)
		return check_offered("--pm-mode", given, ac, av, err);
	if (twin)
		rc = pm_option_check(PM_OPTION_MODE, option->twin, twin, err);
	if (!rc && twin)
		rc = check_offered(option->twin, twin, ac, av, err);
	return rc ? rc : pass_on(sp, PM_OPTION_MODE, err);
}

/*
 * A runtime that is not here may be on the nodes, unless its name is nearly that of ours: then the
 * step would fail, perhaps days later.
 */
static int check_runtime(struct pm_err *err)
{
	const char *given = pm_option_given(PM_OPTION_RUNTIME);
	const char *twin = pm_option_twin(PM_OPTION_RUNTIME);
	const char *name = given ? given : twin;
	const char *meant = name ? pm_preload_meant(name) : NULL;
	cleanup_free char *file = NULL;

	if (!meant || !pm_preload_find(name, &file, &(struct pm_err){0}))
		return 0;
	return pm_err_set(err, -EINVAL, "%s: unknown runtime '%.64s', did you mean '%s'?",
		given ? "--pm-runtime" : "PM_RUNTIME", name, meant);
}

int pm_request_check_plan(struct pm_err *err)
{
	int rc = 0;

	for (enum pm_option option = PM_OPTION_PLAN; !rc && option < PM_OPTION_COUNT; option++) {
		const char *twin = pm_option_twin(option);

		if (twin && !pm_option_given(option))
			rc = pm_option_check(option, pm_option_info(option)->twin, twin, err);
	}
	return rc ? rc : check_runtime(err);
}

/* pmem.lua checks whether the job's mode uses size and kind. */
int pm_request_check(spank_t sp, int ac, char **av, struct pm_err *err)
{
	int rc = check_mode(sp, ac, av, err);

	for (enum pm_option option = PM_OPTION_SIZE; !rc && option < PM_OPTION_PLAN; option++)
		if (!pm_option_given(option))
			rc = pass_on(sp, option, err);
	if (!rc && !pm_option_given(PM_OPTION_DRAM))
		rc = pass_on(sp, PM_OPTION_DRAM, err);
	if (!rc)
		rc = pass_on_explain(sp, err);
	return rc ? rc : pm_request_check_plan(err);
}
