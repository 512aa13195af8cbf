/* SPDX-License-Identifier: Apache-2.0 */
/* Discovers the machine by hwloc. Only this file and plan/topology.c include <hwloc.h>. */
#define _GNU_SOURCE
#include <errno.h>
#include <hwloc.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/file.h"
#include "plan/topology_arrange.h"

static void cleanup_topology(hwloc_topology_t *topology)
{
	if (*topology)
		hwloc_topology_destroy(*topology);
}

/* --- discovery --- */

static unsigned long flags_for(const struct pm_topology_source *source)
{
	unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;

	if (source->xml && source->is_this_machine)
		flags |= HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM |
			 HWLOC_TOPOLOGY_FLAG_THISSYSTEM_ALLOWED_RESOURCES;
	return flags;
}

/*
 * An XML file is read with its caches: filtering one out would attach its memory to the whole
 * package. The discovery of this machine filters out caches and the x86 backend, which binds itself
 * to each CPU to find out what Linux reports anyway: both together take most of the time.
 */
static int choose_input(hwloc_topology_t topology, const struct pm_topology_source *source)
{
	if (source->synthetic)
		return hwloc_topology_set_synthetic(topology, source->synthetic) ? -errno : 0;
	if (source->xml)
		return hwloc_topology_set_xml(topology, source->xml) ? -errno : 0;
	if (hwloc_topology_set_cache_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) ||
		hwloc_topology_set_components(
			topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, "x86"))
		return -errno;
	return 0;
}

static int set_up(hwloc_topology_t topology, const struct pm_topology_source *source)
{
	if (hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_NONE) ||
		hwloc_topology_set_type_filter(
			topology, HWLOC_OBJ_MEMCACHE, HWLOC_TYPE_FILTER_KEEP_ALL) ||
		hwloc_topology_set_flags(topology, flags_for(source)))
		return -errno;
	return choose_input(topology, source);
}

/*
 * Initialises hwloc without its plugins. These are for displays and accelerators, which no plan
 * uses, and for XML, which hwloc can read without them. If they are installed, loading X11, OpenCL
 * and libxml2 costs each rank several milliseconds. hwloc reads the variable at its first use.
 */
static int init_without_plugins(hwloc_topology_t *ret)
{
	static const char name[] = "HWLOC_PLUGINS_PATH";
	const char *value = getenv(name);
	cleanup_free char *before = value ? strdup(value) : NULL;
	int rc;

	if ((value && !before) || setenv(name, "/nonexistent", 1))
		return -ENOMEM;
	rc = hwloc_topology_init(ret) ? -ENOMEM : 0;
	if (before)
		(void)setenv(name, before, 1);
	else
		(void)unsetenv(name);
	return rc;
}

static int discover(
	hwloc_topology_t *ret, const struct pm_topology_source *source, struct pm_err *err)
{
	cleanup_with(cleanup_topology) hwloc_topology_t topology = NULL;
	const char *name = source->xml	       ? source->xml
			   : source->synthetic ? source->synthetic
					       : "this machine";
	int rc;

	if (source->xml && access(source->xml, R_OK))
		return pm_err_sys(err, -errno, "open '%s'", source->xml);
	if (init_without_plugins(&topology))
		return pm_err_nomem(err);
	rc = set_up(topology, source);
	if (!rc && hwloc_topology_load(topology))
		rc = -EINVAL;
	if (rc == -EINVAL && source->xml)
		return pm_err_set(err, rc,
			"read '%s': it is not a topology of hwloc; 'lstopo FILE.xml' writes one",
			name);
	if (rc)
		return pm_err_sys(err, rc, "ask hwloc for '%s'", name);
	*ret = pm_steal(topology);
	return 0;
}

/* --- reading hwloc's topology --- */

struct filter {
	hwloc_const_bitmap_t allowed;
	const cpu_set_t *asked; /* NULL: all */
};

static bool passes(const struct filter *filter, unsigned number)
{
	return hwloc_bitmap_isset(filter->allowed, number) &&
	       (!filter->asked || CPU_ISSET(number, filter->asked));
}

