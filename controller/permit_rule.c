/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/permit_rule.h"

static bool exceeds_day(const struct pm_permit_limits *limits, unsigned missing)
{
	return limits->per_day && limits->day->used + missing > limits->per_day;
}

static bool exceeds_most(const struct pm_permit_limits *limits, const struct pm_permit_nodes *nodes,
	const struct pm_permit_sum *sum, unsigned mode, unsigned missing)
{
	return limits->most[mode] &&
	       nodes->total[mode] + nodes->out[mode] + sum->into[mode] + missing >
		       limits->most[mode];
}

/* No node may leave a mode that has no more than its least number. */
static bool falls_below_least(const struct pm_permit_limits *limits,
	const struct pm_permit_nodes *nodes, const struct pm_permit_sum *sum, unsigned mode,
	unsigned missing)
{
	for (unsigned other = 0; other < PM_POLICY_MODES; other++) {
		unsigned leaving = sum->reboots - sum->into[other] + missing;

		if (other != mode && limits->least[other] && nodes->total[other] &&
			nodes->total[other] < limits->least[other] + leaving)
			return true;
	}
	return false;
}

/* A job alone may need more nodes than there are in service now. */
static bool is_behind(const struct pm_permit_nodes *nodes, unsigned needed)
{
	return nodes->promised && nodes->promised + needed > nodes->all;
}

static enum pm_permit judge(const struct pm_permit_limits *limits,
	const struct pm_permit_nodes *nodes, const struct pm_permit_sum *sum, unsigned mode,
	unsigned needed, unsigned missing)
{
	if (!limits->may_reboot)
		return PM_PERMIT_USERS;
	if (!limits->is_open)
		return PM_PERMIT_HOURS;
	if (exceeds_day(limits, missing))
		return PM_PERMIT_DAY;
	if (exceeds_most(limits, nodes, sum, mode, missing))
		return PM_PERMIT_MOST;
	if (falls_below_least(limits, nodes, sum, mode, missing))
		return PM_PERMIT_LEAST;
	return is_behind(nodes, needed) ? PM_PERMIT_BEHIND : PM_PERMIT_GIVEN;
}

static unsigned least_of(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

enum pm_permit pm_permit_decide(const struct pm_permit_limits *limits,
	struct pm_permit_nodes *nodes, struct pm_permit_sum *sum, const struct pm_permit_job *job)
{
	unsigned mode = job->mode, needed = job->needed;
	unsigned idle = least_of(least_of(nodes->idle[mode], job->usable), needed);
	unsigned missing = needed - idle;
	enum pm_permit permit = PM_PERMIT_NOT_NEEDED;

	if (missing)
		permit = judge(limits, nodes, sum, mode, needed, missing);
	if (permit != PM_PERMIT_NOT_NEEDED && permit != PM_PERMIT_GIVEN)
		return permit;
	nodes->idle[mode] -= idle;
	nodes->promised += needed;
	if (missing && limits->day)
		limits->day->used += missing;
	sum->into[mode] += missing;
	sum->reboots += missing;
	return permit;
}
