/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_HOLDS_H
#define PM_HOLDS_H

/*
 * Mistaken holds of slurmctld, with priority 0 and reason BadConstraints. There are two causes:
 * - slurmctld tests a job that requires a node by name (-w), in another mode than the node is in,
 *   against idle nodes only. While the node is busy, slurmctld finds that the job can never run,
 *   holds it, and does not test it again (_pick_best_nodes() in node_scheduler.c, 22.05 to 26.05).
 * - After its start slurmctld does not know the mode of a node until the node registers. Until then
 *   it holds the jobs that it tests, even jobs that name no node. Slurm 22.05 clears such holds
 *   when a node changes its mode, which may never happen.
 *
 * Any update of such a job makes slurmctld test it again. An update does not release a hold of a
 * user or an administrator, which has another reason. The service's update names the job and
 * changes nothing. It is sent when all required nodes are idle: an earlier update would make
 * slurmctld hold the job again. For a job without required nodes it is sent when enough nodes have
 * the job's mode. A job that is held again gets further updates, with growing pauses.
 */
#include <stdbool.h>

#include "controller/cluster.h"

#define PM_HOLD_FIRST_PAUSE_MS 15000
#define PM_HOLD_MOST_PAUSE_MS  3600000

/* Limit of updates in one scan. */
#define PM_HOLD_UPDATES_MAX 16

struct pm_hold {
	uint32_t job_id;
	uint64_t after_ms; /* no update before this time; 0: at once */
	uint64_t pause_ms;
	bool seen; /* in this scan */
};

struct pm_holds {
	struct pm_hold *list;
	size_t n;
	bool waited; /* the last scan found a mistaken hold */
};

/*
 * True if slurmctld holds the job by one of these mistakes: the reason is BadConstraints, and its
 * required nodes, or enough nodes in service, have the modes of its constraint.
 */
bool pm_hold_is_mistaken(const struct pm_cluster *cluster, const slurm_job_info_t *job);

/* Scans the table of jobs and sends the updates that are due. */
void pm_holds_look(struct pm_holds *holds, const struct pm_cluster *cluster);

void pm_holds_done(struct pm_holds *holds);

#endif
