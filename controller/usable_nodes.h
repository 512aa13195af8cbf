/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_USABLE_NODES_H
#define PM_USABLE_NODES_H

/* Of the idle nodes in a pending job's mode, those that the job may take. */
#include "controller/cluster.h"
#include "site/modes.h"

/*
 * The number of them as far as the job can use them, if it needs `needed` nodes; UINT_MAX: any, it
 * names and excludes no nodes. Required nodes that are in another mode are missing, however many
 * others are idle.
 */
unsigned pm_usable_nodes(const struct pm_cluster *cluster, const slurm_job_info_t *job,
	enum pm_mode mode, unsigned needed);

#endif
