/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "plan/binding.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"

/* Consecutive cores: a domain, a package or the machine. */
struct core_range {
	unsigned first_core, n_cores;
};

/*
 * A slot is the unit that is bound to one rank only: a core, or, if the cores do not suffice and
 * --pm-smt=threads allows it, a hardware thread.
 */
struct binding {
	struct pm_plan *plan;
	const struct pm_topology *topology;
	const struct pm_plan_request *request;
	bool by_thread;	    /* slots are hardware threads */
	uint64_t n_threads; /* least slots for a rank's threads; at least 1 */
	uint64_t n_helpers; /* slots reserved for its helper threads */
};

/* At least 1, so that it can be a divisor. */
static uint64_t slots_per_rank(const struct binding *s)
{
	return s->n_threads + s->n_helpers;
}

static uint64_t count_slots(const struct binding *s, struct core_range range)
{
	uint64_t n = 0;

	for (unsigned i = range.first_core; i < range.first_core + range.n_cores; i++)
		n += s->by_thread ? s->topology->cores[i].n_cpus : 1;
	return n;
}

static struct core_range all_cores(const struct pm_topology *t)
{
	return (struct core_range){0, t->n_cores};
}

/* --- slots per rank --- */

static unsigned min_cpus_per_core(const struct pm_topology *t)
{
	unsigned fewest = PM_CORE_CPUS_MAX;

	for (unsigned i = 0; i < t->n_cores; i++)
		fewest = t->cores[i].n_cpus < fewest ? t->cores[i].n_cpus : fewest;
	return fewest;
}

static void use_core_slots(struct binding *s)
{
	const struct pm_plan_request *request = s->request;
	unsigned per_core = request->smt == PM_SMT_THREADS ? min_cpus_per_core(s->topology) : 1;
	uint64_t threads = request->threads ? request->threads : 1;

	s->by_thread = false;
	/* Each core of a topology has a CPU, so that per_core is not 0. */
	s->n_threads = (threads + per_core - 1) / per_core;
	s->n_helpers = request->smt == PM_SMT_HELPERS ? 0 : request->helpers;
}

static void use_thread_slots(struct binding *s)
{
	s->by_thread = true;
	s->n_threads = s->request->threads ? s->request->threads : 1;
	s->n_helpers = s->request->helpers;
}

static bool fits(const struct binding *s)
{
	return slots_per_rank(s) * s->request->ranks <= count_slots(s, all_cores(s->topology));
}

/* Writes the end of the refusal: a request that would fit. */
static void format_advice(const struct binding *s, char *text, size_t size)
{
	const struct pm_plan_request *request = s->request;
	uint64_t slots = count_slots(s, all_cores(s->topology)), ranks = slots / slots_per_rank(s);
	struct binding by_thread = *s;

	use_thread_slots(&by_thread);
	if (request->smt == PM_SMT_NO && fits(&by_thread))
		snprintf(text, size, "use the hardware threads too, with --pm-smt=threads");
	else if (ranks)
		snprintf(text, size, "at most %llu such ranks fit, and --pm-bind=none binds none",
			(unsigned long long)ranks);
	else
		snprintf(text, size, "one rank has room for %llu threads and helpers",
			(unsigned long long)slots);
}

/* Writes the beginning of the refusal: "4 ranks of 12 threads and 1 helper thread need". */
static void format_request(const struct pm_plan_request *request, char *text, size_t size)
{
	char threads[40] = "", helpers[50] = "";

	if (request->threads)
		snprintf(threads, sizeof(threads), " of %u thread%s", request->threads,
			request->threads == 1 ? "" : "s");
	if (request->helpers)
		snprintf(helpers, sizeof(helpers), " %s %u helper thread%s",
			request->threads ? "and" : "with", request->helpers,
			request->helpers == 1 ? "" : "s");
	snprintf(text, size, "%u rank%s%s%s need%s", request->ranks, request->ranks == 1 ? "" : "s",
		threads, helpers, request->ranks == 1 ? "s" : "");
}