static int check_numbers(hwloc_topology_t topology, struct pm_err *err)
{
	int cpu = hwloc_bitmap_last(hwloc_topology_get_topology_cpuset(topology));
	int node = hwloc_bitmap_last(hwloc_topology_get_topology_nodeset(topology));

	if (cpu < CPU_SETSIZE && node < CPU_SETSIZE)
		return 0;
	return pm_err_set(err, -E2BIG,
		"the machine has processor %d and memory node %d; numbers below %d are supported",
		cpu, node, CPU_SETSIZE);
}

static int package_of(hwloc_topology_t topology, hwloc_obj_t pu)
{
	hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_PACKAGE, pu);

	return package && package->os_index != HWLOC_UNKNOWN_INDEX ? (int)package->os_index : 0;
}

/* Adds a hardware thread to the core of the one before it, or to a new core. */
static void add_pu(
	struct pm_found *found, hwloc_topology_t topology, hwloc_obj_t pu, hwloc_obj_t *last_core)
{
	hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, pu);
	struct pm_found_core *at;

	if (!core || core != *last_core || !found->n_cores)
		found->cores[found->n_cores++].package = package_of(topology, pu);
	*last_core = core;
	at = &found->cores[found->n_cores - 1];
	if (at->n_cpus < PM_CORE_CPUS_MAX)
		at->cpus[at->n_cpus++] = (int)pu->os_index;
}

static int find_cores(
	struct pm_found *found, hwloc_topology_t topology, const struct filter *filter)
{
	hwloc_obj_t pu = NULL, core = NULL;

	found->cores = calloc((size_t)hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU) + 1,
		sizeof(*found->cores));
	if (!found->cores)
		return -ENOMEM;
	while ((pu = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_PU, pu))) {
		if (passes(filter, pu->os_index))
			add_pu(found, topology, pu, &core);
	}
	return 0;
}

static uint32_t attribute(hwloc_topology_t topology, hwloc_memattr_id_t id, hwloc_obj_t node)
{
	struct hwloc_location initiator = {
		.type = HWLOC_LOCATION_TYPE_CPUSET,
		.location.cpuset = node->cpuset,
	};
	hwloc_uint64_t value;

	if (hwloc_bitmap_iszero(node->cpuset) ||
		hwloc_memattr_get_value(topology, id, node, &initiator, 0, &value))
		return 0;
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/* The attribute for reads or writes, or the one for both if the machine has only that; 0: none. */
static uint32_t attribute_or(
	hwloc_topology_t topology, hwloc_memattr_id_t id, hwloc_memattr_id_t both, hwloc_obj_t node)
{
	uint32_t value = attribute(topology, id, node);

	return value ? value : attribute(topology, both, node);
}

static void read_attributes(
	struct pm_memory_node *node, hwloc_topology_t topology, hwloc_obj_t object)
{
	node->read_mb_s = attribute_or(
		topology, HWLOC_MEMATTR_ID_READ_BANDWIDTH, HWLOC_MEMATTR_ID_BANDWIDTH, object);
	node->write_mb_s = attribute_or(
		topology, HWLOC_MEMATTR_ID_WRITE_BANDWIDTH, HWLOC_MEMATTR_ID_BANDWIDTH, object);
	node->read_latency_ns = attribute_or(
		topology, HWLOC_MEMATTR_ID_READ_LATENCY, HWLOC_MEMATTR_ID_LATENCY, object);
	node->write_latency_ns = attribute_or(
		topology, HWLOC_MEMATTR_ID_WRITE_LATENCY, HWLOC_MEMATTR_ID_LATENCY, object);
}

static void add_bits(cpu_set_t *set, hwloc_const_bitmap_t bitmap)
{
	for (int i = hwloc_bitmap_first(bitmap); i >= 0; i = hwloc_bitmap_next(bitmap, i))
		CPU_SET(i, set);
}

/*
 * CPUs that a node is near to, offline ones included. A node without locality, as one that is
 * equally far from all nodes with CPUs, is near all CPUs.
 */
static hwloc_const_bitmap_t cpus_near(hwloc_topology_t topology, hwloc_obj_t node)
{
	if (!hwloc_bitmap_iszero(node->complete_cpuset))
		return node->complete_cpuset;
	return hwloc_topology_get_topology_cpuset(topology);
}

static void read_node(struct pm_found_node *found, hwloc_topology_t topology, hwloc_obj_t object)
{
	struct pm_memory_node *node = &found->node;

	node->node = (int)object->os_index;
	node->bytes = object->attr->numanode.local_memory;
	add_bits(&node->cpus, cpus_near(topology, object));
	if (object->parent->type == HWLOC_OBJ_MEMCACHE)
		node->cache_bytes = object->parent->attr->cache.size;
	read_attributes(node, topology, object);
	found->subtype = object->subtype;
}

static int find_nodes(struct pm_found *found, hwloc_topology_t topology)
{
	hwloc_obj_t node = NULL;

	found->nodes = calloc((size_t)hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE) + 1,
		sizeof(*found->nodes));
	if (!found->nodes)
		return -ENOMEM;
	while ((node = hwloc_get_next_obj_by_type(topology, HWLOC_OBJ_NUMANODE, node)))
		read_node(&found->nodes[found->n_nodes++], topology, node);
	return 0;
}

