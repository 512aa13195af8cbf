/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "plan/memory.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdlib.h>

#include "base/cleanup.h"

#define NONE		  (-1)
#define MIB		  (UINT64_C(1) << 20)
#define SPARE_BYTES	  (100 * MIB) /* of the temporary space: paper 000, §IV-A */
#define MPOL_WEIGHTED_6_9 6	      /* MPOL_WEIGHTED_INTERLEAVE, Linux 6.9 */

/* Default of a space: `bytes`, but at most 1 / `divisor` of the budget. */
struct default_size {
	uint64_t bytes;
	unsigned divisor;
};

static const struct default_size metadata = {64 * MIB, 16};
static const struct default_size temporary = {UINT64_MAX, 4};
static const struct default_size migration = {500 * MIB, 4}; /* a batch of particles: paper 000 */

struct assignment {
	struct pm_plan *plan;
	const struct pm_topology *topology;
	const struct pm_plan_request *request;
	unsigned *weights; /* [rank][domain]: CPUs of the rank in the domain */
	uint64_t *totals;  /* by node: sum of the weights of all ranks that use it */
	uint64_t *usable;  /* by node: bytes that the site does not keep back */
};

/* value * numerator / denominator, by a product of 128 bits; denominator > 0. */
static uint64_t scale(uint64_t value, uint64_t numerator, uint64_t denominator)
{
	return (uint64_t)((unsigned __int128)value * numerator / denominator);
}

static uint64_t round_down_unit(uint64_t bytes)
{
	return bytes / PM_PLAN_UNIT * PM_PLAN_UNIT;
}

static unsigned long long in_mib(uint64_t bytes)
{
	return bytes / MIB;
}

static unsigned *weights_of(const struct assignment *g, unsigned rank)
{
	return &g->weights[(size_t)rank * g->topology->n_domains];
}

static unsigned total_weight(const struct assignment *g, unsigned rank)
{
	unsigned total = 0;

	for (unsigned d = 0; d < g->topology->n_domains; d++)
		total += weights_of(g, rank)[d];
	return total;
}

/* --- locality of a rank --- */

static unsigned cpus_in_domain(
	const struct pm_topology *t, const struct pm_domain *domain, const cpu_set_t *cpus)
{
	unsigned n = 0;

	for (unsigned i = domain->first_core; i < domain->first_core + domain->n_cores; i++) {
		for (unsigned k = 0; k < t->cores[i].n_cpus; k++)
			n += CPU_ISSET(t->cores[i].cpus[k], cpus) ? 1 : 0;
	}
	return n;
}

/* An unbound rank counts in each domain with DRAM, in proportion to the domain's cores. */
static unsigned weight_in_domain(
	const struct assignment *g, const struct pm_plan_rank *rank, const struct pm_domain *domain)
{
	if (g->request->bind == PM_BIND_NONE)
		return domain->dram == NONE ? 0 : domain->n_cores;
	return cpus_in_domain(g->topology, domain, &rank->cpus);
}

static void set_weights(const struct assignment *g)
{
	const struct pm_topology *t = g->topology;

	for (unsigned r = 0; r < g->plan->n_ranks; r++) {
		for (unsigned d = 0; d < t->n_domains; d++)
			weights_of(g, r)[d] =
				weight_in_domain(g, &g->plan->ranks[r], &t->domains[d]);
	}
}

static const struct pm_domain *main_domain(const struct assignment *g, unsigned rank)
{
	const unsigned *weights = weights_of(g, rank);
	unsigned best = 0;

	for (unsigned d = 1; d < g->topology->n_domains; d++)
		best = weights[d] > weights[best] ? d : best;
	return &g->topology->domains[best];
}

static void add_domain(
	const struct pm_topology *t, struct pm_plan_rank *rank, const struct pm_domain *domain)
{
	rank->spans_packages |= rank->package != (int)domain->package;
	if (domain->dram != NONE)
		CPU_SET(t->nodes[domain->dram].node, &rank->dram_nodes);
	for (unsigned i = 0; i < t->n_nodes; i++) {
		if (pm_memory_is_slow(t->nodes[i].kind) &&
			CPU_ISSET(t->nodes[i].node, &domain->local))
			CPU_SET(t->nodes[i].node, &rank->pmem_nodes);
	}
}

