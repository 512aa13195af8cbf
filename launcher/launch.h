/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LAUNCH_H
#define PM_LAUNCH_H

/* One call of pmrun: what was asked, who we are, the plan. */
#include "launcher/machine.h"
#include "launcher/options.h"
#include "launcher/ranks.h"
#include "plan/plan.h"
#include "site/config.h"

struct pm_launch {
	const struct pm_run_given *given;
	struct pm_rank rank;
	unsigned own_ranks; /* behind -n: that we start ourselves; 0: not given */
	struct pm_config config;
	struct pm_topology *topology;
	struct pm_jobview view;
	struct pm_pmem_dir *pmem_dirs;
	struct pm_plan_request request;
	struct pm_plan *plan;
};

/* Is it --plan, or an option that only makes sense with it? Nothing is started then. */
bool pm_launch_only_plans(const struct pm_launch *launch);

/*
 * Has the plugin made the plan for this very step and bound us (plan/apply/apply.h)? Then there is
 * nothing left to do, unless our own command line asks for something: its variables the plugin has
 * heeded.
 */
bool pm_launch_is_planned(const struct pm_launch *launch);

/*
 * Who we are, and what is asked: everything that a wrong word of the user's can spoil.
 * -EINVAL, -E2BIG: the sentence says which word.
 */
int pm_launch_understand(struct pm_launch *launch, struct pm_err *err);

/* The machine, and the plan for it. Errors as pm_topology_load() and pm_plan_make() have them. */
int pm_launch_plan(struct pm_launch *launch, struct pm_err *err);

/* Prints what --plan, --json and --svg ask for. */
int pm_launch_show(const struct pm_launch *launch, struct pm_err *err);

/* Runs the program, by its plan or by the plugin's; returns only what pmrun shall exit with. */
int pm_launch_run(const struct pm_launch *launch);

/* Says what all ranks would say, if we are the first of them; returns `status`, to exit with. */
int pm_launch_fail(const struct pm_launch *launch, const char *text, int status);

void pm_launch_done(struct pm_launch *launch);

#endif