/* After the classification: a node that may not be used is still evidence for its neighbours. */
static void drop_nodes(struct pm_found *found, const struct filter *filter)
{
	unsigned n = 0;

	for (unsigned i = 0; i < found->n_nodes; i++) {
		if (passes(filter, (unsigned)found->nodes[i].node.node))
			found->nodes[n++] = found->nodes[i];
	}
	found->n_nodes = n;
}

static void cleanup_found(struct pm_found *found)
{
	free(found->cores);
	free(found->nodes);
}

static int read_topology(struct pm_topology **ret, hwloc_topology_t topology,
	const struct pm_topology_source *source, struct pm_err *err)
{
	cleanup_with(cleanup_found) struct pm_found found = {0};
	struct filter cpus = {hwloc_topology_get_allowed_cpuset(topology), source->cpus};
	struct filter nodes = {hwloc_topology_get_allowed_nodeset(topology), source->nodes};

	if (find_cores(&found, topology, &cpus) || find_nodes(&found, topology))
		return pm_err_nomem(err);
	pm_memory_classify(&found, source->hints, source->n_hints);
	drop_nodes(&found, &nodes);
	return pm_topology_arrange(ret, &found, source->hints, source->n_hints, err);
}

int pm_topology_load(
	struct pm_topology **ret, const struct pm_topology_source *source, struct pm_err *err)
{
	cleanup_with(cleanup_topology) hwloc_topology_t topology = NULL;
	int rc = discover(&topology, source, err);

	if (!rc)
		rc = check_numbers(topology, err);
	if (!rc)
		rc = read_topology(ret, topology, source, err);
	if (!rc)
		(*ret)->discovered = pm_steal(topology);
	return rc;
}

int pm_topology_restrict(struct pm_topology **ret, const struct pm_topology *topology,
	const struct pm_topology_source *source, struct pm_err *err)
{
	return read_topology(ret, topology->discovered, source, err);
}

int pm_topology_xml(const struct pm_topology *topology, char **ret, struct pm_err *err)
{
	char *text, *copy;
	int length;

	if (!topology->discovered)
		return pm_err_set(err, -EINVAL, "this topology was made by hand");
	if (hwloc_topology_export_xmlbuffer(topology->discovered, &text, &length, 0))
		return pm_err_sys(err, -errno, "hwloc");
	copy = strdup(text);
	hwloc_free_xmlbuffer(topology->discovered, text);
	if (!copy)
		return pm_err_nomem(err);
	*ret = copy;
	return 0;
}

int pm_topology_save(const struct pm_topology *topology, const char *path, struct pm_err *err)
{
	cleanup_free char *text = NULL;
	int rc = pm_topology_xml(topology, &text, err);

	return rc ? pm_err_prefix(err, "write '%s'", path)
		  : pm_file_write(path, 0600, text, strlen(text), err);
}
