/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "plan/seats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/cleanup.h"

/* Cores that follow each other: of a domain, a package or the machine. */
struct pool {
	unsigned first_core, n_cores;
};

/*
 * A slot is what no two ranks share: a core with what of it is used, or, where there are more ranks
 * than cores, one of its hardware threads.
 */
struct seating {
	struct pm_plan *plan;
	const struct pm_topology *topology;
	const struct pm_plan_request *request;
	bool by_thread;	    /* slots are hardware threads */
	uint64_t n_threads; /* slots that a rank's threads need at least */
	uint64_t n_helpers; /* slots set aside for its helper threads */
};

static uint64_t need(const struct seating *s)
{
	return s->n_threads + s->n_helpers;
}

static uint64_t count_slots(const struct seating *s, struct pool pool)
{
	uint64_t n = 0;

	for (unsigned i = pool.first_core; i < pool.first_core + pool.n_cores; i++)
		n += s->by_thread ? s->topology->cores[i].n_cpus : 1;
	return n;
}

static struct pool whole(const struct pm_topology *t)
{
	return (struct pool){0, t->n_cores};
}

/* --- how many slots a rank needs --- */

static unsigned fewest_cpus(const struct pm_topology *t)
{
	unsigned fewest = PM_CORE_CPUS_MAX;

	for (unsigned i = 0; i < t->n_cores; i++)
		fewest = t->cores[i].n_cpus < fewest ? t->cores[i].n_cpus : fewest;
	return fewest;
}

static void need_cores(struct seating *s)
{
	const struct pm_plan_request *request = s->request;
	unsigned per_core = request->smt == PM_SMT_THREADS ? fewest_cpus(s->topology) : 1;
	uint64_t threads = request->threads ? request->threads : 1;

	s->by_thread = false;
	s->n_threads = (threads + per_core - 1) / per_core;
	s->n_helpers = request->smt == PM_SMT_HELPERS ? 0 : request->helpers;
}

static void need_threads(struct seating *s)
{
	s->by_thread = true;
	s->n_threads = s->request->threads ? s->request->threads : 1;
	s->n_helpers = s->request->helpers;
}

static bool fits(const struct seating *s)
{
	return need(s) * s->request->ranks <= count_slots(s, whole(s->topology));
}

/* What would fit, as the end of the sentence. */
static void advise(const struct seating *s, char *text, size_t size)
{
	const struct pm_plan_request *request = s->request;
	uint64_t slots = count_slots(s, whole(s->topology)), ranks = slots / need(s);
	struct seating by_thread = *s;

	need_threads(&by_thread);
	if (request->smt == PM_SMT_NO && fits(&by_thread))
		snprintf(text, size, "use the hardware threads too, with --pm-smt=threads");
	else if (ranks)
		snprintf(text, size, "at most %llu such ranks fit, and --pm-bind=none binds none",
			(unsigned long long)ranks);
	else
		snprintf(text, size, "one rank has room for %llu threads and helpers",
			(unsigned long long)slots);
}

/* "4 ranks of 12 threads and 1 helper thread" */
static void describe(const struct pm_plan_request *request, char *text, size_t size)
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

static int refuse_size(const struct seating *s, struct pm_err *err)
{
	char what[160], advice[120];

	describe(s->request, what, sizeof(what));
	advise(s, advice, sizeof(advice));
	return pm_err_set(err, -ERANGE, "%s %llu %s, and there are %llu; %s", what,
		(unsigned long long)(need(s) * s->request->ranks),
		s->by_thread ? "hardware threads" : "cores",
		(unsigned long long)count_slots(s, whole(s->topology)), advice);
}

static int choose_slots(struct seating *s, struct pm_err *err)
{
	need_cores(s);
	if (fits(s))
		return 0;
	if (s->request->smt == PM_SMT_THREADS)
		need_threads(s);
	return fits(s) ? 0 : refuse_size(s, err);
}

/* --- ranks in a pool --- */

static unsigned n_used(const struct seating *s, const struct pm_core *core)
{
	return s->request->smt == PM_SMT_THREADS ? core->n_cpus : 1;
}

/* A share of a pool: its slots from `first` on, in the order of the cores or, spread, of threads.
 */
struct share {
	struct pool pool;
	uint64_t first, n;
	bool is_spread;
};

/* The first threads of all cores, then the second ones. */
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