static int refuse_size(const struct binding *s, struct pm_err *err)
{
	char what[160], advice[120];

	format_request(s->request, what, sizeof(what));
	format_advice(s, advice, sizeof(advice));
	return pm_err_set(err, -ERANGE, "%s %llu %s, and there are %llu; %s", what,
		(unsigned long long)(slots_per_rank(s) * s->request->ranks),
		s->by_thread ? "hardware threads" : "cores",
		(unsigned long long)count_slots(s, all_cores(s->topology)), advice);
}

static int choose_slots(struct binding *s, struct pm_err *err)
{
	use_core_slots(s);
	if (fits(s))
		return 0;
	if (s->request->smt == PM_SMT_THREADS)
		use_thread_slots(s);
	return fits(s) ? 0 : refuse_size(s, err);
}

/* --- binding the ranks of a core range --- */

static unsigned cpus_per_slot(const struct binding *s, const struct pm_core *core)
{
	return s->request->smt == PM_SMT_THREADS ? core->n_cpus : 1;
}

/*
 * Slots [first, first + n) of a core range. Hardware threads are numbered core by core, or spread:
 * the first threads of all cores, then the second ones.
 */
struct slot_range {
	struct core_range range;
	uint64_t first, n;
	bool is_spread;
};

/* Finds a slot in the spread order. The range has more than `slot` slots, so the loop ends. */
static const struct pm_core *find_spread(
	const struct pm_core *cores, unsigned n_cores, uint64_t slot, unsigned *ret_thread)
{
	for (unsigned thread = 0;; thread++) {
		for (unsigned i = 0; i < n_cores; i++) {
			*ret_thread = thread;
			if (thread < cores[i].n_cpus && !slot--)
				return &cores[i];
		}
	}
}

/* Core of a slot; *ret_thread: its hardware thread where slots are threads, else 0. */
static const struct pm_core *find_slot(const struct binding *s, const struct slot_range *share,
	uint64_t index, unsigned *ret_thread)
{
	const struct pm_core *core = &s->topology->cores[share->range.first_core];
	uint64_t slot = share->first + index;

	*ret_thread = 0;
	if (!s->by_thread)
		return &core[slot];
	if (share->is_spread)
		return find_spread(core, share->range.n_cores, slot, ret_thread);
	while (slot >= core->n_cpus)
		slot -= core++->n_cpus;
	*ret_thread = (unsigned)slot;
	return core;
}

/* Adds a core's further hardware threads as helpers, up to the number that was asked for. */
static void add_smt_siblings(
	const struct binding *s, struct pm_plan_rank *rank, const struct pm_core *core)
{
	unsigned most = s->request->helpers ? s->request->helpers : CPU_SETSIZE;
	unsigned n = (unsigned)CPU_COUNT(&rank->helpers);

	for (unsigned i = 1; i < core->n_cpus && n < most; i++, n++)
		CPU_SET(core->cpus[i], &rank->helpers);
}

static void add_slot(const struct binding *s, struct pm_plan_rank *rank, const struct pm_core *core,
	unsigned thread, bool is_helper)
{
	cpu_set_t *set = is_helper ? &rank->helpers : &rank->cpus;

	if (s->by_thread) {
		CPU_SET(core->cpus[thread], set);
		return;
	}
	for (unsigned i = 0; i < cpus_per_slot(s, core); i++)
		CPU_SET(core->cpus[i], set);
	if (s->request->smt == PM_SMT_HELPERS)
		add_smt_siblings(s, rank, core);
}

/*
 * Slots for threads in a share of `share` slots. fits() and apportion() have made sure that a share
 * has at least slots_per_rank() slots.
 */
static uint64_t slots_for_threads(const struct binding *s, uint64_t share)
{
	uint64_t most = share - s->n_helpers;

	return s->request->threads && s->request->threads < most ? s->request->threads : most;
}

static uint64_t slots_for_helpers(const struct binding *s, uint64_t share, uint64_t n_threads)
{
	uint64_t rest = share - n_threads;

	if (s->n_helpers)
		return s->n_helpers;
	if (s->request->smt == PM_SMT_HELPERS)
		return 0;
	return rest < PM_PLAN_HELPERS_MAX ? rest : PM_PLAN_HELPERS_MAX;
}

