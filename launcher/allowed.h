/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ALLOWED_H
#define PM_ALLOWED_H

#include <sched.h>
#include <sys/types.h>

#include "launcher/ranks.h"

/*
 * The processors that all ranks of this node may share. mpirun has bound each rank to a core of its
 * own by the time that we run, so it is not our own affinity: it is that of the launcher's process,
 * the first of our ancestors that is not a rank itself (its environment does not have the rank's
 * variable, or is not for us to read, as slurmstepd's). Under srun it is what that has bound all
 * ranks of the node to together, where it tells. Without a launcher it is our own. What a cgroup
 * forbids is not taken out.
 */
void pm_allowed_cpus(const struct pm_rank *rank, cpu_set_t *ret);

/* That process; our own number without a launcher. 0: it is not to be seen. */
pid_t pm_launcher_process(const struct pm_rank *rank);

#endif
