/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CPUSETS_H
#define PM_CPUSETS_H

#include "base/err.h"
#include "site/config.h"

/*
 * With cgroup v1 (cpusets(7)) the kernel takes a NUMA node that goes offline out of all cpusets,
 * and puts it back into that of the root alone. Slurm makes one for its node, slurm or slurm_NODE,
 * once, and copies its memory nodes to those of jobs: a job in flat would not have its persistent
 * memory from the second change on. Slurm's cpuset gets the memory nodes of the root. Does nothing
 * with version 2, or before Slurm has made one.
 */
int pm_cpusets_follow(const struct pm_config *config, struct pm_err *err);

#endif
