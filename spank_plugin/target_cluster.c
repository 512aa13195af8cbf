/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/target_cluster.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "site/features.h"
#include "spank_plugin/option.h"

/*
 * Slurm's own, of src/common/slurm_opt.h (22.05 to 24.11), which is not installed: sbatch, salloc
 * and srun have the options of the component that they read in `opt`, and these functions by name.
 * A program or release that has not leaves them NULL, and the job goes as it is.
 */
extern char opt __attribute__((weak));
extern char *slurm_option_get(void *options, const char *name) __attribute__((weak));
extern int slurm_option_set(void *options, const char *name, const char *value, bool early)
	__attribute__((weak));

static const struct pm_mode_info *requested_mode(void)
{
	const char *twin = pm_option_twin(PM_OPTION_MODE);

	if (pm_option_given(PM_OPTION_MODE))
		return pm_option_mode();
	return twin ? pm_mode_by_name(twin) : NULL;
}

/* The value of Slurm's option; NULL if it is not given. Slurm's allocator has it, so it is not
 * freed. */
static char *value_of(const char *name)
{
	char *value = slurm_option_get(&opt, name);

	if (value && (!*value || !strcmp(value, "unset") || !strcmp(value, "(null)")))
		return NULL;
	return value;
}

static int require(const char *constraint, const char *feature, struct pm_err *err)
{
	cleanup_free char *both = NULL;

	if (pm_features_may_be_ours(constraint))
		return 0; /* the cluster judges it */
	if (constraint && strpbrk(constraint, "|()[]*"))
		return pm_err_set(err, -EINVAL,
			"a job for other clusters needs its mode in the constraint: write %s into "
			"--constraint=%.200s",
			feature, constraint);
	both = constraint ? pm_asprintf("%s&%s", constraint, feature) : strdup(feature);
	if (!both)
		return pm_err_nomem(err);
	if (slurm_option_set(&opt, "constraint", both, false) < 0)
		return pm_err_set(err, -EINVAL,
			"a job for other clusters needs its mode in the constraint: write "
			"--constraint=%s",
			both);
	return 0;
}

int pm_target_cluster_require(struct pm_err *err)
{
	const struct pm_mode_info *mode = requested_mode();

	if (!mode || !&opt || !slurm_option_get || !slurm_option_set || !value_of("clusters"))
		return 0;
	return require(value_of("constraint"), mode->feature, err);
}
