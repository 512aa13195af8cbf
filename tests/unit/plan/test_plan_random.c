/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks invariants of plans for 10,000 random machines and requests. They come from a generator
 * of numbers with a fixed start, so that each run asks the same; PM_SEED=N asks others, PM_CASES=N
 * more of them.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <linux/mempolicy.h>

#include "base/cleanup.h"
#include "base/cpulist.h"
#include "plan/plan.h"
#include "plan/topology_arrange.h"
#include "tests/unit/tap.h"

#define CASES	  10000
#define GIB	  (UINT64_C(1) << 30)
#define MAX_CORES 512
#define MAX_NODES 128

/* --- random machines --- */

static uint64_t state;

/* A number below n: Vigna's xorshift64*, which is the same everywhere. */
static unsigned below(unsigned n)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (unsigned)((state * UINT64_C(2685821657736338717) >> 33) % n);
}

static bool once_in(unsigned n)
{
	return !below(n);
}

static unsigned one_of(const unsigned *list, unsigned n)
{
	return list[below(n)];
}

#define PICK(...)                                                                                  \
	one_of((const unsigned[]){__VA_ARGS__},                                                    \
		sizeof((const unsigned[]){__VA_ARGS__}) / sizeof(unsigned))

static struct {
	struct pm_found_core cores[MAX_CORES];
	struct pm_found_node nodes[MAX_NODES];
	struct pm_found found;
} machine;

struct shape {
	unsigned sockets, domains, cores, threads; /* domains a socket, cores a domain */
	bool is_in_turn;			   /* numbered round the sockets */
};

static int number_of(const struct shape *s, unsigned socket, unsigned core, unsigned thread)
{
	unsigned n = s->domains * s->cores, all = s->sockets * n;

	if (s->is_in_turn)
		return (int)(thread * all + core * s->sockets + socket);
	return (int)(thread * all + socket * n + core);
}

/* Some processors are out of the cpuset, or offline. */
static void add_core(const struct shape *s, unsigned socket, unsigned core, unsigned odds)
{
	struct pm_found_core *at = &machine.cores[machine.found.n_cores];

	*at = (struct pm_found_core){.package = (int)(socket * (s->is_in_turn ? 3 : 1))};
	for (unsigned thread = 0; thread < s->threads; thread++) {
		if (!odds || !once_in(odds))
			at->cpus[at->n_cpus++] = number_of(s, socket, core, thread);
	}
	machine.found.n_cores += at->n_cpus > 0;
}

static cpu_set_t cpus_of(const struct shape *s, unsigned socket, unsigned first, unsigned n)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (unsigned core = first; core < first + n; core++)
		for (unsigned thread = 0; thread < s->threads; thread++)
			CPU_SET(number_of(s, socket, core, thread), &set);
	return set;
}

static void add_node(cpu_set_t cpus, uint64_t bytes, const char *subtype)
{
	struct pm_found_node *node = &machine.nodes[machine.found.n_nodes];

	*node = (struct pm_found_node){.subtype = subtype};
	node->node.node = (int)machine.found.n_nodes++;
	node->node.bytes = bytes;
	node->node.cpus = cpus;
}

static void add_memory(const struct shape *s, const char *subtype, unsigned parts, unsigned gib)
{
	for (unsigned socket = 0; socket < s->sockets; socket++) {
		for (unsigned part = 0; part < parts; part++) {
			unsigned n = s->domains * s->cores / parts;

			add_node(cpus_of(s, socket, part * n, n), (gib + below(3)) * GIB / parts,
				subtype);
		}
	}
}

/* Memory that is equally near to all sockets. */
static void add_pool(const struct shape *s)
{
	cpu_set_t all;

	CPU_ZERO(&all);
	for (unsigned socket = 0; socket < s->sockets; socket++) {
		cpu_set_t cpus = cpus_of(s, socket, 0, s->domains * s->cores);

		CPU_OR(&all, &all, &cpus);
	}
	add_node(all, 256 * GIB, "CXL-DRAM");
}

