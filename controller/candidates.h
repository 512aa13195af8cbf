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

/* But for those in `excluded`, a list as Slurm has it. */
struct pm_candidates pm_candidates_count(
	const struct pm_cluster *cluster, const slurm_job_info_t *job, const char *excluded);

/* At least 1. */
unsigned pm_candidates_needed(const slurm_job_info_t *job);

#endif
