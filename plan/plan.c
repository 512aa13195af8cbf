/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "plan/plan.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/strv.h"
#include "plan/memory.h"
#include "plan/binding.h"

/* --- notes --- */

__attribute__((format(printf, 2, 3))) static int note(struct pm_plan *plan, const char *fmt, ...)
{
	size_t n = pm_strv_length(plan->notes);
	char **longer = realloc(plan->notes, (n + 2) * sizeof(*longer));
	va_list args;

	if (!longer)
		return -ENOMEM;
	plan->notes = longer;
	va_start(args, fmt);
	longer[n] = pm_vasprintf(fmt, args);
	longer[n + 1] = NULL;
	va_end(args);
	return longer[n] ? 0 : -ENOMEM;
}

static bool is_used(const struct pm_plan *plan, const struct pm_core *core)
{
	for (unsigned r = 0; r < plan->n_ranks; r++) {
		for (unsigned i = 0; i < core->n_cpus; i++) {
			if (CPU_ISSET(core->cpus[i], &plan->ranks[r].cpus) ||
				CPU_ISSET(core->cpus[i], &plan->ranks[r].helpers))
				return true;
		}
	}
	return false;
}

static int note_idle_cores(struct pm_plan *plan, const struct pm_topology *t)
{
	int rc = 0;

	for (unsigned p = 0; !rc && p < t->n_packages; p++) {
		const struct pm_package *package = &t->packages[p];
		unsigned n = 0;

		for (unsigned i = 0; i < package->n_cores; i++)
			n += !is_used(plan, &t->cores[package->first_core + i]);
		if (n)
			rc = note(plan, "socket %d: %u of %u cores are idle", package->number, n,
				package->n_cores);
	}
	return rc;
}

static bool is_local_to_any(const struct pm_topology *t, const struct pm_memory_node *node)
{
	for (unsigned d = 0; d < t->n_domains; d++) {
		if (CPU_ISSET(node->node, &t->domains[d].local))
			return true;
	}
	return false;
}

/* False: the node is local only to CPUs that the job may not use. */
static bool has_processors(const struct pm_topology *t, const struct pm_memory_node *node)
{
	cpu_set_t cpus = pm_topology_cpus(t, 0, t->n_cores);

	return pm_cpus_intersect(&cpus, &node->cpus);
}

static int note_node(
	struct pm_plan *plan, const struct pm_topology *t, const struct pm_memory_node *node)
{
	const char *why =
		has_processors(t, node)
			? "it is equally near to several sockets; MemoryNodes= in pmem.conf can "
			  "assign it to one"
			: "none of the CPUs near it may be used";

	return note(plan, "node %d (%s, %lluM) is unused: %s", node->node,
		pm_memory_kind_name(node->kind), (unsigned long long)(node->bytes >> 20), why);
}

static int note_memory(struct pm_plan *plan, const struct pm_topology *t)
{
	int rc = 0;

	for (unsigned i = 0; !rc && i < t->n_nodes; i++) {
		const struct pm_memory_node *node = &t->nodes[i];

		if (node->kind != PM_MEMORY_OTHER && !is_local_to_any(t, node))
			rc = note_node(plan, t, node);
	}
	return rc;
}

static int note_spanning(struct pm_plan *plan)
{
	unsigned n = 0;

	for (unsigned r = 0; r < plan->n_ranks; r++)
		n += plan->ranks[r].spans_packages;
	if (!n || plan->bind == PM_BIND_NONE)
		return 0;
	return note(plan,
		"%u of %u ranks span sockets: their threads may use memory of the other socket; "
		"more ranks or fewer threads avoid that",
		n, plan->n_ranks);
}

static int note_all(struct pm_plan *plan, const struct pm_topology *t)
{
	int rc = plan->bind == PM_BIND_NONE ? 0 : note_idle_cores(plan, t);

	if (!rc)
		rc = note_spanning(plan);
	return rc ? rc : note_memory(plan, t);
}

/* --- the plan --- */

static int check_request(const struct pm_plan_request *request, struct pm_err *err)
{
	if (!request->ranks)
		return pm_err_set(err, -EINVAL, "no ranks to plan for; give their number with -n");
	if (request->ranks > PM_PLAN_RANKS_MAX)
		return pm_err_set(err, -ERANGE, "%u ranks on one node; at most %u can be planned",
			request->ranks, PM_PLAN_RANKS_MAX);
	return 0;
}

static enum pm_mem_policy resolve(const struct pm_plan_request *request)
{
	if (request->policy != PM_MEM_POLICY_AUTO)
		return request->policy;
	return request->bind == PM_BIND_NONE ? PM_MEM_POLICY_NONE : PM_MEM_POLICY_DRAM_FIRST;
}

static struct pm_plan *new_plan(const struct pm_plan_request *request)
{
	struct pm_plan *plan = calloc(1, sizeof(*plan));
	struct pm_plan_rank *ranks = calloc(request->ranks, sizeof(*ranks));

	if (!plan || !ranks) {
		free(plan);
		free(ranks);
		return NULL;
	}
	plan->ranks = ranks;
	plan->n_ranks = request->ranks;
	plan->bind = request->bind;
	plan->policy = resolve(request);
	for (unsigned r = 0; r < request->ranks; r++) {
		ranks[r].rank = r;
		ranks[r].threads = request->threads;
	}
	return plan;
}

static uint64_t largest_reserve(const struct pm_topology *t, const struct pm_plan_request *request)
{
	uint64_t largest = 0;

	for (unsigned p = 0; p < t->n_packages; p++) {
		uint64_t reserve = pm_plan_reserved_bytes(t, p, request);

		largest = reserve > largest ? reserve : largest;
	}
	return largest;
}

int pm_plan_make(struct pm_plan **ret, const struct pm_topology *topology,
	const struct pm_plan_request *request, struct pm_err *err)
{
	cleanup_with(pm_plan_cleanup) struct pm_plan *plan = NULL;
	int rc = check_request(request, err);

	if (rc)
		return rc;
	plan = new_plan(request);
	if (!plan)
		return pm_err_nomem(err);
	plan->reserve_bytes = largest_reserve(topology, request);
	if (request->bind != PM_BIND_NONE)
		rc = pm_plan_bind_cpus(plan, topology, request, err);
	if (!rc)
		rc = pm_plan_assign_memory(plan, topology, request, err);
	if (!rc && note_all(plan, topology))
		rc = pm_err_nomem(err);
	if (!rc)
		*ret = pm_steal(plan);
	return rc;
}

void pm_plan_free(struct pm_plan *plan)
{
	if (!plan)
		return;
	free(plan->ranks);
	pm_strv_free(plan->notes);
	free(plan);
}

void pm_plan_cleanup(struct pm_plan **plan)
{
	pm_plan_free(*plan);
}
