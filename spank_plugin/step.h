/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_STEP_H
#define PM_STEP_H

/*
 * What a step's ranks need for their plan, found out once by slurmstepd and inherited by all: what
 * was asked, by options, their variables and the user's own words to srun, and the machine.
 */
#include <slurm/spank.h>

#include "plan/plan.h"
#include "site/config.h"
#include "spank_plugin/user_binding.h"

struct pm_step {
	bool wants_plan; /* a --pm- option or its variable, or the job has a mode */
	bool insists;	 /* it is one of the plan's: no plan, no rank */
	bool verbose;
	const char *runtime; /* name or file; NULL: none */
	const char *profile; /* PM_PROFILE of its ranks; NULL: not asked */
	const char *advice;  /* PM_ADVICE */
	bool has_record;     /* this node has given the job something: there must be a view of it */
	struct pm_err unprepared; /* why this node is not prepared for the job; code 0: it is */
	int attach_fd;		  /* the ranks that wait for it: plan/apply/attach.h; -1: none do */
	struct pm_user_binding user;
	struct pm_plan_request request;
	struct pm_topology_source source;
	struct pm_topology *topology; /* all of the machine that slurmstepd may use */
	struct pm_err err;	      /* why it cannot be planned; code 0: it can */
};

/*
 * The one of this process; nothing is asked in it before init_post_opt and in steps that are left
 * alone.
 */
const struct pm_step *pm_step(void);

#endif
