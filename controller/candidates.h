/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CANDIDATES_H
#define PM_CANDIDATES_H

/*
 * Candidate nodes of a pending job: by its partitions, its required nodes (-w) and its features,
 * from the tables of nodes and partitions. Only Slurm knows memory, GRES and licences, so a
 * candidate node may still be unable to run the job.
 */
#include "controller/cluster.h"

struct pm_candidates {
	unsigned in_service; /* neither down, drained nor reserved for others */
	unsigned idle;	     /* of these; a job could start on them at once */
};

/*
 * True if the node has each feature that the constraint names; with `modes_only`, each that belongs
 * to a mode. A node without the job's mode can never run the job, but other features may be
 * alternatives.
 */
bool pm_node_has(const node_info_t *node, const char *constraint, bool modes_only);

/*
 * Calls `visit` with each candidate node that is not in `excluded`, a node list as Slurm writes it,
 * or NULL. `modes_only` is as above.
 */
typedef void pm_candidate_visit(void *context, const node_info_t *node);
void pm_candidates_each(const struct pm_cluster *cluster, const slurm_job_info_t *job,
	const char *excluded, bool modes_only, pm_candidate_visit *visit, void *context);

/* Counts the same nodes. */
struct pm_candidates pm_candidates_count(const struct pm_cluster *cluster,
	const slurm_job_info_t *job, const char *excluded, bool modes_only);

/* The number of nodes that the job needs, at least 1. */
unsigned pm_candidates_needed(const slurm_job_info_t *job);

#endif