/* Binds threads to the first slots of the share, helpers to the next ones; the rest stays idle. */
static void bind_rank(const struct binding *s, unsigned rank, const struct slot_range *share)
{
	uint64_t n_threads = slots_for_threads(s, share->n);
	uint64_t n = n_threads + slots_for_helpers(s, share->n, n_threads);
	struct pm_plan_rank *line = &s->plan->ranks[rank];

	for (uint64_t i = 0; i < n; i++) {
		unsigned thread;
		const struct pm_core *core = find_slot(s, share, i, &thread);

		add_slot(s, line, core, thread, i >= n_threads);
	}
	line->threads =
		s->request->threads ? s->request->threads : (unsigned)CPU_COUNT(&line->cpus);
}

/*
 * Hardware threads are bound core by core, so that two ranks do not share a core. Within a package
 * they are spread instead if each rank has one slot, since ranks share cores then anyway, or if
 * binding core by core would leave whole cores idle.
 */
static bool is_spread(
	const struct binding *s, struct core_range range, uint64_t share, uint64_t n_left)
{
	const struct pm_core *first = &s->topology->cores[range.first_core];

	return first->package == first[range.n_cores - 1].package &&
	       (share == 1 || n_left >= min_cpus_per_core(s->topology));
}

/* All ranks of a core range get shares of the same size. */
static void bind_ranks(
	const struct binding *s, const unsigned *ranks, unsigned n_ranks, struct core_range range)
{
	uint64_t n_slots = count_slots(s, range);
	struct slot_range share = {.range = range, .n = n_ranks ? n_slots / n_ranks : 0};

	share.is_spread = is_spread(s, range, share.n, n_slots - share.n * n_ranks);
	for (unsigned i = 0; i < n_ranks; i++) {
		share.first = i * share.n;
		bind_rank(s, ranks[i], &share);
	}
}

/* --- distributing ranks over partitions --- */

/* A partition: a package of the machine, or a domain of a package. */
struct partition {
	struct core_range range;
	uint64_t n_slots;
	unsigned *ranks;	    /* bound here; points into the caller's buffer */
	unsigned n_ranks, capacity; /* ranks so far; ranks in the end */
};

/*
 * The partition with slots for one more rank that is furthest below its proportional share of the
 * ranks; the first of equals. NULL: none has slots.
 */
static struct partition *most_underfull(const struct binding *s, struct partition *partitions,
	unsigned n_partitions, unsigned n_ranks, uint64_t n_slots)
{
	struct partition *best = NULL;
	int64_t most = INT64_MIN;

	for (struct partition *partition = partitions; partition < partitions + n_partitions;
		partition++) {
		int64_t deficit = (int64_t)(n_ranks * partition->n_slots) -
				  (int64_t)(partition->capacity * n_slots);

		if ((partition->capacity + 1) * slots_per_rank(s) > partition->n_slots ||
			deficit <= most)
			continue;
		most = deficit;
		best = partition;
	}
	return best;
}

/* Sets the capacity of all partitions in proportion to their slots. False: not all ranks fit. */
static bool apportion(const struct binding *s, struct partition *partitions, unsigned n_partitions,
	unsigned n_ranks)
{
	uint64_t n_slots = 0;

	for (unsigned i = 0; i < n_partitions; i++)
		n_slots += partitions[i].n_slots;
	for (unsigned i = 0; i < n_ranks; i++) {
		struct partition *partition =
			most_underfull(s, partitions, n_partitions, n_ranks, n_slots);

		if (!partition)
			return false;
		partition->capacity++;
	}
	return true;
}

/* Block: fills partitions in their order. Cyclic: takes turns among those that are not full. */
static void distribute(const struct binding *s, struct partition *partitions, unsigned n_partitions,
	const unsigned *ranks, unsigned n_ranks)
{
	bool is_cyclic = s->request->distribution == PM_DISTRIBUTION_CYCLIC;
	unsigned at = is_cyclic ? n_partitions - 1 : 0;

	for (unsigned i = 0; i < n_ranks; i++) {
		if (is_cyclic)
			at = (at + 1) % n_partitions;
		while (partitions[at].n_ranks == partitions[at].capacity)
			at = (at + 1) % n_partitions;
		partitions[at].ranks[partitions[at].n_ranks++] = ranks[i];
	}
}

