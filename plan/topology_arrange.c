/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "plan/topology_arrange.h"

#define NONE (-1)

static cpu_set_t package_cpus(const struct pm_topology *t, unsigned package)
{
	return pm_topology_cpus(t, t->packages[package].first_core, t->packages[package].n_cores);
}

/* --- packages: cores sorted by package, in hwloc's order within --- */

static unsigned count_below(const struct pm_found *found, int number)
{
	unsigned n = 0;

	for (unsigned i = 0; i < found->n_cores; i++)
		n += found->cores[i].package < number;
	return n;
}

static unsigned copy_cores(struct pm_topology *t, const struct pm_found *found, int number)
{
	unsigned first = count_below(found, number), n = 0;

	for (unsigned i = 0; i < found->n_cores; i++) {
		const struct pm_found_core *core = &found->cores[i];

		if (core->package != number)
			continue;
		t->cores[first + n].package = t->n_packages;
		t->cores[first + n].n_cpus = core->n_cpus;
		memcpy(t->cores[first + n++].cpus, core->cpus, sizeof(core->cpus));
	}
	return n;
}

/* The lowest number of a package above `number`; NONE. */
static int next_package(const struct pm_found *found, int number)
{
	int next = NONE;

	for (unsigned i = 0; i < found->n_cores; i++) {
		int package = found->cores[i].package;

		if (package > number && (next == NONE || package < next))
			next = package;
	}
	return next;
}

static void arrange_packages(struct pm_topology *t, const struct pm_found *found)
{
	for (int number = next_package(found, NONE); number != NONE;
		number = next_package(found, number)) {
		struct pm_package *package = &t->packages[t->n_packages];

		package->number = number;
		package->first_core = count_below(found, number);
		package->n_cores = copy_cores(t, found, number);
		t->n_packages++;
	}
}

/* --- memory: the package of each node --- */

/* The only package with CPUs that the node is near to; NONE: several, or no such package. */
static int package_of_memory(const struct pm_topology *t, const struct pm_memory_node *node)
{
	int package = NONE;

	for (unsigned i = 0; i < t->n_packages; i++) {
		cpu_set_t cpus = package_cpus(t, i);

		if (!pm_cpus_intersect(&cpus, &node->cpus))
			continue;
		if (package != NONE)
			return NONE;
		package = (int)i;
	}
	return package;
}

/* A hint's package overrides the discovered locality. */
static void apply_hint(struct pm_topology *t, struct pm_memory_node *node,
	const struct pm_memory_hint *hints, size_t n_hints)
{
	for (size_t i = 0; i < n_hints; i++) {
		for (unsigned p = 0; p < t->n_packages; p++) {
			if (hints[i].node == node->node &&
				hints[i].package == t->packages[p].number)
				node->cpus = package_cpus(t, p);
		}
	}
}

static void arrange_nodes(struct pm_topology *t, const struct pm_found *found,
	const struct pm_memory_hint *hints, size_t n_hints)
{
	for (unsigned i = 0; i < found->n_nodes; i++) {
		struct pm_memory_node *node = &t->nodes[t->n_nodes];

		if (!found->nodes[i].node.bytes)
			continue;
		*node = found->nodes[i].node;
		apply_hint(t, node, hints, n_hints);
		node->package = package_of_memory(t, node);
		t->n_nodes++;
	}
}

/* --- domains: cores with the same main memory --- */

/* Main memory of these CPUs: DRAM before HBM, then the node with the fewest CPUs; NONE. */
static int nearest_main(const struct pm_topology *t, const cpu_set_t *cpus, bool in_package)
{
	int best = NONE;

	for (unsigned i = 0; i < t->n_nodes; i++) {
		const struct pm_memory_node *node = &t->nodes[i];
		const struct pm_memory_node *other = best == NONE ? NULL : &t->nodes[best];

		if (node->kind != PM_MEMORY_DRAM && node->kind != PM_MEMORY_HBM)
			continue;
		if (!pm_cpus_intersect(&node->cpus, cpus) || (in_package && node->package == NONE))
			continue;
		if (!other || node->kind < other->kind ||
			(node->kind == other->kind &&
				CPU_COUNT(&node->cpus) < CPU_COUNT(&other->cpus)))
			best = (int)i;
	}
	return best;
}

static int main_of_core(const struct pm_topology *t, const struct pm_core *core)
{
	cpu_set_t cpus = pm_core_cpus(core);
	int dram = nearest_main(t, &cpus, false);

	if (dram != NONE)
		return dram;
	cpus = package_cpus(t, core->package);
	return nearest_main(t, &cpus, true);
}

static void add_domain(
	struct pm_topology *t, unsigned package, unsigned first, unsigned n, int dram)
{
	for (unsigned i = first; i < first + n; i++)
		t->cores[i].domain = t->n_domains;
	t->packages[package].n_domains++;
	t->domains[t->n_domains++] = (struct pm_domain){
		.package = package,
		.first_core = first,
		.n_cores = n,
		.dram = dram,
		.pmem = NONE,
	};
}

