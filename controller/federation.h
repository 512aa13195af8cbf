/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_FEDERATION_H
#define PM_FEDERATION_H

/*
 * Asks slurmctld for the federation that this cluster is in: the names of its other clusters,
 * "two,three", and its own name. Both are malloc'ed. NULL: the cluster is in none, slurmctld does
 * not answer, or memory is out.
 */
char *pm_federation_others(const char *own_cluster, char **ret_federation);

#endif
