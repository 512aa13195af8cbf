/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LAUNCHER_OPTIONS_H
#define PM_LAUNCHER_OPTIONS_H

/*
 * The options of pmrun, by the table in plan/options.def: parsing, their twins in the environment,
 * the help. Options end at the first word, the program; later words are the program's. An option
 * overrides its twin; of an option given twice, the last counts. An empty twin counts as unset.
 */
#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"

enum pm_run_option {
#define PM_RANK_OPTION(NAME, ...) PM_RUN_##NAME,
#define PM_RUN_OPTION(NAME, ...)  PM_RUN_##NAME,
#include "plan/options.def"
	PM_RUN_OPTIONS,
};

struct pm_run_given {
	const char *value[PM_RUN_OPTIONS];  /* NULL: not given; "" for one without an argument */
	const char *source[PM_RUN_OPTIONS]; /* "--pm-dram" or "PM_DRAM": how it was given */
	char **program;			    /* the words of the program; [0] is NULL without one */
};

/* argv[0] is skipped. -EINVAL: an unknown option, an argument missing. Points into argv. */
int pm_run_options_read(int argc, char **argv, struct pm_run_given *ret, struct pm_err *err);

static inline bool pm_run_has(const struct pm_run_given *given, enum pm_run_option option)
{
	return given->value[option];
}

/*
 * The option that names another machine, as it was given, "--machine": the plan is for that one,
 * and nothing can be started. NULL: none. *ret_other, if it is asked for: a second such option, or
 * NULL.
 */
const char *pm_run_elsewhere(const struct pm_run_given *given, const char **ret_other);

static inline bool pm_run_is_elsewhere(const struct pm_run_given *given)
{
	return pm_run_elsewhere(given, NULL);
}

/* A line for each option, its twin at the end. */
void pm_run_options_help(FILE *out);

#endif