/* Helper threads in another package than their rank's are reported as spanning. */
static bool has_helper_in(const struct pm_topology *t, const struct pm_domain *domain,
	const struct pm_plan_rank *rank)
{
	return cpus_in_domain(t, domain, &rank->helpers) > 0;
}

static void set_locality(const struct assignment *g, struct pm_plan_rank *rank)
{
	const struct pm_topology *t = g->topology;
	const struct pm_domain *home = main_domain(g, rank->rank);

	rank->package = (int)home->package;
	rank->dram_node = home->dram == NONE ? NONE : t->nodes[home->dram].node;
	rank->pmem_node = home->pmem == NONE ? NONE : t->nodes[home->pmem].node;
	for (unsigned d = 0; d < t->n_domains; d++) {
		if (weights_of(g, rank->rank)[d])
			add_domain(t, rank, &t->domains[d]);
		rank->spans_packages |= t->domains[d].package != home->package &&
					has_helper_in(t, &t->domains[d], rank);
	}
}

static int check_rank_dram(const struct assignment *g, unsigned rank, struct pm_err *err)
{
	const struct pm_topology *t = g->topology;

	for (unsigned d = 0; d < t->n_domains; d++) {
		if (!weights_of(g, rank)[d] || t->domains[d].dram != NONE)
			continue;
		return pm_err_set(err, -ENODEV,
			"rank %u would be bound to socket %d, which has no DRAM that may be used; "
			"leave that socket's processors out of the job, or ask for --pm-bind=none",
			rank, t->packages[t->domains[d].package].number);
	}
	if (!total_weight(g, rank))
		return pm_err_set(err, -ENODEV,
			"none of this node's DRAM may be used; look at cpuset.mems of the job's "
			"cgroup");
	return 0;
}

static int check_dram(const struct assignment *g, struct pm_err *err)
{
	int rc = 0;

	for (unsigned r = 0; !rc && r < g->plan->n_ranks; r++)
		rc = check_rank_dram(g, r, err);
	return rc;
}

/* --- usable memory --- */

/* Main memory of a package. Two of its domains never have the same node, so none counts twice. */
static uint64_t dram_of(const struct pm_topology *t, unsigned package)
{
	uint64_t bytes = 0;

	for (unsigned d = 0; d < t->packages[package].n_domains; d++) {
		int dram = t->domains[t->packages[package].first_domain + d].dram;

		bytes += dram == NONE ? 0 : t->nodes[dram].bytes;
	}
	return bytes;
}

uint64_t pm_plan_reserved_bytes(
	const struct pm_topology *topology, unsigned package, const struct pm_plan_request *request)
{
	return request->reserve_bytes +
	       scale(dram_of(topology, package), request->reserve_percent, 100);
}

uint64_t pm_plan_reserved_of_node(
	const struct pm_topology *t, unsigned node, const struct pm_plan_request *request)
{
	uint64_t reserve = 0;

	for (unsigned d = 0; d < t->n_domains; d++) {
		if (t->domains[d].dram == (int)node)
			reserve += scale(pm_plan_reserved_bytes(t, t->domains[d].package, request),
				t->nodes[node].bytes, dram_of(t, t->domains[d].package));
	}
	return reserve;
}

static void set_usable(struct assignment *g)
{
	for (unsigned i = 0; i < g->topology->n_nodes; i++) {
		uint64_t bytes = g->topology->nodes[i].bytes;
		uint64_t reserve = pm_plan_reserved_of_node(g->topology, i, g->request);

		g->usable[i] = bytes > reserve ? bytes - reserve : 0;
	}
}

/* Weight of a rank on a node: the sum over its domains that use the node. */
static unsigned weight_on(const struct assignment *g, unsigned rank, unsigned node)
{
	const struct pm_topology *t = g->topology;
	bool is_slow = pm_memory_is_slow(t->nodes[node].kind);
	unsigned weight = 0;

	for (unsigned d = 0; d < t->n_domains; d++) {
		const struct pm_domain *domain = &t->domains[d];

		if (is_slow ? CPU_ISSET(t->nodes[node].node, &domain->local)
			    : domain->dram == (int)node)
			weight += weights_of(g, rank)[d];
	}
	return weight;
}

