/* SPDX-License-Identifier: Apache-2.0 */
#include "plan/topology_figures.h"

#include <errno.h>
#include <hwloc.h>

#define PS_PER_NS 1000

static hwloc_obj_t find(hwloc_topology_t topology, hwloc_obj_type_t type, int number)
{
	hwloc_obj_t object = NULL;

	while ((object = hwloc_get_next_obj_by_type(topology, type, object)))
		if (object->os_index == (unsigned)number)
			return object;
	return NULL;
}

/* hwloc knows bandwidth in MiB/s and latency in ns. 0 is not set. */
static int set(hwloc_topology_t topology, hwloc_obj_t node, hwloc_obj_t package,
	hwloc_memattr_id_t id, uint64_t value)
{
	struct hwloc_location from = {
		.type = HWLOC_LOCATION_TYPE_CPUSET, .location.cpuset = package->cpuset};

	if (!value)
		return 0;
	return hwloc_memattr_set_value(topology, id, node, &from, 0, value) ? -errno : 0;
}

static int set_bandwidths(hwloc_topology_t topology, hwloc_obj_t node, hwloc_obj_t package,
	uint64_t read, uint64_t write)
{
	int rc = set(topology, node, package, HWLOC_MEMATTR_ID_READ_BANDWIDTH, read >> 20);

	if (!rc)
		rc = set(topology, node, package, HWLOC_MEMATTR_ID_WRITE_BANDWIDTH, write >> 20);
	if (rc || !read || !write)
		return rc;
	return set(topology, node, package, HWLOC_MEMATTR_ID_BANDWIDTH, (read + write) / 2 >> 20);
}

static int set_all(hwloc_topology_t topology, hwloc_obj_t node, hwloc_obj_t package,
	const struct pm_memory_figures *figures)
{
	uint64_t latency_ns = figures->read_latency_ps / PS_PER_NS;
	int rc = set_bandwidths(
		topology, node, package, figures->read_bytes_per_s, figures->write_bytes_per_s);

	if (!rc)
		rc = set(topology, node, package, HWLOC_MEMATTR_ID_READ_LATENCY, latency_ns);
	return rc ? rc : set(topology, node, package, HWLOC_MEMATTR_ID_LATENCY, latency_ns);
}

int pm_topology_set_figures(const struct pm_topology *topology,
	const struct pm_memory_figures *figures, size_t n, struct pm_err *err)
{
	for (size_t i = 0; i < n; i++) {
		int package_number = topology->packages[figures[i].package].number;
		int node_number = topology->nodes[figures[i].node].node;
		hwloc_obj_t package, node;
		int rc;

		if (!topology->discovered)
			return pm_err_set(err, -EINVAL, "this topology was made by hand");
		package = find(topology->discovered, HWLOC_OBJ_PACKAGE, package_number);
		node = find(topology->discovered, HWLOC_OBJ_NUMANODE, node_number);
		if (!package || !node)
			continue;
		rc = set_all(topology->discovered, node, package, &figures[i]);
		if (rc)
			return pm_err_sys(err, rc, "describe NUMA node %d to hwloc", node_number);
	}
	return 0;
}
