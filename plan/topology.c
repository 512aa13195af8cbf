/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/topology.h"

#include <hwloc.h>
#include <stdlib.h>

void pm_topology_free(struct pm_topology *topology)
{
	if (!topology)
		return;
	if (topology->discovered)
		hwloc_topology_destroy(topology->discovered);
	free(topology->packages);
	free(topology->domains);
	free(topology->cores);
	free(topology->nodes);
	free(topology);
}

void pm_topology_cleanup(struct pm_topology **topology)
{
	pm_topology_free(*topology);
}