static void sum_weights(struct assignment *g)
{
	for (unsigned i = 0; i < g->topology->n_nodes; i++) {
		for (unsigned r = 0; r < g->plan->n_ranks; r++)
			g->totals[i] += weight_on(g, r, i);
	}
}

/* --- budgets --- */

/* A rank's share of all DRAM nodes, or of all slow nodes. */
static uint64_t share_of(const struct assignment *g, unsigned rank, bool of_slow)
{
	const struct pm_topology *t = g->topology;
	uint64_t share = 0;

	for (unsigned i = 0; i < t->n_nodes; i++) {
		unsigned weight = weight_on(g, rank, i);

		/* totals[i] includes this weight, so it is not 0. */
		if (weight && pm_memory_is_slow(t->nodes[i].kind) == of_slow)
			share += scale(g->usable[i], weight, g->totals[i]);
	}
	return share;
}

/* Scales all budgets, or all shares of PMem, by one factor so that their sum is within the limit.
 */
static void scale_to_limit(const struct assignment *g, uint64_t limit, bool of_slow)
{
	uint64_t sum = 0;

	for (unsigned r = 0; r < g->plan->n_ranks; r++)
		sum += of_slow ? g->plan->ranks[r].pmem_bytes : g->plan->ranks[r].dram_bytes;
	if (sum <= limit)
		return;
	for (unsigned r = 0; r < g->plan->n_ranks; r++) {
		struct pm_plan_rank *rank = &g->plan->ranks[r];
		uint64_t *bytes = of_slow ? &rank->pmem_bytes : &rank->dram_bytes;

		*bytes = round_down_unit(scale(*bytes, limit, sum));
	}
}

/*
 * Bytes that all ranks take of a node if each has a budget of `bytes`. check_dram() has made sure
 * that each rank has a weight.
 */
static uint64_t sum_on(const struct assignment *g, unsigned node, uint64_t bytes)
{
	uint64_t sum = 0;

	for (unsigned r = 0; r < g->plan->n_ranks; r++)
		sum += scale(bytes, weight_on(g, r, node), total_weight(g, r));
	return sum;
}

static bool is_main(const struct assignment *g, unsigned node)
{
	return g->totals[node] && !pm_memory_is_slow(g->topology->nodes[node].kind);
}

/* Largest budget per rank that fits, at most the one asked for. */
static uint64_t largest_fit(const struct assignment *g)
{
	uint64_t asked = g->request->dram_bytes, limit = g->request->memory_limit_bytes;
	uint64_t most = asked;

	for (unsigned i = 0; i < g->topology->n_nodes; i++) {
		uint64_t sum = is_main(g, i) ? sum_on(g, i, asked) : 0;

		if (sum > g->usable[i] && scale(asked, g->usable[i], sum) < most)
			most = scale(asked, g->usable[i], sum);
	}
	if (limit && limit / g->plan->n_ranks < most)
		most = limit / g->plan->n_ranks;
	return round_down_unit(most);
}

static int refuse_sum(const struct assignment *g, unsigned node, uint64_t sum, struct pm_err *err)
{
	const struct pm_memory_node *at = &g->topology->nodes[node];
	uint64_t usable = g->usable[node];
	unsigned n = 0;

	for (unsigned r = 0; r < g->plan->n_ranks; r++)
		n += weight_on(g, r, node) > 0;
	return pm_err_set(err, -ENOSPC,
		"%u rank%s with --pm-dram=%lluM need%s %lluM of the DRAM of NUMA node %d, which "
		"has %lluM (%lluM less %lluM that the site keeps back); at most --pm-dram=%lluM "
		"fits",
		n, n == 1 ? "" : "s", in_mib(g->request->dram_bytes), n == 1 ? "s" : "",
		in_mib(sum), at->node, in_mib(usable), in_mib(at->bytes),
		in_mib(at->bytes - usable), in_mib(largest_fit(g)));
}

/* Checks that the budgets asked for fit on each node. */
static int check_nodes(const struct assignment *g, struct pm_err *err)
{
	for (unsigned i = 0; i < g->topology->n_nodes; i++) {
		uint64_t sum = is_main(g, i) ? sum_on(g, i, g->request->dram_bytes) : 0;

		if (sum > g->usable[i])
			return refuse_sum(g, i, sum, err);
	}
	return 0;
}

