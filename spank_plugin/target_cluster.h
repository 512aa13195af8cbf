/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TARGET_CLUSTER_H
#define PM_TARGET_CLUSTER_H

#include <slurm/spank.h>

#include "base/err.h"

/*
 * A job that goes to other clusters (-M, SLURM_CLUSTERS, SBATCH_CLUSTERS) is sent there as it is. A
 * cluster without slurm-pmem does not know --pm-mode and would run the job without the mode. So the
 * mode's feature is put into the job's constraint here, which Slurm refuses there. Without the
 * option nothing is done, as pmem.lua does it on the controller, which users cannot bypass.
 *
 * Call it in init_post_opt of sbatch, salloc and srun, before pm_option_end_component(): Slurm
 * makes the job of its options afterwards. -EINVAL: the constraint has operators with which only
 * its author can combine a feature.
 */
int pm_target_cluster_require(struct pm_err *err);

#endif