/* The core of a share's slot, and which of its hardware threads when slots are those. */
static const struct pm_core *find_slot(
	const struct seating *s, const struct share *share, uint64_t index, unsigned *ret_thread)
{
	const struct pm_core *core = &s->topology->cores[share->pool.first_core];
	uint64_t slot = share->first + index;

	*ret_thread = 0;
	if (!s->by_thread)
		return &core[slot];
	if (share->is_spread)
		return find_spread(core, share->pool.n_cores, slot, ret_thread);
	while (slot >= core->n_cpus)
		slot -= core++->n_cpus;
	*ret_thread = (unsigned)slot;
	return core;
}

/* The other hardware threads of a core, up to as many as were asked for. */
static void add_siblings(
	const struct seating *s, struct pm_plan_rank *rank, const struct pm_core *core)
{
	unsigned most = s->request->helpers ? s->request->helpers : CPU_SETSIZE;
	unsigned n = (unsigned)CPU_COUNT(&rank->helpers);

	for (unsigned i = 1; i < core->n_cpus && n < most; i++, n++)
		CPU_SET(core->cpus[i], &rank->helpers);
}

static void add_slot(const struct seating *s, struct pm_plan_rank *rank, const struct pm_core *core,
	unsigned thread, bool is_helper)
{
	cpu_set_t *set = is_helper ? &rank->helpers : &rank->cpus;

	if (s->by_thread) {
		CPU_SET(core->cpus[thread], set);
		return;
	}
	for (unsigned i = 0; i < n_used(s, core); i++)
		CPU_SET(core->cpus[i], set);
	if (s->request->smt == PM_SMT_HELPERS)
		add_siblings(s, rank, core);
}

/* Of a share of that many slots: those for threads. */
static uint64_t slots_for_threads(const struct seating *s, uint64_t share)
{
	uint64_t most = share - s->n_helpers;

	return s->request->threads && s->request->threads < most ? s->request->threads : most;
}

static uint64_t slots_for_helpers(const struct seating *s, uint64_t share, uint64_t n_threads)
{
	uint64_t rest = share - n_threads;

	if (s->n_helpers)
		return s->n_helpers;
	if (s->request->smt == PM_SMT_HELPERS)
		return 0;
	return rest < PM_PLAN_HELPERS_MAX ? rest : PM_PLAN_HELPERS_MAX;
}

/* A rank's threads are at the start of its share. */
static void seat_one(const struct seating *s, unsigned rank, const struct share *share)
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
 * Hardware threads are handed out core by core, so that a rank shares its cores with nobody; but
 * first all first ones where that is of no use, or would leave whole cores of a package idle.
 */
static bool is_spread(const struct seating *s, struct pool pool, uint64_t share, uint64_t n_left)
{
	const struct pm_core *first = &s->topology->cores[pool.first_core];

	return first->package == first[pool.n_cores - 1].package &&
	       (share == 1 || n_left >= fewest_cpus(s->topology));
}

/* All ranks of a pool get shares of one size. */
static void seat_pool(
	const struct seating *s, const unsigned *ranks, unsigned n_ranks, struct pool pool)
{
	uint64_t n_slots = count_slots(s, pool);
	struct share share = {.pool = pool, .n = n_ranks ? n_slots / n_ranks : 0};

	share.is_spread = is_spread(s, pool, share.n, n_slots - share.n * n_ranks);
	for (unsigned i = 0; i < n_ranks; i++) {
		share.first = i * share.n;
		seat_one(s, ranks[i], &share);
	}
}

/* --- ranks over pools --- */

/* A package of the machine, or a domain of a package. */
struct part {
	struct pool pool;
	uint64_t n_slots;
	unsigned *ranks;	/* that sit there */
	unsigned n_ranks, room; /* of them seated so far; in all */
};

/* The part that lacks most of its share and has room; NULL: none has. */
static struct part *neediest(const struct seating *s, struct part *parts, unsigned n_parts,
	unsigned n_ranks, uint64_t n_slots)
{
	struct part *best = NULL;
	int64_t most = INT64_MIN;

	for (struct part *part = parts; part < parts + n_parts; part++) {
		int64_t lacks =
			(int64_t)(n_ranks * part->n_slots) - (int64_t)(part->room * n_slots);

		if ((part->room + 1) * need(s) > part->n_slots || lacks <= most)
			continue;
		most = lacks;
		best = part;
	}
	return best;
}

/* How many ranks each part gets: in proportion to its slots; of equals the first one more. */
static bool divide(const struct seating *s, struct part *parts, unsigned n_parts, unsigned n_ranks)
{
	uint64_t n_slots = 0;

	for (unsigned i = 0; i < n_parts; i++)
		n_slots += parts[i].n_slots;
	for (unsigned i = 0; i < n_ranks; i++) {
		struct part *part = neediest(s, parts, n_parts, n_ranks, n_slots);

		if (!part)
			return false;
		part->room++;
	}
	return true;
}