static int check_asked(const struct assignment *g, struct pm_err *err)
{
	uint64_t asked = g->request->dram_bytes, limit = g->request->memory_limit_bytes;
	unsigned n = g->plan->n_ranks;

	if (asked < PM_PLAN_UNIT)
		return pm_err_set(
			err, -EINVAL, "--pm-dram asks for less than the 2M that are the least");
	if (limit && asked > limit / n)
		return pm_err_set(err, -ENOSPC,
			"%u rank%s with --pm-dram=%lluM need%s %lluM, and the job's memory limit "
			"on this node is %lluM; at most --pm-dram=%lluM fits, or ask for more with "
			"--mem",
			n, n == 1 ? "" : "s", in_mib(asked), n == 1 ? "s" : "", in_mib(asked) * n,
			in_mib(limit), in_mib(largest_fit(g)));
	return check_nodes(g, err);
}

static int refuse_nothing(const struct assignment *g, unsigned rank, struct pm_err *err)
{
	return pm_err_set(err, -ENOSPC,
		"no DRAM is left for rank %u: %lluM of a socket are kept back by the site, the "
		"job's memory limit is %lluM (0: none); ask for fewer ranks or more memory",
		rank, in_mib(g->plan->reserve_bytes), in_mib(g->request->memory_limit_bytes));
}

static int assign_budgets(const struct assignment *g, struct pm_err *err)
{
	uint64_t asked = round_down_unit(g->request->dram_bytes),
		 limit = g->request->memory_limit_bytes;
	int rc = g->request->dram_bytes ? check_asked(g, err) : 0;

	if (rc)
		return rc;
	for (unsigned r = 0; r < g->plan->n_ranks; r++)
		g->plan->ranks[r].dram_bytes =
			asked ? asked : round_down_unit(share_of(g, r, false));
	if (limit)
		scale_to_limit(g, limit, false);
	for (unsigned r = 0; r < g->plan->n_ranks; r++) {
		struct pm_plan_rank *rank = &g->plan->ranks[r];

		if (!rank->dram_bytes)
			return refuse_nothing(g, r, err);
		rank->spaces = pm_plan_split_budget(rank->dram_bytes, &g->request->spaces);
		rank->temporary_is_asked = g->request->spaces.temporary;
	}
	return 0;
}

/* The cgroup's limit is for DRAM and PMem together. assign_budgets() has kept DRAM within it. */
static void assign_pmem_shares(const struct assignment *g)
{
	uint64_t limit = g->request->memory_limit_bytes, dram = 0;

	for (unsigned r = 0; r < g->plan->n_ranks; r++) {
		g->plan->ranks[r].pmem_bytes = round_down_unit(share_of(g, r, true));
		dram += g->plan->ranks[r].dram_bytes;
	}
	if (limit)
		scale_to_limit(g, limit - dram, true);
}

static uint64_t asked_or_default(
	uint64_t asked, const struct default_size *default_size, uint64_t budget)
{
	uint64_t most = budget / default_size->divisor;

	if (asked)
		return round_down_unit(asked);
	return round_down_unit(default_size->bytes < most ? default_size->bytes : most);
}

struct pm_spaces pm_plan_split_budget(uint64_t budget_bytes, const struct pm_spaces *asked)
{
	uint64_t all = round_down_unit(budget_bytes), sum;
	uint64_t with_spare = asked->temporary ? asked->temporary + SPARE_BYTES : 0;
	struct pm_spaces spaces = {
		.metadata = asked_or_default(asked->metadata, &metadata, all),
		.temporary = asked_or_default(with_spare, &temporary, all),
		.migration = asked_or_default(asked->migration, &migration, all),
	};

	sum = spaces.metadata + spaces.temporary + spaces.migration;
	if (sum > all) {
		spaces.metadata = round_down_unit(scale(spaces.metadata, all, sum));
		spaces.temporary = round_down_unit(scale(spaces.temporary, all, sum));
		spaces.migration = round_down_unit(scale(spaces.migration, all, sum));
		sum = spaces.metadata + spaces.temporary + spaces.migration;
	}
	spaces.free = all - sum;
	return spaces;
}