/* Moves the cores with this main memory to the front of cores[first..end); the sort is stable. */
static unsigned gather(struct pm_topology *t, unsigned first, unsigned end, int dram)
{
	unsigned n = 0;

	for (unsigned i = first; i < end; i++) {
		struct pm_core core = t->cores[i];

		if (main_of_core(t, &core) != dram)
			continue;
		memmove(&t->cores[first + n + 1], &t->cores[first + n],
			(i - first - n) * sizeof(core));
		t->cores[first + n++] = core;
	}
	return n;
}

static void arrange_domains(struct pm_topology *t)
{
	for (unsigned p = 0; p < t->n_packages; p++) {
		struct pm_package *package = &t->packages[p];
		unsigned first = package->first_core, end = first + package->n_cores;

		package->first_domain = t->n_domains;
		while (first < end) {
			int dram = main_of_core(t, &t->cores[first]);
			unsigned n = gather(t, first, end, dram);

			add_domain(t, p, first, n, dram);
			first += n;
		}
	}
}

/* --- local memory of a domain --- */

/* True: the node is near no CPU but those of the domain's main memory. */
static bool is_beside(const struct pm_topology *t, const struct pm_domain *domain,
	const struct pm_memory_node *node)
{
	const struct pm_memory_node *dram = domain->dram == NONE ? NULL : &t->nodes[domain->dram];

	return dram && pm_cpus_contain(&dram->cpus, &node->cpus);
}

/* True: the node is near all CPUs of the domain, and is of its package or beside its DRAM. */
static bool is_local(const struct pm_topology *t, const struct pm_domain *domain,
	const struct pm_memory_node *node)
{
	cpu_set_t cpus = pm_topology_cpus(t, domain->first_core, domain->n_cores);

	return pm_cpus_contain(&node->cpus, &cpus) &&
	       (node->package == (int)domain->package || is_beside(t, domain, node));
}

/* True: a is the better slow node of a domain, by kind, bandwidth, latency. */
static bool is_better(const struct pm_memory_node *a, const struct pm_memory_node *b)
{
	if (a->kind != b->kind)
		return a->kind < b->kind;
	if (a->read_mb_s != b->read_mb_s)
		return a->read_mb_s > b->read_mb_s;
	return a->read_latency_ns < b->read_latency_ns;
}

/* Adds the slow memory of the domain; `anywhere`: all of its package. */
static void add_slow(struct pm_topology *t, struct pm_domain *domain, bool anywhere)
{
	for (unsigned i = 0; i < t->n_nodes; i++) {
		const struct pm_memory_node *node = &t->nodes[i];
		bool is_near = anywhere ? node->package == (int)domain->package
					: is_local(t, domain, node);

		if (!pm_memory_is_slow(node->kind) || !is_near)
			continue;
		CPU_SET(node->node, &domain->local);
		if (domain->pmem == NONE || is_better(node, &t->nodes[domain->pmem]))
			domain->pmem = (int)i;
	}
}

static void add_fast(struct pm_topology *t, struct pm_domain *domain)
{
	for (unsigned i = 0; i < t->n_nodes; i++) {
		const struct pm_memory_node *node = &t->nodes[i];

		if ((int)i == domain->dram ||
			(node->kind == PM_MEMORY_HBM && is_local(t, domain, node)))
			CPU_SET(node->node, &domain->local);
	}
}

static void arrange_locality(struct pm_topology *t)
{
	for (unsigned i = 0; i < t->n_domains; i++) {
		struct pm_domain *domain = &t->domains[i];

		add_fast(t, domain);
		add_slow(t, domain, false);
		if (domain->pmem == NONE)
			add_slow(t, domain, true);
	}
}

static bool allocate(struct pm_topology *t, const struct pm_found *found)
{
	unsigned n = found->n_cores;

	t->packages = calloc(n, sizeof(*t->packages));
	t->domains = calloc(n, sizeof(*t->domains));
	t->cores = calloc(n, sizeof(*t->cores));
	t->nodes = calloc(found->n_nodes + 1, sizeof(*t->nodes));
	t->n_cores = n;
	return t->packages && t->domains && t->cores && t->nodes;
}

int pm_topology_arrange(struct pm_topology **ret, const struct pm_found *found,
	const struct pm_memory_hint *hints, size_t n_hints, struct pm_err *err)
{
	cleanup_with(pm_topology_cleanup) struct pm_topology *t = NULL;

	if (!found->n_cores)
		return pm_err_set(err, -ENODEV,
			"there is no usable processor: the cpuset of the job or of the container "
			"excludes all processors of the topology");
	t = calloc(1, sizeof(*t));
	if (!t || !allocate(t, found))
		return pm_err_nomem(err);
	arrange_packages(t, found);
	arrange_nodes(t, found, hints, n_hints);
	arrange_domains(t);
	arrange_locality(t);
	*ret = pm_steal(t);
	return 0;
}
