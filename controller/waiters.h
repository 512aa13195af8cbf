/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_WAITERS_H
#define PM_WAITERS_H

/* The jobs that wait for their nodes to be back from a reboot: a PrologSlurmctld each. */
#include <stdbool.h>

#include "controller/cluster.h"
#include "controller/peer.h"

struct pm_waiter {
	struct pm_waiter *next;
	struct pm_peer *peer;
	uint32_t job_id;
	uid_t uid; /* the job's owner */
	char *nodes;
	char **names;
	uint64_t node_asks, job_asks; /* of the cluster, when it came */
	uint64_t since_ms, told_ms;
};

struct pm_waiters {
	struct pm_waiter *first;
	unsigned count;
};

/*
 * May slurmctld look at this node? So it is when it is up, and also when it is given up: what
 * becomes of the job then is slurmctld's business.
 */
enum pm_readiness { PM_NOT_READY, PM_IS_READY, PM_UNUSABLE };
enum pm_readiness pm_node_readiness(uint32_t node_state);

/* Is the node not a job's: neither allocated nor being cleared? */
bool pm_node_is_free(uint32_t node_state);

/* -EINVAL: the list of nodes cannot be read. peer->waiter is the new one then. */
int pm_waiters_add(struct pm_waiters *waiters, const struct pm_cluster *cluster,
	struct pm_peer *peer, const struct pm_message *request, struct pm_err *err);

void pm_waiters_remove(struct pm_waiters *waiters, struct pm_waiter *waiter);

/*
 * Has the wait an end? By tables only that were asked for after it began: nodes that are not yet
 * the job's look ready.
 */
bool pm_waiter_is_done(const struct pm_waiter *waiter, const struct pm_cluster *cluster);

/* Those that `uid` may see; as "list" of a message. NULL when out of memory. */
json_object *pm_waiters_list(const struct pm_waiters *waiters, bool all, uid_t uid);

#endif
