/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_EXPLAIN_H
#define PM_EXPLAIN_H

/* The reply to 'pmctl explain': why a job waits, as far as modes of nodes are the cause. */
#include "base/json.h"
#include "controller/cluster.h"
#include "controller/permits.h"
#include "controller/reboots.h"

/*
 * An array with one object:
 *
 *	job, uid, feature ("": the job has no mode), nodes ("": none yet; "(many)": a long list)
 *	state      "pending", "starting", "running", "ended"; "elsewhere": on another cluster
 *	           of the federation
 *	reason     as squeue prints it; missing if it is none that modes cause
 *	sentences  an array of texts, for people
 *
 * NULL when out of memory.
 */
json_object *pm_explain(const struct pm_cluster *cluster, const struct pm_reboots *reboots,
	struct pm_permits *permits, const slurm_job_info_t *job, uint64_t now_s);

#endif
