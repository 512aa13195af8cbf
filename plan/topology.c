/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
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

cpu_set_t pm_core_cpus(const struct pm_core *core)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (unsigned i = 0; i < core->n_cpus; i++)
		CPU_SET(core->cpus[i], &cpus);
	return cpus;
}

cpu_set_t pm_topology_cpus(const struct pm_topology *topology, unsigned first_core, unsigned n)
{
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (unsigned i = first_core; i < first_core + n; i++) {
		cpu_set_t core = pm_core_cpus(&topology->cores[i]);

		CPU_OR(&cpus, &cpus, &core);
	}
	return cpus;
}

void pm_topology_cleanup(struct pm_topology **topology)
{
	pm_topology_free(*topology);
}