static void make_machine(void)
{
	struct shape s = {.sockets = PICK(1, 2, 2, 2, 4, 8),
		.domains = PICK(1, 1, 1, 2, 4),
		.cores = 1 + below(12),
		.threads = PICK(1, 2, 2, 4),
		.is_in_turn = once_in(4)};
	unsigned odds = PICK(0, 0, 0, 2, 5, 20);

	while (s.sockets * s.domains * s.cores * s.threads > CPU_SETSIZE)
		s.cores--;
	machine.found = (struct pm_found){.cores = machine.cores, .nodes = machine.nodes};
	for (unsigned socket = 0; socket < s.sockets; socket++) {
		bool is_left_out = s.sockets > 1 && once_in(20);

		for (unsigned core = 0; !is_left_out && core < s.domains * s.cores; core++)
			add_core(&s, socket, core, odds);
	}
	add_memory(&s, NULL, s.domains, PICK(1, 8, 64, 96, 384));
	if (once_in(2))
		add_memory(&s, "NVM", once_in(3) ? s.domains : 1, PICK(4, 128, 768));
	if (once_in(8))
		add_memory(&s, "HBM", s.domains, 16);
	if (once_in(8))
		add_pool(&s);
	if (once_in(15)) /* a socket with memory outside of the cpuset */
		machine.nodes[below(machine.found.n_nodes)].node.bytes = 0;
}

/* --- random questions --- */

/* Mostly requests that fit, or nearly fit. */
static void make_request(struct pm_plan_request *r, const struct pm_topology *t)
{
	unsigned ranks = 1 + below(once_in(12) ? 200 : t->n_cores);
	unsigned room = t->n_cores / ranks;

	*r = (struct pm_plan_request){.ranks = ranks,
		.bind = once_in(12) ? PM_BIND_NONE : PM_BIND_SOCKET,
		.distribution = (enum pm_distribution)below(PM_DISTRIBUTIONS),
		.smt = (enum pm_smt)below(PM_SMTS),
		.policy = once_in(3) ? (enum pm_mem_policy)below(PM_MEM_POLICIES)
				     : PM_MEM_POLICY_AUTO,
		.threads = once_in(3) ? 1 + below(room + 2) : 0,
		.helpers = once_in(5) ? 1 + below(3) : 0,
		.dram_bytes = once_in(4) ? (1 + below(128)) * GIB / 8 : 0,
		.reserve_bytes = once_in(3) ? below(16) * GIB / 4 : 0,
		.reserve_percent = once_in(3) ? below(91) : 0,
		.memory_limit_bytes = once_in(5) ? (1 + below(256)) * GIB / 2 : 0,
		.allow_remote = once_in(6)};
	if (once_in(3))
		r->spaces = (struct pm_spaces){.metadata = below(9) * GIB / 8,
			.temporary = below(9) * GIB / 8,
			.migration = below(9) * GIB / 8};
}

/* --- invariants of a plan --- */

static const char *broken; /* first broken invariant of a case; NULL: none */

static void must(bool holds, const char *what)
{
	if (!holds && !broken)
		broken = what;
}

static bool is_allowed(const struct pm_topology *t, const cpu_set_t *cpus)
{
	cpu_set_t all;

	CPU_ZERO(&all);
	for (unsigned i = 0; i < t->n_cores; i++)
		for (unsigned k = 0; k < t->cores[i].n_cpus; k++)
			CPU_SET(t->cores[i].cpus[k], &all);
	return pm_cpus_contain(&all, cpus);
}

static void check_processors(const struct pm_topology *t, const struct pm_plan_request *request,
	const struct pm_plan *plan)
{
	cpu_set_t used;

	CPU_ZERO(&used);
	for (unsigned r = 0; r < plan->n_ranks; r++) {
		const struct pm_plan_rank *rank = &plan->ranks[r];
		unsigned n_cpus = (unsigned)CPU_COUNT(&rank->cpus);

		must(n_cpus > 0, "each rank has a processor");
		must(!pm_cpus_intersect(&used, &rank->cpus), "no processor is given twice");
		CPU_OR(&used, &used, &rank->cpus);
		must(!pm_cpus_intersect(&used, &rank->helpers),
			"no processor is given twice, to helpers either");
		CPU_OR(&used, &used, &rank->helpers);
		must(rank->threads == (request->threads ? request->threads : n_cpus),
			"as many threads as were asked, or as processors");
		must(rank->threads <= n_cpus, "a processor for each thread");
		must((unsigned)CPU_COUNT(&rank->helpers) >= request->helpers,
			"processors for the helper threads asked for");
	}
	must(is_allowed(t, &used), "only processors that may be used");
}

/* The package of each processor; -1: it may not be used. */
static int package_of[CPU_SETSIZE];

