/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_RANKS_H
#define PM_RANKS_H

/*
 * Which of this node's ranks are we? Every launcher says so in variables of its own: one table in
 * ranks.c, tried from its top, because launchers start each other (mpirun starts its daemons with
 * srun, so Slurm's variables are those of the daemon, and come late).
 *
 * Where a launcher does not tell how many ranks the node has, PM_LOCAL_SIZE does; where it tells
 * nothing of the node at all, PM_LOCAL_RANK and PM_LOCAL_SIZE do, which are also what pmrun hands
 * over.
 */
#include <stdbool.h>

#include "base/err.h"

struct pm_rank {
	unsigned rank;	      /* 0 to size - 1, among those of this node */
	unsigned size;	      /* of this node */
	const char *launcher; /* "Open MPI"; NULL: nobody has started us as a rank */
	bool is_srun;	      /* it is Slurm */
	const char *variable; /* that told the rank; NULL likewise */
};

/*
 * Without a launcher: rank 0 of 1. -EINVAL: a variable that cannot be understood, or a rank of a
 * parallel program that is not told which one of the node it is; the sentence says what to set.
 */
int pm_rank_detect(struct pm_rank *ret, struct pm_err *err);

/* Entry `index` of Slurm's "2(x3),1", which means 2,2,2,1. -EINVAL. */
int pm_rank_tasks_per_node(const char *list, unsigned index, unsigned *ret);

#endif
