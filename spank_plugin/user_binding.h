/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_USER_BINDING_H
#define PM_USER_BINDING_H

/*
 * What the user has told srun of binding: --cpu-bind, --hint, --threads-per-core, --mem-bind,
 * --distribution, -c. It is in the environment that srun sent, SLURM_CPU_BIND_TYPE and so on, but
 * only until the tasks start: then slurmstepd writes there what it has made of it, with
 * SLURM_CPU_BIND_TYPE=mask_cpu: also where nothing was said (seen on 22.05). So it is asked for in
 * init_post_opt.
 */
#include <slurm/spank.h>
#include <stdbool.h>

#include "plan/plan.h"

struct pm_user_binding {
	bool cpus;   /* where the ranks run is said: they stay there */
	bool memory; /* the same of their memory */
	bool has_distribution;
	enum pm_distribution distribution; /* over sockets: what is behind the first colon */
	unsigned cpus_per_task;		   /* 0: not said */
};

/* In slurmstepd, before its tasks are forked. */
void pm_user_binding_read(spank_t sp, struct pm_user_binding *ret);

#endif
