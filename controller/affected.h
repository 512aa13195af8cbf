/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AFFECTED_H
#define PM_AFFECTED_H

/* The jobs that a node out of service concerns. */
#include "base/json.h"
#include "controller/cluster.h"
#include "controller/rejected_jobs.h"

/* Jobs named of each kind. */
#define PM_AFFECTED_MAX 8

/*
 * Adds to a row of the node, each only if there is such a job:
 *
 *	running      jobs that are on it
 *	waiting      pending jobs that require it (-w)
 *	turned_away  pending jobs that it has rejected
 *	more         number of further jobs, beyond PM_AFFECTED_MAX of a kind
 *
 * `only`: jobs of this uid alone; NULL: all.
 */
void pm_affected_add(json_object *row, const struct pm_cluster *cluster,
	const struct pm_rejected_jobs *rejected, const node_info_t *node, const uid_t *only);

#endif
