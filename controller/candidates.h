/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CANDIDATES_H
#define PM_CANDIDATES_H

/* The nodes that a job could run on, as far as the tables of nodes and partitions tell: by its
 * partitions, its -w and its features. Memory, GRES and licences Slurm alone knows. */
#include "controller/cluster.h"

struct pm_candidates {
	unsigned in_service; /* neither down, drained nor reserved for others */
	unsigned idle;	     /* of these: a job could start there at once */
};

/* Has the node each feature that the constraint names, or each mode alone? Without one of the modes
 * a job never could run there; of other features it may name alternatives. */
bool pm_node_has(const node_info_t *node, const char *constraint, bool modes_only);

/* But for those in `excluded`, a list as Slurm has it; `modes_only` as above. */
struct pm_candidates pm_candidates_count(const struct pm_cluster *cluster,
	const slurm_job_info_t *job, const char *excluded, bool modes_only);

/* At least 1. */
unsigned pm_candidates_needed(const slurm_job_info_t *job);

#endif