static void note_packages(const struct pm_topology *t)
{
	memset(package_of, -1, sizeof(package_of));
	for (unsigned i = 0; i < t->n_cores; i++)
		for (unsigned k = 0; k < t->cores[i].n_cpus; k++)
			package_of[t->cores[i].cpus[k]] = (int)t->cores[i].package;
}

/* Bit 1 << package for each package with one of these CPUs. */
static unsigned packages_of(const cpu_set_t *cpus)
{
	unsigned packages = 0;

	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, cpus))
			packages |= 1u << package_of[cpu];
	return packages;
}

/* Two ranks share a core only where its hardware threads are asked for. */
static void check_cores(const struct pm_topology *t, const struct pm_plan *plan)
{
	for (unsigned i = 0; i < t->n_cores; i++) {
		int owner = -1;

		for (unsigned r = 0; r < plan->n_ranks; r++) {
			for (unsigned k = 0; k < t->cores[i].n_cpus; k++) {
				if (!CPU_ISSET(t->cores[i].cpus[k], &plan->ranks[r].cpus))
					continue;
				must(owner < 0 || owner == (int)r, "no core is shared");
				owner = (int)r;
			}
		}
	}
}

/* True: the node is of one of these packages, or main memory that several packages share. */
static bool is_local(
	const struct pm_topology *t, const struct pm_memory_node *node, unsigned packages)
{
	if (node->package >= 0)
		return packages >> node->package & 1;
	for (unsigned d = 0; d < t->n_domains; d++) {
		const struct pm_domain *domain = &t->domains[d];

		if ((packages >> domain->package & 1) && domain->dram >= 0 &&
			pm_cpus_contain(&t->nodes[domain->dram].cpus, &node->cpus))
			return true;
	}
	return false;
}

static bool are_local(const struct pm_topology *t, const cpu_set_t *nodes, unsigned packages)
{
	for (unsigned i = 0; i < t->n_nodes; i++)
		if (CPU_ISSET(t->nodes[i].node, nodes) && !is_local(t, &t->nodes[i], packages))
			return false;
	return true;
}

static void check_locality(const struct pm_topology *t, const struct pm_plan *plan)
{
	for (unsigned r = 0; r < plan->n_ranks; r++) {
		const struct pm_plan_rank *rank = &plan->ranks[r];
		unsigned packages = packages_of(&rank->cpus);
		unsigned all = packages | packages_of(&rank->helpers);

		must(packages >> rank->package & 1, "its socket is one that it is on");
		must(rank->spans_packages == ((all & (all - 1)) != 0),
			"it says when it spans sockets");
		must(are_local(t, &rank->dram_nodes, packages), "its DRAM is local");
		must(are_local(t, &rank->pmem_nodes, packages), "its PMem is local");
		must(are_local(t, &rank->nodes, packages), "its pages are local");
		must(CPU_ISSET(rank->dram_node, &rank->dram_nodes), "its DRAM node is one of them");
	}
}

/* With at least as many ranks as sockets, and room for each, no rank spans. */
static void check_spans(const struct pm_topology *t, const struct pm_plan_request *request,
	const struct pm_plan *plan)
{
	bool is_uniform = true;
	unsigned n_spanning = 0;

	for (unsigned p = 1; p < t->n_packages; p++)
		is_uniform &= t->packages[p].n_cores == t->packages[0].n_cores;
	for (unsigned r = 0; r < plan->n_ranks; r++)
		n_spanning += plan->ranks[r].spans_packages;
	if (is_uniform && !request->threads && !request->helpers &&
		plan->n_ranks % t->n_packages == 0)
		must(!n_spanning, "no rank spans sockets without need");
}

static void check_budgets(const struct pm_topology *t, const struct pm_plan_request *request,
	const struct pm_plan *plan)
{
	uint64_t everything = 0;

	for (unsigned r = 0; r < plan->n_ranks; r++) {
		const struct pm_plan_rank *rank = &plan->ranks[r];
		const struct pm_spaces *s = &rank->spaces;

		must(rank->dram_bytes > 0 && rank->dram_bytes % PM_PLAN_UNIT == 0,
			"a budget in whole units");
		must(s->metadata + s->temporary + s->migration + s->free == rank->dram_bytes,
			"the spaces are the budget");
		must(!request->dram_bytes || rank->dram_bytes == request->dram_bytes,
			"the budget that was asked for");
		everything += rank->dram_bytes + rank->pmem_bytes;
	}
	must(!request->memory_limit_bytes || everything <= request->memory_limit_bytes,
		"what is given is within the cgroup's limit");
	for (unsigned i = 0; i < t->n_nodes; i++) {
		uint64_t alone = 0;

		for (unsigned r = 0; r < plan->n_ranks; r++)
			if (CPU_COUNT(&plan->ranks[r].dram_nodes) == 1 &&
				CPU_ISSET(t->nodes[i].node, &plan->ranks[r].dram_nodes))
				alone += plan->ranks[r].dram_bytes;
		must(alone <= t->nodes[i].bytes, "no budget above its node's");
	}
}

