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

static void add_int(json_object *object, const char *key, int value)
{
	json_object_object_add(object, key, json_object_new_int(value));
}

static json_object *spaces_of(const struct pm_spaces *spaces)
{
	json_object *object = json_object_new_object();

	pm_json_add_u64(object, "metadata_bytes", spaces->metadata);
	pm_json_add_u64(object, "temporary_bytes", spaces->temporary);
	pm_json_add_u64(object, "migration_bytes", spaces->migration);
	pm_json_add_u64(object, "free_bytes", spaces->free);
	return object;
}

static void add_memory(json_object *object, const struct pm_plan_rank *rank)
{
	add_set(object, "dram_nodes", &rank->dram_nodes);
	pm_json_add_u64(object, "dram_bytes", rank->dram_bytes);
	json_object_object_add(object, "spaces", spaces_of(&rank->spaces));
	add_set(object, "pmem_nodes", &rank->pmem_nodes);
	add_bytes(object, "pmem_bytes", rank->pmem_bytes);
	pm_json_add_string(object, "policy", pm_mpol_name(rank->mode));
	if (rank->mode != MPOL_DEFAULT)
		add_set(object, "policy_nodes", &rank->nodes);
}

static void add_binding(
	json_object *object, const struct pm_topology *topology, const struct pm_plan_rank *rank)
{
	add_int(object, "socket", topology->packages[rank->package].number);
	json_object_object_add(
		object, "spans_sockets", json_object_new_boolean(rank->spans_packages));
	add_set(object, "cpus", &rank->cpus);
	add_set(object, "helper_cpus", &rank->helpers);
	add_int(object, "threads", (int)rank->threads);
}

static json_object *rank_of(const struct pm_plan_view *view, const struct pm_plan_rank *rank)
{
	json_object *object = json_object_new_object();

	add_int(object, "rank", (int)rank->rank);
	if (CPU_COUNT(&rank->cpus))
		add_binding(object, view->topology, rank);
	add_memory(object, rank);
	if (rank->pmem_dir >= 0)
		pm_json_add_string(
			object, "directory", view->request->pmem_dirs[rank->pmem_dir].path);
	return object;
}

static json_object *node_of(const struct pm_topology *topology, const struct pm_memory_node *node)
{
	json_object *object = json_object_new_object();

	add_int(object, "node", node->node);
	pm_json_add_string(object, "kind", pm_memory_kind_name(node->kind));
	pm_json_add_string(object, "known_by", pm_memory_evidence_name(node->evidence));
	if (node->package >= 0)
		add_int(object, "socket", topology->packages[node->package].number);
	add_set(object, "cpus", &node->cpus);
	pm_json_add_u64(object, "bytes", node->bytes);
	add_bytes(object, "cache_bytes", node->cache_bytes);
	return object;
}

static json_object *domain_of(const struct pm_topology *topology, const struct pm_domain *domain)
{
	json_object *object = json_object_new_object();
	cpu_set_t cpus;

	CPU_ZERO(&cpus);
	for (unsigned i = 0; i < domain->n_cores; i++) {
		const struct pm_core *core = &topology->cores[domain->first_core + i];

		for (unsigned j = 0; j < core->n_cpus; j++)
			CPU_SET(core->cpus[j], &cpus);
	}
	add_int(object, "socket", topology->packages[domain->package].number);
	add_int(object, "cores", (int)domain->n_cores);
	add_set(object, "cpus", &cpus);
	if (domain->dram >= 0)
		add_int(object, "dram_node", topology->nodes[domain->dram].node);
	if (domain->pmem >= 0)
		add_int(object, "pmem_node", topology->nodes[domain->pmem].node);
	return object;
}

static json_object *machine_of(const struct pm_topology *topology)
{
	json_object *object = json_object_new_object();
	json_object *domains = json_object_new_array(), *memory = json_object_new_array();

	for (unsigned i = 0; i < topology->n_domains; i++)
		json_object_array_add(domains, domain_of(topology, &topology->domains[i]));
	for (unsigned i = 0; i < topology->n_nodes; i++)
		json_object_array_add(memory, node_of(topology, &topology->nodes[i]));
	add_int(object, "sockets", (int)topology->n_packages);
	add_int(object, "cores", (int)topology->n_cores);
	json_object_object_add(object, "domains", domains);
	json_object_object_add(object, "memory", memory);
	return object;
}

static json_object *root_of(const struct pm_plan_view *view)
{
	const struct pm_plan *plan = view->plan;
	json_object *root = json_object_new_object();
	json_object *ranks = json_object_new_array(), *notes = json_object_new_array();

	for (unsigned i = 0; i < plan->n_ranks; i++)
		json_object_array_add(ranks, rank_of(view, &plan->ranks[i]));
	for (char **note = plan->notes; note && *note; note++)
		json_object_array_add(notes, json_object_new_string(*note));
	pm_json_add_string(root, "bind", pm_bind_name(plan->bind));
	pm_json_add_string(root, "distribution", pm_distribution_name(view->request->distribution));
	pm_json_add_string(root, "policy", pm_mem_policy_name(plan->policy));
	pm_json_add_u64(root, "reserve_bytes", plan->reserve_bytes);
	add_bytes(root, "memory_limit_bytes", view->request->memory_limit_bytes);
	json_object_object_add(root, "machine", machine_of(view->topology));
	json_object_object_add(root, "ranks", ranks);
	json_object_object_add(root, "notes", notes);
	return root;
}

char *pm_plan_json(const struct pm_plan_view *view)
{
	json_object *root = root_of(view);
	char *text = pm_json_format(root);

	json_object_put(root);
	return text;
}
