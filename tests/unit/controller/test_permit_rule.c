/* SPDX-License-Identifier: Apache-2.0 */
/* Reboots within limits: jobs one after the other, beside nodes of three modes. */
#include "controller/permit_rule.h"

#include <limits.h>

#include "tests/unit/tap.h"

#define MEMORY	  1
#define APPDIRECT 2
#define MIXED	  3

static struct pm_permit_nodes nodes; /* of each test */
static struct pm_permit_sum sum;
static struct pm_permit_day day;
static struct pm_permit_limits limits;

/* Four nodes in each of two modes, all idle. */
static void begin(void)
{
	nodes = (struct pm_permit_nodes){.all = 8};
	nodes.idle[MEMORY] = nodes.total[MEMORY] = 4;
	nodes.idle[APPDIRECT] = nodes.total[APPDIRECT] = 4;
	sum = (struct pm_permit_sum){0};
	day = (struct pm_permit_day){0};
	limits = (struct pm_permit_limits){.may_reboot = true, .is_open = true, .day = &day};
}

static enum pm_permit ask(unsigned mode, unsigned needed)
{
	struct pm_permit_job job = {.mode = mode, .needed = needed, .usable = UINT_MAX};

	return pm_permit_decide(&limits, &nodes, &sum, &job);
}

static void test_usable(void)
{
	struct pm_permit_job job = {.mode = MEMORY, .needed = 2, .usable = 1};

	begin();
	is_number(pm_permit_decide(&limits, &nodes, &sum, &job), PM_PERMIT_GIVEN,
		"idle nodes in the mode that the job may not take are of no use to it");
	is_number(sum.reboots, 1, "one reboots");
	is_number(nodes.idle[MEMORY], 3, "and the others are left");
	job.usable = 2;
	is_number(pm_permit_decide(&limits, &nodes, &sum, &job), PM_PERMIT_NOT_NEEDED,
		"enough that it may take");
}

static void test_need(void)
{
	begin();
	is_number(ask(MEMORY, 3), PM_PERMIT_NOT_NEEDED, "enough idle nodes are in the mode");
	is_number(ask(MEMORY, 2), PM_PERMIT_GIVEN, "one is left, one reboots");
	is_number(sum.reboots, 1, "which counts");
	begin();
	limits.is_open = false;
	is_number(ask(MEMORY, 4), PM_PERMIT_NOT_NEEDED, "no hours are needed without a reboot");
	is_number(ask(MEMORY, 1), PM_PERMIT_HOURS, "with one they are");
	limits.may_reboot = false;
	is_number(ask(MEMORY, 1), PM_PERMIT_USERS, "a job that may have none at all");
}

static void test_day(void)
{
	begin();
	limits.per_day = 3;
	day.used = 1;
	is_number(ask(MIXED, 1), PM_PERMIT_GIVEN, "the second of three");
	is_number(ask(MIXED, 2), PM_PERMIT_DAY, "two more are too many");
	is_number(ask(MIXED, 1), PM_PERMIT_GIVEN, "one more is not");
	is_number(ask(MIXED, 1), PM_PERMIT_DAY, "then none");
	is_number(day.used, 3, "all are used");
}

static void test_most(void)
{
	begin();
	limits.most[MEMORY] = 6;
	is_number(ask(MEMORY, 5), PM_PERMIT_GIVEN, "a fifth node");
	is_number(ask(MEMORY, 2), PM_PERMIT_MOST, "seven are too many");
	is_number(ask(MEMORY, 1), PM_PERMIT_GIVEN, "six are not");
	is_number(ask(MIXED, 1), PM_PERMIT_GIVEN, "another mode");
	begin();
	limits.most[MEMORY] = 5;
	nodes.out[MEMORY] = 1;
	is_number(ask(MEMORY, 5), PM_PERMIT_MOST, "a node out of service is in its mode as well");
}

static void test_least(void)
{
	begin();
	limits.least[APPDIRECT] = 3;
	is_number(ask(MEMORY, 6), PM_PERMIT_LEAST, "two could come from a mode that spares one");
	is_number(ask(MEMORY, 5), PM_PERMIT_GIVEN, "one may");
	is_number(ask(MIXED, 1), PM_PERMIT_LEAST, "no second one");
	begin();
	limits.least[APPDIRECT] = 3;
	is_number(ask(APPDIRECT, 5), PM_PERMIT_GIVEN, "its own mode may get more");
	begin();
	limits.least[MIXED] = 2;
	is_number(ask(MEMORY, 5), PM_PERMIT_GIVEN, "a mode without nodes has none to keep");
}

static void test_order(void)
{
	begin();
	is_number(ask(MIXED, 9), PM_PERMIT_GIVEN, "a job for more nodes than there are, first");
	is_number(ask(MIXED, 1), PM_PERMIT_BEHIND, "behind it none");
	begin();
	is_number(ask(MIXED, 8), PM_PERMIT_GIVEN, "a job for all nodes");
	is_number(ask(MEMORY, 1), PM_PERMIT_NOT_NEEDED, "an idle node needs no permit");
	is_number(ask(MEMORY, 4), PM_PERMIT_BEHIND, "the next one for a reboot waits");
}

int main(void)
{
	test_need();
	test_usable();
	test_day();
	test_most();
	test_least();
	test_order();
	return tap_done();
}