/* On sockets that share no DRAM: the budgets of their ranks are within it, less the reserve. */
static void check_sockets(const struct pm_topology *t, const struct pm_plan_request *request,
	const struct pm_plan *plan)
{
	for (unsigned p = 0; p < t->n_packages; p++) {
		uint64_t bytes = 0, budgets = 0, reserve;
		bool is_alone = true;

		for (unsigned d = 0; d < t->packages[p].n_domains; d++) {
			int dram = t->domains[t->packages[p].first_domain + d].dram;

			bytes += dram < 0 ? 0 : t->nodes[dram].bytes;
		}
		for (unsigned r = 0; r < plan->n_ranks; r++) {
			if (plan->ranks[r].package == (int)p)
				budgets += plan->ranks[r].dram_bytes;
			is_alone &= !plan->ranks[r].spans_packages;
		}
		reserve = request->reserve_bytes + bytes * request->reserve_percent / 100;
		if (is_alone && budgets)
			must(budgets + reserve <= bytes, "no budget above its socket's");
	}
}

static void check_policy(const struct pm_plan_request *request, const struct pm_plan *plan)
{
	for (unsigned r = 0; r < plan->n_ranks; r++) {
		const struct pm_plan_rank *rank = &plan->ranks[r];

		must((rank->mode == MPOL_DEFAULT) == !CPU_COUNT(&rank->nodes),
			"a policy has nodes, none has none");
		must(request->allow_remote || rank->mode != MPOL_PREFERRED_MANY,
			"memory of the other socket only where the site allows it");
		if (plan->policy == PM_MEM_POLICY_DRAM_FIRST)
			must(pm_cpus_contain(&rank->nodes, &rank->dram_nodes) &&
					pm_cpus_contain(&rank->nodes, &rank->pmem_nodes),
				"pages may be in all of its DRAM and PMem");
	}
}

static void check_ranks_even(const struct pm_topology *t, const struct pm_plan_request *request,
	const struct pm_plan *plan)
{
	unsigned n_at[8] = {0}, least = UINT32_MAX, most = 0;

	for (unsigned p = 1; p < t->n_packages; p++)
		if (t->packages[p].n_cores != t->packages[0].n_cores)
			return;
	for (unsigned r = 0; r < plan->n_ranks; r++) {
		n_at[plan->ranks[r].package]++;
		if (plan->ranks[r].spans_packages)
			return;
		must(r == 0 || request->distribution != PM_DISTRIBUTION_BLOCK ||
				plan->ranks[r].package >= plan->ranks[r - 1].package,
			"block: sockets are filled in order");
	}
	for (unsigned p = 0; p < t->n_packages; p++) {
		least = n_at[p] < least ? n_at[p] : least;
		most = n_at[p] > most ? n_at[p] : most;
	}
	if (request->smt != PM_SMT_THREADS)
		must(most - least <= 1, "ranks are divided evenly over even sockets");
}

static bool is_same(const struct pm_plan *a, const struct pm_plan *b)
{
	return a->n_ranks == b->n_ranks &&
	       !memcmp(a->ranks, b->ranks, a->n_ranks * sizeof(*a->ranks));
}

/* A refusal has a message that ends with a cure, and no plan. */
static void check_refusal(int rc, const struct pm_err *err)
{
	must(rc == -ERANGE || rc == -ENOSPC || rc == -ENODEV, "it is refused for a known reason");
	must(err->code == rc && strlen(err->text) > 30, "the refusal is a sentence");
	must(strstr(err->text, "fit") || strstr(err->text, "ask for") ||
			strstr(err->text, "room for") || strstr(err->text, "--pm-") ||
			strstr(err->text, "cpuset.mems"),
		"it says what to do");
	must(!isupper((unsigned char)err->text[0]) && !strchr(err->text, '\n'),
		"in the form of all messages");
}

