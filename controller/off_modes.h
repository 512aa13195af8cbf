/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_OFF_MODES_H
#define PM_OFF_MODES_H

/*
 * The modes of nodes that power saving has turned off. slurmctld 24.11 forgets a node's active
 * features then, and the node keeps its mode: without it a job in that mode counts as one for
 * which the node changes, and no limit of a mode counts the node. slurmctld 22.05 forgets none.
 */
#include <stdbool.h>

#include "controller/cluster.h"
#include "controller/reboots.h"

struct pm_off_modes {
	bool failing; /* slurmctld took no mode the last time; it was said */
};

/*
 * After pm_reboots_look(), which knows the modes: tells slurmctld that of each node that is off and
 * has none in its table. A node stays without a mode if the service has never seen one, nor a
 * reboot of it.
 */
void pm_off_modes_tell(struct pm_off_modes *off, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots);

#endif
