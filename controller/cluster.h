/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CLUSTER_H
#define PM_CLUSTER_H

/*
 * What slurmctld told last: all nodes, partitions and jobs, each asked for with the time of the
 * last change, so that an unchanged table is not sent again.
 */
#include <slurm/slurm.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct pm_cluster {
	node_info_msg_t *nodes;
	partition_info_msg_t *partitions;
	job_info_msg_t *jobs;
	const node_info_t **by_name; /* of the nodes that have a name, sorted by it */
	uint32_t n_by_name;
	uint64_t node_asks; /* how often the nodes were asked for with success */
	uint64_t job_asks;

	uid_t slurm_uid;    /* SlurmUser */
	bool private_jobs;  /* PrivateData has jobs: users see their own only */
	bool private_nodes; /* PrivateData has nodes: users see none */
	char *munge_socket; /* of AuthInfo; NULL for munge's own default */
};

/* Who may do what, from slurmctld's configuration. */
int pm_cluster_load_config(struct pm_cluster *cluster, struct pm_err *err);

int pm_cluster_load_nodes(struct pm_cluster *cluster, struct pm_err *err);
int pm_cluster_load_partitions(struct pm_cluster *cluster, struct pm_err *err);
int pm_cluster_load_jobs(struct pm_cluster *cluster, struct pm_err *err);

/* NULL: no node of that name, or not asked yet. */
const node_info_t *pm_cluster_node(const struct pm_cluster *cluster, const char *name);

/* NULL: no such job in the table. Of an array the record with that very job id. */
const slurm_job_info_t *pm_cluster_job(const struct pm_cluster *cluster, uint32_t job_id);

/* Slurm's list as names, NULL at the end (base/strv.h); NULL when it cannot be read. */
char **pm_cluster_names(const char *list);

void pm_cluster_done(struct pm_cluster *cluster);

#endif
