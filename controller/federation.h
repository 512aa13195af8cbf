/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_FEDERATION_H
#define PM_FEDERATION_H

/*
 * Asks slurmctld for the federation that this cluster is in: the names of its other clusters,
 * "two,three", and its own name. Both are malloc'ed. NULL: the cluster is in none, slurmctld does
 * not answer, or memory is out.
 */
char *pm_federation_others(const char *own_cluster, char **ret_federation);

/*
 * Asks each other cluster of the federation for its nodes. *ret_with: this cluster and those that
 * have nodes with modes; *ret_without: those that have none, or do not answer, which may take some
 * seconds. Both are malloc'ed comma lists; NULL: no such cluster. -errno: slurmctld does not
 * answer.
 */
int pm_federation_offers(const char *own_cluster, char **ret_with, char **ret_without);

#endif
