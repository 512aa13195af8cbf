/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MODES_FILE_H
#define PM_MODES_FILE_H

/*
 * How many idle nodes of each partition are in which mode, for pmem.lua, which may not ask Slurm
 * (it runs under slurmctld's locks):
 *
 *	slurm-pmem-modes 1 <unix seconds>
 *	<partition> pm_memory=<n> pm_appdirect=<n> pm_mixed=<n>
 *
 * A reader takes one that is older than 60 s for none.
 */
#include "base/json.h"
#include "controller/cluster.h"

/* The file's text by what the cluster told; malloc'ed, NULL when out of memory. */
char *pm_modes_text(const struct pm_cluster *cluster, time_t now);

/* As "list" of a message. NULL when out of memory. */
json_object *pm_modes_list(const struct pm_cluster *cluster);

/* Can a job start on the node at once? */
bool pm_node_is_idle(uint32_t node_state);

/* Replaces the file. `only_reader` is who may read it beside us; NULL: everybody may. */
int pm_modes_write(
	const char *path, const char *text, const uid_t *only_reader, struct pm_err *err);

#endif