/* --- memory policy and directory --- */

static void add_local(const struct assignment *g, struct pm_plan_rank *rank)
{
	for (unsigned d = 0; d < g->topology->n_domains; d++) {
		if (weights_of(g, rank->rank)[d])
			CPU_OR(&rank->nodes, &rank->nodes, &g->topology->domains[d].local);
	}
}

static int refuse_pm_only(
	const struct assignment *g, const struct pm_plan_rank *rank, struct pm_err *err)
{
	return pm_err_set(err, -ENODEV,
		"rank %u is on socket %d, which has no NUMA node of PMem; --pm-mode=flat makes "
		"one, or ask for --pm-policy=dram-first",
		rank->rank, g->topology->packages[rank->package].number);
}

static int choose_policy(const struct assignment *g, struct pm_plan_rank *rank, struct pm_err *err)
{
	int bind = g->request->allow_remote ? MPOL_PREFERRED_MANY : MPOL_BIND;

	switch (g->plan->policy) {
	case PM_MEM_POLICY_DRAM_FIRST:
		rank->mode = bind;
		add_local(g, rank);
		break;
	case PM_MEM_POLICY_PM_ONLY:
		rank->mode = bind;
		rank->nodes = rank->pmem_nodes;
		if (!CPU_COUNT(&rank->nodes))
			return refuse_pm_only(g, rank, err);
		break;
	case PM_MEM_POLICY_INTERLEAVE:
	case PM_MEM_POLICY_WEIGHTED:
		rank->mode = g->plan->policy == PM_MEM_POLICY_WEIGHTED ? MPOL_WEIGHTED_6_9
								       : MPOL_INTERLEAVE;
		CPU_OR(&rank->nodes, &rank->dram_nodes, &rank->pmem_nodes);
		break;
	default:
		rank->mode = MPOL_DEFAULT;
	}
	return 0;
}

/* Package of a node; NONE. */
static int package_of_node(const struct pm_topology *t, int node)
{
	for (unsigned i = 0; i < t->n_nodes; i++) {
		if (t->nodes[i].node == node)
			return t->nodes[i].package;
	}
	return NONE;
}

/* The directory on the node of the rank's DRAM, else one of its package; NONE. */
static int choose_pmem_dir(const struct assignment *g, const struct pm_plan_rank *rank)
{
	const struct pm_plan_request *request = g->request;

	for (unsigned i = 0; i < request->n_pmem_dirs; i++) {
		if (request->pmem_dirs[i].node == rank->dram_node)
			return (int)i;
	}
	for (unsigned i = 0; i < request->n_pmem_dirs; i++) {
		if (package_of_node(g->topology, request->pmem_dirs[i].node) == rank->package)
			return (int)i;
	}
	return NONE;
}

static int assign_all(struct assignment *g, struct pm_err *err)
{
	int rc = 0;

	set_weights(g);
	rc = check_dram(g, err);
	if (rc)
		return rc;
	set_usable(g);
	sum_weights(g);
	for (unsigned r = 0; !rc && r < g->plan->n_ranks; r++) {
		struct pm_plan_rank *rank = &g->plan->ranks[r];

		set_locality(g, rank);
		rank->pmem_dir = choose_pmem_dir(g, rank);
		rc = choose_policy(g, rank, err);
	}
	if (!rc)
		rc = assign_budgets(g, err);
	if (!rc)
		assign_pmem_shares(g);
	return rc;
}

int pm_plan_assign_memory(struct pm_plan *plan, const struct pm_topology *topology,
	const struct pm_plan_request *request, struct pm_err *err)
{
	size_t n_weights = (size_t)plan->n_ranks * topology->n_domains;
	cleanup_free unsigned *weights = calloc(n_weights, sizeof(*weights));
	cleanup_free uint64_t *sizes = calloc((size_t)2 * topology->n_nodes + 1, sizeof(*sizes));
	struct assignment g = {
		.plan = plan,
		.topology = topology,
		.request = request,
		.weights = weights,
		.totals = sizes,
		.usable = sizes ? sizes + topology->n_nodes : NULL,
	};

	return weights && sizes ? assign_all(&g, err) : pm_err_nomem(err);
}