/* "at most --pm-dram=NM fits", "at most N such ranks fit": this request succeeds. */
static void check_advice(const struct pm_topology *t, const struct pm_plan_request *asked,
	const struct pm_err *refused)
{
	cleanup_with(pm_plan_cleanup) struct pm_plan *plan = NULL;
	const char *dram = strstr(refused->text, "at most --pm-dram=");
	const char *most = strstr(refused->text, "at most ");
	struct pm_plan_request request = *asked;
	struct pm_err err = {0};
	int rc;

	if (dram)
		request.dram_bytes = strtoull(dram + strlen("at most --pm-dram="), NULL, 10) << 20;
	else if (strstr(refused->text, "with --pm-smt=threads"))
		request.smt = PM_SMT_THREADS;
	else if (most)
		request.ranks = (unsigned)strtoul(most + strlen("at most "), NULL, 10);
	else
		return;
	if (dram && !request.dram_bytes)
		return;
	rc = pm_plan_make(&plan, t, &request, &err);
	must(!rc || (!dram && rc != -ERANGE) ||
			(rc == -ERANGE && strstr(err.text, "second hardware")),
		"what the refusal advises is not refused for the same reason");
}

static void check_plan(const struct pm_topology *t, const struct pm_plan_request *request,
	const struct pm_plan *plan)
{
	if (request->bind == PM_BIND_SOCKET) {
		note_packages(t);
		check_processors(t, request, plan);
		check_locality(t, plan);
		check_spans(t, request, plan);
		check_sockets(t, request, plan);
		check_ranks_even(t, request, plan);
		if (request->smt != PM_SMT_THREADS)
			check_cores(t, plan);
	}
	check_budgets(t, request, plan);
	check_policy(request, plan);
}

/* --- cases --- */

static unsigned n_planned, n_refused, n_spanning;

static void ask(const struct pm_topology *t)
{
	cleanup_with(pm_plan_cleanup) struct pm_plan *plan = NULL;
	cleanup_with(pm_plan_cleanup) struct pm_plan *again = NULL;
	struct pm_plan_request request;
	struct pm_err err = {0};
	int rc;

	make_request(&request, t);
	rc = pm_plan_make(&plan, t, &request, &err);
	if (rc) {
		n_refused++;
		check_refusal(rc, &err);
		check_advice(t, &request, &err);
		return;
	}
	n_planned++;
	for (unsigned r = 0; r < plan->n_ranks; r++)
		n_spanning += request.bind == PM_BIND_SOCKET && plan->ranks[r].spans_packages;
	check_plan(t, &request, plan);
	must(!pm_plan_make(&again, t, &request, NULL) && is_same(plan, again),
		"the same question has the same answer");
}

static void check_topology(const struct pm_topology *t)
{
	unsigned next = 0;

	for (unsigned d = 0; d < t->n_domains; d++) {
		must(t->domains[d].first_core == next, "domains follow each other");
		next += t->domains[d].n_cores;
	}
	must(next == t->n_cores, "each core is of one domain");
}

static void run_case(unsigned number)
{
	cleanup_with(pm_topology_cleanup) struct pm_topology *topology = NULL;
	uint64_t before = state;
	struct pm_err err = {0};
	int rc;

	broken = NULL;
	make_machine();
	pm_memory_classify(&machine.found, NULL, 0);
	rc = pm_topology_arrange(&topology, &machine.found, NULL, 0, &err);
	must(!rc || (rc == -ENODEV && !machine.found.n_cores), "the machine has a topology");
	if (!rc) {
		check_topology(topology);
		ask(topology);
	}
	if (broken)
		ok(false, "case %u (PM_SEED=%llu PM_CASES=1): %s %s", number,
			(unsigned long long)before, broken, err.text);
}

static uint64_t number_from(const char *variable, uint64_t otherwise)
{
	const char *text = getenv(variable);

	return text ? strtoull(text, NULL, 10) : otherwise;
}

int main(void)
{
	uint64_t cases = number_from("PM_CASES", CASES);

	state = number_from("PM_SEED", 88172645463325252);
	for (unsigned i = 0; i < cases; i++)
		run_case(i);
	ok(true, "%llu cases: %u plans, %u refusals, %u ranks that span sockets",
		(unsigned long long)cases, n_planned, n_refused, n_spanning);
	ok(cases < CASES || (n_planned > cases / 4 && n_refused > cases / 10 && n_spanning),
		"the cases are not all of one kind");
	return tap_done();
}
