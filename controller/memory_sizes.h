/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MEMORY_SIZES_H
#define PM_MEMORY_SIZES_H

/*
 * Whether slurm.conf's RealMemory and node_reg_mem_percent let the nodes serve each mode of
 * pmem.conf with its UsableMemory. Slurm refuses jobs above a node's RealMemory, and takes a node
 * out of service that registers with less than the percentage of it: without these lines a site
 * would learn both from its users, one mode at a time.
 */
#include "controller/cluster.h"
#include "site/config.h"

/* Says on stderr what is wrong; when the service begins to serve. Asks slurmctld for the nodes. */
void pm_warn_of_memory_sizes(const struct pm_cluster *cluster, const struct pm_config *config);

/* node_reg_mem_percent in SlurmctldParameters; 100 if it is missing or not a number. */
double pm_reg_mem_percent(const char *slurmctld_parameters);

#endif
