/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_TOPOLOGY_FIGURES_H
#define PM_TOPOLOGY_FIGURES_H

/* Measured bandwidths and latencies as memory attributes of hwloc, for other libraries. */
#include "plan/topology.h"

/* Of a memory node, seen from the CPUs of a package. 0: not measured. */
struct pm_memory_figures {
	unsigned package; /* index */
	unsigned node;	  /* index */
	uint64_t read_bytes_per_s, write_bytes_per_s;
	uint64_t read_latency_ps;
};

/*
 * Puts figures into the topology that was discovered, for pm_topology_xml(). Those that the
 * firmware gave are replaced. Bandwidth is set if both directions are known. -EINVAL: the topology
 * was written by hand; errors of hwloc_memattr_set_value().
 */
int pm_topology_set_figures(const struct pm_topology *topology,
	const struct pm_memory_figures *figures, size_t n, struct pm_err *err);

#endif
