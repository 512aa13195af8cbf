/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/hold_rule.h"

#include <errno.h>

/* Of one mode. */
struct mode {
	uint32_t nodes, idle;
	uint32_t soon;	 /* busy nodes that come free within the time of the rule */
	uint64_t wanted; /* nodes of all pending jobs */
	uint64_t ahead;	 /* nodes of the pending jobs that were looked at and have none yet */
	double work_s;	 /* node-seconds of the pending jobs */
	double held_s;	 /* node-seconds that they have been held */
};

struct state {
	const struct pm_hold_rule *rule;
	double now_s;
	bool blocked; /* an earlier job may start and has no room: Slurm reboots nothing for later
			 ones */
	struct mode modes[PM_HOLD_MODES_MAX];
};

static bool is_held(const struct pm_hold_job *job)
{
	return job->first_held_s > 0;
}

static double held_s(const struct state *state, const struct pm_hold_job *job)
{
	double s = is_held(job) ? state->now_s - job->first_held_s : 0;

	return s > 0 ? job->nodes * s : 0;
}

static int count_nodes(struct state *state, const struct pm_hold_node *nodes, size_t n)
{
	double soon_s = state->now_s + state->rule->soon * state->rule->reboot_s;

	for (size_t i = 0; i < n; i++) {
		if (nodes[i].mode >= PM_HOLD_MODES_MAX)
			return -EINVAL;
		struct mode *mode = &state->modes[nodes[i].mode];
		bool idle = nodes[i].free_s <= state->now_s;

		mode->nodes++;
		mode->idle += idle;
		mode->soon += !idle && nodes[i].free_s <= soon_s;
	}
	return 0;
}

static int count_jobs(struct state *state, const struct pm_hold_job *jobs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (jobs[i].mode >= PM_HOLD_MODES_MAX)
			return -EINVAL;
		struct mode *mode = &state->modes[jobs[i].mode];

		mode->wanted += jobs[i].nodes;
		mode->work_s += jobs[i].nodes * jobs[i].run_s;
		mode->held_s += held_s(state, &jobs[i]);
	}
	return 0;
}

/* The length of a mode's queue. */
static double queue_s(const struct mode *mode)
{
	return mode->work_s / (mode->nodes ? mode->nodes : 1);
}

static uint32_t spared_by(
	const struct state *state, const struct mode *donor, const struct mode *taker)
{
	if (queue_s(taker) >= queue_s(donor) + state->rule->gap_s)
		return donor->idle;
	return donor->idle > donor->wanted ? donor->idle - (uint32_t)donor->wanted : 0;
}

static uint64_t spared_for(const struct state *state, const struct mode *taker)
{
	uint64_t sum = 0;

	for (const struct mode *donor = state->modes; donor < state->modes + PM_HOLD_MODES_MAX;
		donor++)
		sum += donor == taker ? 0 : spared_by(state, donor, taker);
	return sum;
}

/* The reboots of `missing` nodes do not pay yet. */
static bool waits(const struct state *state, const struct mode *mode, uint32_t missing)
{
	const struct pm_hold_rule *rule = state->rule;

	if (mode->soon >= missing + mode->ahead)
		return true;
	if (spared_for(state, mode) < missing)
		return true;
	return mode->held_s < rule->rent * missing * rule->reboot_s;
}

/* The mode with idle nodes and the shortest queue; NULL: none has idle nodes. */
static struct mode *best_donor(struct state *state, const struct mode *taker)
{
	struct mode *best = NULL;

	for (struct mode *donor = state->modes; donor < state->modes + PM_HOLD_MODES_MAX; donor++)
		if (donor != taker && donor->idle && (!best || queue_s(donor) < queue_s(best)))
			best = donor;
	return best;
}

/* The job starts, on nodes of its mode and on others, if there are as many. */
static void take(struct state *state, const struct pm_hold_job *job)
{
	struct mode *mode = &state->modes[job->mode];
	uint32_t left = job->nodes;

	mode->wanted -= job->nodes;
	mode->held_s -= held_s(state, job);
	for (struct mode *from = mode; left && from; from = best_donor(state, mode)) {
		uint32_t taken = from->idle < left ? from->idle : left;

		from->idle -= taken;
		left -= taken;
	}
}

static bool may_hold(const struct state *state, const struct pm_hold_job *job)
{
	return job->may_hold &&
	       (!is_held(job) || state->now_s < job->first_held_s + state->rule->most_s);
}

static double end_of_lease(const struct state *state, const struct pm_hold_job *job)
{
	double most_s = (is_held(job) ? job->first_held_s : state->now_s) + state->rule->most_s;
	double lease_s = state->now_s + state->rule->lease_s;

	return lease_s < most_s ? lease_s : most_s;
}

static uint64_t idle_nodes(const struct state *state)
{
	uint64_t idle = 0;

	for (size_t i = 0; i < PM_HOLD_MODES_MAX; i++)
		idle += state->modes[i].idle;
	return idle;
}

static bool is_barred(const struct pm_hold_job *job, uint32_t missing)
{
	return job->barred == PM_HOLD_BARRED_FROM_ALL || (job->barred && missing);
}

static struct pm_hold_answer decide(struct state *state, const struct pm_hold_job *job)
{
	struct mode *mode = &state->modes[job->mode];
	uint64_t idle = idle_nodes(state);
	uint32_t missing = job->nodes > mode->idle ? job->nodes - mode->idle : 0;
	bool room = idle >= job->nodes;
	bool behind = state->blocked && mode->nodes >= job->nodes;

	if (is_barred(job, missing)) {
		mode->ahead += job->nodes;
		return (struct pm_hold_answer){.until_s = state->now_s + state->rule->lease_s};
	}
	if (missing && !behind && job->nodes <= idle + state->rule->guarded &&
		may_hold(state, job) && waits(state, mode, missing)) {
		mode->ahead += job->nodes;
		return (struct pm_hold_answer){.until_s = end_of_lease(state, job), .counts = room};
	}
	if (room && !(missing && behind)) {
		take(state, job);
	} else {
		mode->ahead += job->nodes;
		state->blocked = true;
	}
	return (struct pm_hold_answer){.either = missing && behind && may_hold(state, job)};
}

int pm_hold_decide(const struct pm_hold_rule *rule, double now_s, const struct pm_hold_job *jobs,
	size_t n_jobs, const struct pm_hold_node *nodes, size_t n_nodes,
	struct pm_hold_answer *ret_answers)
{
	struct state state = {.rule = rule, .now_s = now_s};

	if (count_nodes(&state, nodes, n_nodes) || count_jobs(&state, jobs, n_jobs))
		return -EINVAL;
	for (size_t i = 0; i < n_jobs; i++)
		ret_answers[i] = decide(&state, &jobs[i]);
	return 0;
}
