/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <linux/mempolicy.h>

#include "base/cleanup.h"
#include "base/columns.h"
#include "base/cpulist.h"
#include "base/units.h"
#include "plan/show.h"

/* MPOL_WEIGHTED_INTERLEAVE of Linux 6.9, which the headers of 6.1 lack. */
#define WEIGHTED_INTERLEAVE 6

const char *pm_mpol_name(int mode)
{
	switch (mode) {
	case MPOL_BIND:
		return "bind";
	case MPOL_PREFERRED:
		return "preferred";
	case MPOL_PREFERRED_MANY:
		return "preferred-many";
	case MPOL_INTERLEAVE:
		return "interleave";
	case WEIGHTED_INTERLEAVE:
		return "weighted-interleave";
	default:
		return "default";
	}
}

struct pm_cpu_owner pm_plan_owner(const struct pm_plan *plan, int cpu)
{
	for (unsigned i = 0; i < plan->n_ranks; i++) {
		if (CPU_ISSET(cpu, &plan->ranks[i].cpus))
			return (struct pm_cpu_owner){PM_CPU_PROGRAM, i};
		if (CPU_ISSET(cpu, &plan->ranks[i].helpers))
			return (struct pm_cpu_owner){PM_CPU_HELPER, i};
	}
	return (struct pm_cpu_owner){PM_CPU_IDLE, 0};
}

static void add_set(struct pm_columns *columns, const cpu_set_t *set)
{
	cleanup_free char *list = pm_cpulist_format(set);

	columns->failed |= !list;
	pm_columns_add(columns, "%s", list ? list : "");
}

static void add_size(struct pm_columns *columns, uint64_t bytes)
{
	char text[PM_SIZE_TEXT];

	pm_columns_add(columns, "%s", bytes ? pm_format_size(bytes, text) : "");
}

static void heads(struct pm_columns *columns, const char *const *names, const char *flush)
{
	for (size_t i = 0; names[i]; i++)
		pm_columns_head(columns, names[i], flush[i] == '>');
}

static void add_node(struct pm_columns *columns, const struct pm_topology *topology,
	const struct pm_memory_node *node)
{
	pm_columns_add(columns, "%d", node->node);
	pm_columns_add(columns, "%s", pm_memory_kind_name(node->kind));
	if (node->package < 0)
		pm_columns_add(columns, "-");
	else
		pm_columns_add(columns, "%d", topology->packages[node->package].number);
	add_set(columns, &node->cpus);
	add_size(columns, node->bytes);
	add_size(columns, node->cache_bytes);
	pm_columns_add(columns, "%s", pm_memory_evidence_name(node->evidence));
}

static int print_memory(const struct pm_topology *topology, FILE *out)
{
	static const char *const names[] = {
		"NODE", "KIND", "SOCKET", "OF CPUS", "SIZE", "DRAM CACHE", "KNOWN BY", NULL};
	struct pm_columns columns = {0};

	heads(&columns, names, "><><>><");
	for (unsigned i = 0; i < topology->n_nodes; i++)
		add_node(&columns, topology, &topology->nodes[i]);
	return pm_columns_print(&columns, out);
}

static void add_pmem_dir(struct pm_columns *columns, const struct pm_plan_view *view, int dir)
{
	pm_columns_add(columns, "%s", dir < 0 ? "" : view->request->pmem_dirs[dir].path);
}

/* Socket, CPUs and threads; "-" for an unbound rank. */
static void add_binding(struct pm_columns *columns, const struct pm_plan_view *view,
	const struct pm_plan_rank *rank)
{
	if (!CPU_COUNT(&rank->cpus)) {
		pm_columns_add(columns, "-");
		pm_columns_add(columns, "%s", "");
		pm_columns_add(columns, "%s", "");
		return;
	}
	pm_columns_add(columns, "%d%s", view->topology->packages[rank->package].number,
		rank->spans_packages ? "+" : "");
	add_set(columns, &rank->cpus);
	pm_columns_add(columns, "%u", rank->threads);
}

static void add_rank(struct pm_columns *columns, const struct pm_plan_view *view,
	const struct pm_plan_rank *rank)
{
	pm_columns_add(columns, "%u", rank->rank);
	add_binding(columns, view, rank);
	add_set(columns, &rank->helpers);
	add_set(columns, &rank->dram_nodes);
	add_size(columns, rank->dram_bytes);
	add_size(columns, rank->spaces.metadata);
	add_size(columns, rank->spaces.temporary);
	add_size(columns, rank->spaces.migration);
	add_size(columns, rank->spaces.free);
	add_set(columns, &rank->pmem_nodes);
	add_size(columns, rank->pmem_bytes);
	pm_columns_add(columns, "%s", pm_mpol_name(rank->mode));
	add_set(columns, &rank->nodes);
	add_pmem_dir(columns, view, rank->pmem_dir);
}

static int print_ranks(const struct pm_plan_view *view, FILE *out)
{
	static const char *const names[] = {"RANK", "SOCKET", "CPUS", "THREADS", "HELPERS", "NODE",
		"DRAM", "METADATA", "TEMPORARY", "MIGRATION", "FREE", "NODE", "PMEM", "POLICY",
		"NODES", "DIRECTORY", NULL};
	struct pm_columns columns = {0};

	heads(&columns, names, "><<><<>>>>><><<<");
	for (unsigned i = 0; i < view->plan->n_ranks; i++)
		add_rank(&columns, view, &view->plan->ranks[i]);
	return pm_columns_print(&columns, out);
}

static void print_asked(const struct pm_plan_view *view, FILE *out)
{
	const struct pm_topology *topology = view->topology;
	char text[PM_SIZE_TEXT];

	fprintf(out, "%u rank%s on %u socket%s with %u core%s: bind %s, distribution %s, policy %s",
		view->plan->n_ranks, view->plan->n_ranks == 1 ? "" : "s", topology->n_packages,
		topology->n_packages == 1 ? "" : "s", topology->n_cores,
		topology->n_cores == 1 ? "" : "s", pm_bind_name(view->plan->bind),
		pm_distribution_name(view->request->distribution),
		pm_mem_policy_name(view->plan->policy));
	if (view->plan->reserve_bytes)
		fprintf(out, ", up to %s of a socket kept back",
			pm_format_size(view->plan->reserve_bytes, text));
	if (view->request->memory_limit_bytes)
		fprintf(out, ", at most %s in all",
			pm_format_size(view->request->memory_limit_bytes, text));
	if (view->site_profile)
		fprintf(out, ", bandwidths of site profile %s", view->site_profile);
	fputs("\n\n", out);
}

int pm_plan_print_table(const struct pm_plan_view *view, FILE *out)
{
	int rc;

	print_asked(view, out);
	rc = print_memory(view->topology, out);
	putc('\n', out);
	if (!rc)
		rc = print_ranks(view, out);
	for (char **note = view->plan->notes; !rc && note && *note; note++)
		fprintf(out, "%snote: %s\n", note == view->plan->notes ? "\n" : "", *note);
	return rc;
}
