/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_WAITERS_H
#define PM_WAITERS_H

/* Waiters: each is a PrologSlurmctld that blocks until its job's nodes are booted. */
#include <stdbool.h>

#include "controller/cluster.h"
#include "controller/peer.h"

struct pm_waiter {
	struct pm_waiter *next;
	struct pm_peer *peer;
	uint32_t job_id;
	uid_t uid; /* owner of the job */
	char *nodes;
	char **names;
	uint64_t node_asks, job_asks; /* counts in struct pm_cluster when it was added */
	uint64_t since_ms, told_ms;   /* when it was added; when it last got a reply */
};

struct pm_waiters {
	struct pm_waiter *first;
};

/*
 * Readiness of a node for a job that waits for its boot. The wait also ends with an unusable node
 * (down, failing or invalid): slurmctld then decides about the job.
 */
enum pm_readiness { PM_NOT_READY, PM_IS_READY, PM_UNUSABLE };
enum pm_readiness pm_node_readiness(uint32_t node_state);

/* True if Slurm has rebooted the node or powered it up, and waits for it. */
bool pm_node_is_rebooting(uint32_t node_state);

/* True if no job has the node: it is neither allocated nor completing. */
bool pm_node_is_free(uint32_t node_state);

/*
 * On success peer->waiter is the new waiter, which this list owns. -EINVAL: the node list cannot be
 * read.
 */
int pm_waiters_add(struct pm_waiters *waiters, const struct pm_cluster *cluster,
	struct pm_peer *peer, const struct pm_message *request, struct pm_err *err);

void pm_waiters_remove(struct pm_waiters *waiters, struct pm_waiter *waiter);

/*
 * True if the wait is over: all nodes are ready, or one is unusable or free, or the job is not
 * configuring any more. Only tables that were requested after the wait began count: a node looks
 * ready before it is allocated to the job.
 */
bool pm_waiter_is_done(const struct pm_waiter *waiter, const struct pm_cluster *cluster);

/*
 * The waiters that `uid` may see, or all of them, as "list" of a message; the caller owns it. NULL
 * when out of memory.
 */
json_object *pm_waiters_list(const struct pm_waiters *waiters, bool all, uid_t uid);

#endif
