/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_OPTION_H
#define PM_OPTION_H

/*
 * The options: --pm-mode, --pm-size and --pm-namespace, which are about the job's nodes, and those
 * of the plan for a step's ranks, as pmrun has them: plan/options.def. Each has its environment
 * twin. The table drives registration, help, checking and how Slurm carries them.
 *
 * Heterogeneous jobs: sbatch, salloc and srun read the components one after the other in one
 * process, each ends with init_post_opt. Slurm never forgets that an option was given, and sbatch
 * and salloc leave it in their own environment, where the next component finds it. So an option
 * counts only until pm_option_end_component(), which also takes out what Slurm carried over.
 */
#include <slurm/spank.h>
#include <stdbool.h>

#include "base/err.h"
#include "plan/words.h"
#include "site/modes.h"

enum pm_option {
#define PM_JOB_OPTION(NAME, ...)  PM_OPTION_##NAME,
#define PM_RANK_OPTION(NAME, ...) PM_OPTION_##NAME,
#include "plan/options.def"
	PM_OPTION_COUNT,
	PM_OPTION_PLAN = PM_OPTION_DRAM, /* the first of the plan's, in the order of plan/words.h */
};

struct pm_option_info {
	const char *name;    /* "pm-mode" */
	const char *twin;    /* "PM_MODE", the environment variable that means the same */
	const char *arginfo; /* NULL: it takes no value, and "" is what it was given */
	const char *usage;   /* for --help */
	const char *carrier; /* the variable in which Slurm takes it to the running job's sruns */
};

const struct pm_option_info *pm_option_info(enum pm_option option);

/*
 * Registers the options: with the exported table spank_options[] sbatch and salloc would not know
 * them. Their callback refuses bad values at once, so that nothing is submitted; when one is given
 * more than once the last one counts, as with Slurm's own options.
 */
int pm_option_register(spank_t sp);

/* What was given for this component of the job; NULL when it was not. */
const char *pm_option_given(enum pm_option option);

/* The same of --pm-mode. */
const struct pm_mode_info *pm_option_mode(void);

/* The environment twin where it is set and not empty; else NULL. */
const char *pm_option_twin(enum pm_option option);

/* At the end of init_post_opt in sbatch, salloc and srun. */
void pm_option_end_component(spank_t sp);

/* The prolog's view, where no callback runs: the option, else NULL; and its twin, else NULL. */
const char *pm_option_of_job(spank_t sp, enum pm_option option);
const char *pm_option_twin_of_job(enum pm_option option);

/*
 * Is this a value of the option? `source` is how it was given: "--pm-mode" or "PM_MODE".
 * -EINVAL: "SOURCE: unknown mode 'x', valid modes are memory, ...".
 */
int pm_option_check(
	enum pm_option option, const char *source, const char *value, struct pm_err *err);

#endif
