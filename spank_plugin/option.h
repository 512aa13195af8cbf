/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_OPTION_H
#define PM_OPTION_H

/* The option --pm-mode=MODE and its environment twin PM_MODE. */
#include <slurm/spank.h>

#include "lib/err.h"
#include "lib/modes.h"

#define PM_OPTION_MODE "pm-mode"
#define PM_ENV_MODE    "PM_MODE"

/* How Slurm names the option in the environment of a running job, for the sruns in that job. */
#define PM_ENV_JOB_OPTION "SLURM_SPANK__SLURM_SPANK_OPTION_pmem_pm_mode"

/*
 * Registers the option: with the exported table spank_options[] sbatch and salloc would not know
 * it. Its callback refuses unknown modes at once, so that nothing is submitted; when it is given
 * more than once the last one counts, as with Slurm's own options.
 */
int pm_option_register(spank_t sp);

/* The mode that --pm-mode asked for in this process; NULL when it was not given. */
const struct pm_mode_info *pm_option_mode(void);

/* The prolog's view of the option: no callback runs there. NULL when not given or not a mode. */
const struct pm_mode_info *pm_option_mode_of_job(spank_t sp);

/*
 * The row of a mode's name that came from `source`.
 * -EINVAL: "SOURCE: unknown mode 'x', valid modes are memory, appdirect, flat, mixed".
 */
int pm_option_parse(
	const char *source, const char *name, const struct pm_mode_info **ret, struct pm_err *err);

#endif
