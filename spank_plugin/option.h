/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_OPTION_H
#define PM_OPTION_H

/*
 * The plugin's options: --pm-mode, --pm-size and --pm-namespace for the job's nodes, --pm-report
 * for its end, and those of the plan for a step's ranks, as pmrun has them: plan/options.def. Each
 * has an environment variable, its twin. Registration, help, checks and Slurm's carrier follow from
 * one table.
 *
 * Heterogeneous jobs: sbatch, salloc and srun read the components one after the other in one
 * process, and each ends with init_post_opt. Slurm does not forget an option of an earlier
 * component, and sbatch and salloc leave it in their own environment, where the next component
 * finds it. So an option counts only until pm_option_end_component(), which also sets Slurm's
 * carrier to this component's value, or removes it.
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
	PM_OPTION_PLAN = PM_OPTION_DRAM, /* the plan's, as in plan/words.h */
};

struct pm_option_info {
	const char *name;    /* "pm-mode" */
	const char *twin;    /* "PM_MODE", the environment variable of the same meaning */
	const char *arginfo; /* NULL: it takes no value, and its value is "" */
	const char *usage;   /* for --help */
};

const struct pm_option_info *pm_option_info(enum pm_option option);

/* The variable by which Slurm passes it to the running job's sruns. Not thread-safe. */
const char *pm_option_carrier(enum pm_option option);

/*
 * Registers the options by spank_option_register(): sbatch and salloc do not know options of an
 * exported table spank_options[]. The callback refuses a bad value at once, so that nothing is
 * submitted. If an option is given twice the last one counts, as with Slurm's own.
 */
int pm_option_register(spank_t sp);

/* The value for this component of the job, owned here; NULL if it was not given. */
const char *pm_option_given(enum pm_option option);

/* Value of --pm-mode and PM_MODE: no mode, whatever the site's default is. */
#define PM_NO_MODE "none"

/*
 * Another value: pmem.lua chooses the mode, and the job's constraint has its feature. Here the job
 * is then as one without option.
 */
#define PM_AUTO_MODE "auto"

/* True if the value of --pm-mode is none or auto; false for a mode's name and for NULL. */
bool pm_option_is_no_mode(const char *value);

/* --pm-mode=none, or auto, was given for this component, so PM_MODE does not count. */
bool pm_option_overrides_twin(void);

/* The mode of --pm-mode for this component; NULL if it was not given, or is none or auto. */
const struct pm_mode_info *pm_option_mode(void);

/* The value of the environment twin; NULL if it is not set or empty. */
const char *pm_option_twin(enum pm_option option);

/* Ends a component: call it last in init_post_opt of sbatch, salloc and srun. */
void pm_option_end_component(spank_t sp);

/*
 * For prolog and epilog, where no callback runs: the option, and its twin; NULL if it was not
 * given.
 */
const char *pm_option_of_job(spank_t sp, enum pm_option option);
const char *pm_option_twin_of_job(enum pm_option option);

/* The mode of option or twin, the option first; NULL: neither is given, or it is none or auto. */
const struct pm_mode_info *pm_option_mode_of_job(spank_t sp);

/*
 * 0 if this is a value of the option. `source` names how it was given: "--pm-mode" or "PM_MODE".
 * -EINVAL: "SOURCE: unknown mode 'x', valid modes are memory, ...".
 */
int pm_option_check(
	enum pm_option option, const char *source, const char *value, struct pm_err *err);

#endif
