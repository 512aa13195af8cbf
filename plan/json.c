/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <linux/mempolicy.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/json.h"
#include "plan/show.h"

/* An empty set gets no member. */
static void add_set(json_object *object, const char *key, const cpu_set_t *set)
{
	cleanup_free char *list = pm_cpulist_format(set);

	if (list && *list)
		pm_json_add_string(object, key, list);
}

static void add_bytes(json_object *object, const char *key, uint64_t bytes)
{
	if (bytes)
		pm_json_add_u64(object, key, bytes);
}

static void add_spaces(json_object *object, const struct pm_spaces *spaces)
{
	json_object *member = pm_json_add_object(object, "spaces");

	pm_json_add_u64(member, "metadata_bytes", spaces->metadata);
	pm_json_add_u64(member, "temporary_bytes", spaces->temporary);
	pm_json_add_u64(member, "migration_bytes", spaces->migration);
	pm_json_add_u64(member, "free_bytes", spaces->free);
}

static void add_memory(json_object *object, const struct pm_plan_rank *rank)
{
	add_set(object, "dram_nodes", &rank->dram_nodes);
	pm_json_add_u64(object, "dram_bytes", rank->dram_bytes);
	add_spaces(object, &rank->spaces);
	add_set(object, "pmem_nodes", &rank->pmem_nodes);
	add_bytes(object, "pmem_bytes", rank->pmem_bytes);
	pm_json_add_string(object, "policy", pm_mpol_name(rank->mode));
	if (rank->mode != MPOL_DEFAULT)
		add_set(object, "policy_nodes", &rank->nodes);
}

static void add_binding(
	json_object *object, const struct pm_topology *topology, const struct pm_plan_rank *rank)
{
	pm_json_add_int(object, "socket", topology->packages[rank->package].number);
	pm_json_add_bool(object, "spans_sockets", rank->spans_packages);
	add_set(object, "cpus", &rank->cpus);
	add_set(object, "helper_cpus", &rank->helpers);
	pm_json_add_int(object, "threads", (int)rank->threads);
}

static void append_rank(
	json_object *list, const struct pm_plan_view *view, const struct pm_plan_rank *rank)
{
	json_object *object = pm_json_append_object(list);

	pm_json_add_int(object, "rank", (int)rank->rank);
	if (CPU_COUNT(&rank->cpus))
		add_binding(object, view->topology, rank);
	add_memory(object, rank);
	if (rank->pmem_dir >= 0)
		pm_json_add_string(
			object, "directory", view->request->pmem_dirs[rank->pmem_dir].path);
}

static void append_node(
	json_object *list, const struct pm_topology *topology, const struct pm_memory_node *node)
{
	json_object *object = pm_json_append_object(list);

	pm_json_add_int(object, "node", node->node);
	pm_json_add_string(object, "kind", pm_memory_kind_name(node->kind));
	pm_json_add_string(object, "known_by", pm_memory_evidence_name(node->evidence));
	if (node->package >= 0)
		pm_json_add_int(object, "socket", topology->packages[node->package].number);
	add_set(object, "cpus", &node->cpus);
	pm_json_add_u64(object, "bytes", node->bytes);
	add_bytes(object, "cache_bytes", node->cache_bytes);
}

static void append_domain(
	json_object *list, const struct pm_topology *topology, const struct pm_domain *domain)
{
	json_object *object = pm_json_append_object(list);
	cpu_set_t cpus = pm_topology_cpus(topology, domain->first_core, domain->n_cores);

	pm_json_add_int(object, "socket", topology->packages[domain->package].number);
	pm_json_add_int(object, "cores", (int)domain->n_cores);
	add_set(object, "cpus", &cpus);
	if (domain->dram >= 0)
		pm_json_add_int(object, "dram_node", topology->nodes[domain->dram].node);
	if (domain->pmem >= 0)
		pm_json_add_int(object, "pmem_node", topology->nodes[domain->pmem].node);
}

static void add_machine(json_object *root, const struct pm_topology *topology)
{
	json_object *object = pm_json_add_object(root, "machine"), *domains, *memory;

	pm_json_add_int(object, "sockets", (int)topology->n_packages);
	pm_json_add_int(object, "cores", (int)topology->n_cores);
	domains = pm_json_add_array(object, "domains");
	for (unsigned i = 0; i < topology->n_domains; i++)
		append_domain(domains, topology, &topology->domains[i]);
	memory = pm_json_add_array(object, "memory");
	for (unsigned i = 0; i < topology->n_nodes; i++)
		append_node(memory, topology, &topology->nodes[i]);
}

char *pm_plan_json(const struct pm_plan_view *view)
{
	const struct pm_plan *plan = view->plan;
	cleanup_with(pm_json_cleanup) json_object *root = json_object_new_object();
	json_object *ranks, *notes;

	pm_json_add_string(root, "bind", pm_bind_name(plan->bind));
	pm_json_add_string(root, "distribution", pm_distribution_name(view->request->distribution));
	pm_json_add_string(root, "policy", pm_mem_policy_name(plan->policy));
	pm_json_add_u64(root, "reserve_bytes", plan->reserve_bytes);
	add_bytes(root, "memory_limit_bytes", view->request->memory_limit_bytes);
	if (view->site_profile)
		pm_json_add_string(root, "site_profile", view->site_profile);
	add_machine(root, view->topology);
	ranks = pm_json_add_array(root, "ranks");
	for (unsigned i = 0; i < plan->n_ranks; i++)
		append_rank(ranks, view, &plan->ranks[i]);
	notes = pm_json_add_array(root, "notes");
	for (char **note = plan->notes; note && *note; note++)
		json_object_array_add(notes, json_object_new_string(*note));
	return pm_json_format(root);
}
