/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_MODES_FILE_H
#define PM_MODES_FILE_H

/*
 * A file with the number of idle nodes in each mode, by partition, for pmem.lua. pmem.lua runs
 * under slurmctld's locks, so it must not send requests to slurmctld:
 *
 *	slurm-pmem-modes 1 <unix seconds>
 *	<partition> pm_memory=<n> ... could:pm_memory=<n> ... nodes:pm_memory=<n> ...
 *		reboot_s:pm_memory=<n> ...           (on the same line)
 *
 * "could": idle nodes that can have the feature after a reboot, or after power saving has turned
 * them on; "nodes": those in the mode that serve jobs or could, idle or busy; "reboot_s": the
 *median seconds of the last reboots into it, missing if none are known. A reader ignores a file
 *that is older than 60 s, and words that it does not know.
 */
#include "base/json.h"
#include "controller/cluster.h"
#include "controller/reboots.h"

/* The file's text, malloc'ed; NULL when out of memory. Nodes and partitions must be loaded. */
char *pm_modes_text(const struct pm_cluster *cluster, const struct pm_reboots *reboots, time_t now);

/* The same as the "list" of a message; the caller owns it. NULL when out of memory. */
json_object *pm_modes_list(const struct pm_cluster *cluster);

/* True if a job can start on the node at once, or as soon as power saving has turned it on. */
bool pm_node_is_idle(uint32_t node_state);

#endif
