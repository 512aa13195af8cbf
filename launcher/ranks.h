/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RANKS_H
#define PM_RANKS_H

/*
 * The rank of this process on its node. Each launcher has its own variables for it: ranks.c has a
 * table of them, tried from the top. Slurm comes late: mpirun starts its daemons with srun, so that
 * Slurm's variables describe the daemon.
 *
 * If a launcher does not set the number of ranks on the node, PM_LOCAL_SIZE does. If it sets
 * nothing about the node, PM_LOCAL_RANK and PM_LOCAL_SIZE do. pmrun sets these for its ranks, too.
 */
#include <stdbool.h>

#include "base/err.h"

struct pm_rank {
	unsigned rank;	      /* 0 to size - 1, among those of this node */
	unsigned size;	      /* of this node */
	const char *launcher; /* "Open MPI"; NULL: none has started this process */
	bool is_srun;	      /* it is Slurm */
	const char *variable; /* of the rank; NULL likewise */
};

/*
 * Without a launcher: rank 0 of 1. -EINVAL: a variable has a wrong value, or the local rank is not
 * set in a parallel program; the sentence names the variables to set.
 */
int pm_rank_detect(struct pm_rank *ret, struct pm_err *err);

/* Entry `index` of Slurm's "2(x3),1", which means 2,2,2,1. -EINVAL. */
int pm_rank_tasks_per_node(const char *list, unsigned index, unsigned *ret);

#endif
