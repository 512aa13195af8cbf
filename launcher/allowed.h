/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ALLOWED_H
#define PM_ALLOWED_H

#include <sched.h>
#include <sys/types.h>

#include "launcher/ranks.h"

/*
 * The CPUs that the ranks of this node share. pmrun's own affinity does not show them, as mpirun
 * may have bound each rank to a core; the affinity of the launcher's process does. That process is
 * the first ancestor that is not a rank: its environment does not have the rank's variable, or may
 * not be read, as slurmstepd's. Under srun the result is the union of all ranks' masks, if srun has
 * set them. Without a launcher it is pmrun's own affinity. CPUs that a cgroup forbids are not
 * removed.
 */
void pm_allowed_cpus(const struct pm_rank *rank, cpu_set_t *ret);

/* The launcher's process; without a launcher, this process. 0: it cannot be seen. */
pid_t pm_launcher_process(const struct pm_rank *rank);

#endif
