/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_CLUSTERS_FILE_H
#define PM_CLUSTERS_FILE_H

/*
 * A file with the clusters of a federation to which alone pmem.lua sends jobs with a mode: it holds
 * slurmctld's locks and must not ask other clusters. In a federation Slurm offers a job to each
 * cluster as its user wrote it, and a cluster without slurm-pmem would run it without its mode.
 *
 *	slurm-pmem-clusters 1
 *	bench,other
 *
 * The second line is empty if all clusters have modes, if this one is in no federation, and where
 * Clusters= of pmem.conf says it all. The file stays as it is if slurmctld does not answer.
 */
#include "controller/child.h"

/* Writes <run_dir>/clusters each minute, in a child. Call it in each turn of the service. */
void pm_clusters_turn(struct pm_child *child, const char *config_path, const char *run_dir,
	const char *own_cluster);

#endif
