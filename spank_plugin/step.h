/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_STEP_H
#define PM_STEP_H

/*
 * The step's request and topology, which slurmstepd reads once before it forks the ranks, and all
 * ranks inherit: options, their variables, the user's own binding options of srun, and the machine.
 */
#include <slurm/spank.h>

#include "plan/plan.h"
#include "site/config.h"
#include "site/site_profile.h"
#include "spank_plugin/user_binding.h"

struct pm_step {
	bool wants_plan; /* a --pm- option or its variable, or the job has a mode */
	bool insists;	 /* a plan's option or variable was given: without a plan the ranks fail */
	bool verbose;
	const char *runtime;	       /* name or file; NULL: none */
	const char *profile;	       /* PM_PROFILE of its ranks; NULL: not asked for */
	const char *advice;	       /* PM_ADVICE */
	const char *site_profile;      /* --pm-site-profile; NULL: the site's */
	struct pm_site_profile loaded; /* of a class; without sockets: none, or a file (rank.c) */
	bool has_record; /* this node has a job record of the job, so a job view must exist */
	struct pm_err unprepared; /* why the node is not prepared for the job; code 0: it is */
	char beside[16]; /* another step of the job on this node, if ranks share its DRAM; or "" */
	int attach_fd;	 /* memfd of plan/apply/attach.h; -1: none */
	struct pm_user_binding user;
	struct pm_plan_request request;
	struct pm_topology_source source;
	struct pm_topology *topology; /* all CPUs and memory that slurmstepd may use */
	struct pm_err err;	      /* why there is no plan; code 0: there is one */
};

/*
 * The step of this process. Before init_post_opt, and in steps without a plan, it asks for nothing.
 */
const struct pm_step *pm_step(void);

#endif
