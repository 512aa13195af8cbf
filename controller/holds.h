/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_HOLDS_H
#define PM_HOLDS_H

/*
 * Holds that Slurm should not have made. A job that requires a node by name (-w), in another mode
 * than the node is in, is tested against idle nodes only: while the node is busy slurmctld takes
 * the job for one that can never run, gives it priority 0 and the reason BadConstraints, and does
 * not look at it again (_pick_best_nodes() in node_scheduler.c, 22.05 to 26.05).
 *
 * The other cause is a start of slurmctld: it knows the modes of no node until that has registered,
 * and holds in the same way what it looks at until then, also a job that names no node. Slurm 22.05
 * clears such holds when some node changes its mode, which may be never.
 *
 * Any update of such a job has slurmctld look again, and of no other: a user's or an admin's hold
 * has another reason and stays. Ours names the job and changes nothing. It comes when all nodes
 * that the job requires are idle, as before that slurmctld would say the same, or, where it
 * requires none, when enough nodes have its mode; and each time later for a job that is held all
 * the same.
 */
#include <stdbool.h>

#include "controller/cluster.h"

#define PM_HOLD_FIRST_PAUSE_MS 15000
#define PM_HOLD_MOST_PAUSE_MS  3600000

/* Of one look at all holds. */
#define PM_HOLD_UPDATES_MAX 16

struct pm_hold {
	uint32_t job_id;
	uint64_t after_ms; /* not before; 0: at once */
	uint64_t pause_ms;
	bool seen; /* in this look */
};

struct pm_holds {
	struct pm_hold *list;
	size_t n, size;
	bool waited; /* the last look saw one that waits for a node */
};

/* Did slurmctld hold it as told above? Do its nodes, or enough of those in service, have
 * the modes that it asks for? */
bool pm_hold_is_mistaken(const struct pm_cluster *cluster, const slurm_job_info_t *job);

/* Looks through the jobs and has slurmctld look again at those that could run. */
void pm_holds_look(struct pm_holds *holds, const struct pm_cluster *cluster);

void pm_holds_done(struct pm_holds *holds);

#endif
