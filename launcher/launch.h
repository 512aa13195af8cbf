/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LAUNCH_H
#define PM_LAUNCH_H

/* One call of pmrun: the command line, the rank, the plan. */
#include "launcher/machine.h"
#include "launcher/options.h"
#include "launcher/ranks.h"
#include "plan/plan.h"
#include "plan/show.h"
#include "site/config.h"
#include "site/site_profile.h"

struct pm_launch {
	const struct pm_run_given *given;
	struct pm_rank rank;
	unsigned own_ranks; /* -n: ranks that pmrun starts itself; 0: not given */
	struct pm_config config;
	struct pm_topology *topology;
	struct pm_jobview view;
	struct pm_pmem_dir *pmem_dirs;
	struct pm_plan_request request;
	struct pm_plan *plan;
	struct pm_site_profile profile; /* of the ranks' bandwidths; without sockets: none */
};

/* True for --plan, --json and --svg: nothing is started. */
bool pm_launch_only_plans(const struct pm_launch *launch);

/*
 * True: the plugin has made the plan for this step and bound this process (plan/apply/apply.h), and
 * nothing is left to do. False if the command line has an option. Options in variables do not
 * matter: the plugin has applied them.
 */
bool pm_launch_is_planned(const struct pm_launch *launch);

/*
 * Detects the rank and reads the options, the variables and pmem.conf. -EINVAL, -E2BIG: the
 * sentence names the word that is wrong.
 */
int pm_launch_understand(struct pm_launch *launch, struct pm_err *err);

/*
 * Loads the machine, makes the plan for it and loads the site profile. Errors of
 * pm_topology_load(), pm_plan_make() and, for --pm-site-profile, pm_rank_model_load().
 */
int pm_launch_plan(struct pm_launch *launch, struct pm_err *err);

struct pm_plan_view pm_launch_view(const struct pm_launch *launch);

/* Prints the plan, as --plan, --json and --svg ask for it. */
int pm_launch_show(const struct pm_launch *launch, struct pm_err *err);

/* Runs the program, by pmrun's plan or the plugin's. If it returns: the exit status of pmrun. */
int pm_launch_run(const struct pm_launch *launch);

/* Prints a message, in the first rank only: it is the same in all. Returns `status`. */
int pm_launch_fail(const struct pm_launch *launch, const char *text, int status);

void pm_launch_done(struct pm_launch *launch);

#endif