/*
 * Splits the ranks over the partitions. False: the caller binds them to all partitions as one
 * range, since there are fewer ranks than partitions and no number of threads was asked for, or a
 * rank does not fit into a partition.
 */
static bool split(const struct binding *s, struct partition *partitions, unsigned n_partitions,
	const unsigned *ranks, unsigned n_ranks, unsigned *buffer)
{
	if (n_ranks < n_partitions && !s->request->threads)
		return false;
	for (unsigned i = 0; i < n_partitions; i++)
		partitions[i].n_slots = count_slots(s, partitions[i].range);
	if (!apportion(s, partitions, n_partitions, n_ranks))
		return false;
	for (unsigned i = 0; i < n_partitions; i++) {
		partitions[i].ranks = buffer;
		buffer += partitions[i].capacity;
	}
	distribute(s, partitions, n_partitions, ranks, n_ranks);
	return true;
}

static int bind_in_package(
	const struct binding *s, unsigned index, const unsigned *ranks, unsigned n_ranks)
{
	const struct pm_package *package = &s->topology->packages[index];
	const struct pm_domain *domains = &s->topology->domains[package->first_domain];
	cleanup_free struct partition *partitions = calloc(package->n_domains, sizeof(*partitions));
	cleanup_free unsigned *buffer = calloc((size_t)n_ranks + 1, sizeof(*buffer));

	if (!partitions || !buffer)
		return -ENOMEM;
	for (unsigned i = 0; i < package->n_domains; i++)
		partitions[i].range =
			(struct core_range){domains[i].first_core, domains[i].n_cores};
	if (!split(s, partitions, package->n_domains, ranks, n_ranks, buffer)) {
		bind_ranks(s, ranks, n_ranks,
			(struct core_range){package->first_core, package->n_cores});
		return 0;
	}
	for (unsigned i = 0; i < package->n_domains; i++)
		bind_ranks(s, partitions[i].ranks, partitions[i].n_ranks, partitions[i].range);
	return 0;
}

static int bind_in_machine(const struct binding *s, const unsigned *ranks, unsigned n_ranks)
{
	const struct pm_topology *t = s->topology;
	cleanup_free struct partition *partitions = calloc(t->n_packages, sizeof(*partitions));
	cleanup_free unsigned *buffer = calloc((size_t)n_ranks + 1, sizeof(*buffer));
	int rc = 0;

	if (!partitions || !buffer)
		return -ENOMEM;
	for (unsigned i = 0; i < t->n_packages; i++)
		partitions[i].range =
			(struct core_range){t->packages[i].first_core, t->packages[i].n_cores};
	if (!split(s, partitions, t->n_packages, ranks, n_ranks, buffer)) {
		bind_ranks(s, ranks, n_ranks, all_cores(t));
		return 0;
	}
	for (unsigned i = 0; !rc && i < t->n_packages; i++)
		rc = bind_in_package(s, i, partitions[i].ranks, partitions[i].n_ranks);
	return rc;
}

/* The number of a core's further hardware threads is known only after the binding. */
static int check_helpers(const struct binding *s, struct pm_err *err)
{
	for (unsigned i = 0; i < s->plan->n_ranks; i++) {
		unsigned n = (unsigned)CPU_COUNT(&s->plan->ranks[i].helpers);

		if (n < s->request->helpers)
			return pm_err_set(err, -ERANGE,
				"rank %u's cores have %u second hardware threads for the %u helper "
				"threads asked for; ask for %u, or for cores with --pm-smt=no",
				i, n, s->request->helpers, n);
	}
	return 0;
}

int pm_plan_bind_cpus(struct pm_plan *plan, const struct pm_topology *topology,
	const struct pm_plan_request *request, struct pm_err *err)
{
	struct binding s = {.plan = plan, .topology = topology, .request = request};
	cleanup_free unsigned *ranks = NULL;
	int rc = choose_slots(&s, err);

	if (rc)
		return rc;
	ranks = calloc(plan->n_ranks, sizeof(*ranks));
	if (!ranks)
		return pm_err_nomem(err);
	for (unsigned i = 0; i < plan->n_ranks; i++)
		ranks[i] = i;
	if (bind_in_machine(&s, ranks, plan->n_ranks))
		return pm_err_nomem(err);
	return check_helpers(&s, err);
}
