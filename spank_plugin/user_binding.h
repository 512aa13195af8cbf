/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_USER_BINDING_H
#define PM_USER_BINDING_H

/*
 * The user's binding options of srun: --cpu-bind, --hint, --threads-per-core, --mem-bind,
 * --distribution, -c. srun sends them as SLURM_CPU_BIND_TYPE and so on. Read them in init_post_opt:
 * when the tasks start, slurmstepd overwrites them with its own binding,
 * SLURM_CPU_BIND_TYPE=mask_cpu, even if the user gave no option (seen on 22.05).
 */
#include <slurm/spank.h>
#include <stdbool.h>

#include "plan/plan.h"

struct pm_user_binding {
	bool cpus;   /* the user gave a CPU binding, which stays */
	bool memory; /* the user gave a memory binding, which stays */
	bool has_distribution;
	enum pm_distribution distribution; /* over sockets, the word after the first colon */
	unsigned cpus_per_task;		   /* 0: not given */
};

/* In slurmstepd, before its tasks are forked. */
void pm_user_binding_read(spank_t sp, struct pm_user_binding *ret);

#endif