/* One after the other to the first part that has room, or to each part in turn. */
static void deal(const struct seating *s, struct part *parts, unsigned n_parts,
	const unsigned *ranks, unsigned n_ranks)
{
	bool is_cyclic = s->request->distribution == PM_DISTRIBUTION_CYCLIC;
	unsigned at = is_cyclic ? n_parts - 1 : 0;

	for (unsigned i = 0; i < n_ranks; i++) {
		if (is_cyclic)
			at = (at + 1) % n_parts;
		while (parts[at].n_ranks == parts[at].room)
			at = (at + 1) % n_parts;
		parts[at].ranks[parts[at].n_ranks++] = ranks[i];
	}
}

/*
 * Deals the ranks out over the parts. False: they must be seated over all of them as one, for there
 * are fewer than parts and each is to have its share of all, or one has more threads than a part
 * has room for.
 */
static bool split(const struct seating *s, struct part *parts, unsigned n_parts,
	const unsigned *ranks, unsigned n_ranks, unsigned *buffer)
{
	if (n_ranks < n_parts && !s->request->threads)
		return false;
	for (unsigned i = 0; i < n_parts; i++)
		parts[i].n_slots = count_slots(s, parts[i].pool);
	if (!divide(s, parts, n_parts, n_ranks))
		return false;
	for (unsigned i = 0; i < n_parts; i++) {
		parts[i].ranks = buffer;
		buffer += parts[i].room;
	}
	deal(s, parts, n_parts, ranks, n_ranks);
	return true;
}

static int seat_in_package(
	const struct seating *s, unsigned index, const unsigned *ranks, unsigned n_ranks)
{
	const struct pm_package *package = &s->topology->packages[index];
	const struct pm_domain *domains = &s->topology->domains[package->first_domain];
	cleanup_free struct part *parts = calloc(package->n_domains, sizeof(*parts));
	cleanup_free unsigned *buffer = calloc((size_t)n_ranks + 1, sizeof(*buffer));

	if (!parts || !buffer)
		return -ENOMEM;
	for (unsigned i = 0; i < package->n_domains; i++)
		parts[i].pool = (struct pool){domains[i].first_core, domains[i].n_cores};
	if (!split(s, parts, package->n_domains, ranks, n_ranks, buffer)) {
		seat_pool(s, ranks, n_ranks, (struct pool){package->first_core, package->n_cores});
		return 0;
	}
	for (unsigned i = 0; i < package->n_domains; i++)
		seat_pool(s, parts[i].ranks, parts[i].n_ranks, parts[i].pool);
	return 0;
}

static int seat_in_machine(const struct seating *s, const unsigned *ranks, unsigned n_ranks)
{
	const struct pm_topology *t = s->topology;
	cleanup_free struct part *parts = calloc(t->n_packages, sizeof(*parts));
	cleanup_free unsigned *buffer = calloc((size_t)n_ranks + 1, sizeof(*buffer));
	int rc = 0;

	if (!parts || !buffer)
		return -ENOMEM;
	for (unsigned i = 0; i < t->n_packages; i++)
		parts[i].pool = (struct pool){t->packages[i].first_core, t->packages[i].n_cores};
	if (!split(s, parts, t->n_packages, ranks, n_ranks, buffer)) {
		seat_pool(s, ranks, n_ranks, whole(t));
		return 0;
	}
	for (unsigned i = 0; !rc && i < t->n_packages; i++)
		rc = seat_in_package(s, i, parts[i].ranks, parts[i].n_ranks);
	return rc;
}

/* Second hardware threads are there or not: that shows only now. */
static int check_helpers(const struct seating *s, struct pm_err *err)
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

int pm_plan_seat(struct pm_plan *plan, const struct pm_topology *topology,
	const struct pm_plan_request *request, struct pm_err *err)
{
	struct seating s = {.plan = plan, .topology = topology, .request = request};
	cleanup_free unsigned *ranks = NULL;
	int rc = choose_slots(&s, err);

	if (rc)
		return rc;
	ranks = calloc(plan->n_ranks, sizeof(*ranks));
	if (!ranks)
		return pm_err_nomem(err);
	for (unsigned i = 0; i < plan->n_ranks; i++)
		ranks[i] = i;
	if (seat_in_machine(&s, ranks, plan->n_ranks))
		return pm_err_nomem(err);
	return check_helpers(&s, err);
}
