/* SPDX-License-Identifier: Apache-2.0 */
/* Which jobs the rule holds: a table of queues beside eight nodes of two modes, and random ones, of
 * which none is held too long. */
#include "controller/hold_rule.h"

#include <errno.h>

#include "tests/unit/tap.h"

#define NOW	   100000.0
#define REBOOT	   600.0
#define MOST	   3600.0
#define LEASE	   90.0
#define JOBS_MAX   4
#define NODES	   8
#define STEP	   5.0
#define RANDOM_S   40000
#define RANDOM_MAX 12

static const struct pm_hold_rule rule = {.reboot_s = REBOOT,
	.most_s = MOST,
	.soon = 2,
	.gap_s = 7200,
	.rent = 2,
	.lease_s = LEASE,
	.guarded = 2};

/* Of 600 s, first held so long ago. */
#define HELD(n, m, ago_s)                                                                          \
	{                                                                                          \
		.run_s = 600, .nodes = (n), .mode = (m), .may_hold = 1,                            \
		.first_held_s = NOW - (ago_s)                                                      \
	}
#define JOB(n, m) HELD(n, m, NOW)
/* The reboots are paid. */
#define PAID(n, m) HELD(n, m, 3000)

/* Nodes 0 to 3 have mode 0, 4 to 7 mode 1. `answers`: s starts, h is held, g is leased without
 * being held, b starts behind a job for which Slurm waits. */
static const struct {
	const char *name;
	double free_in_s[NODES];
	struct pm_hold_job jobs[JOBS_MAX];
	const char *answers;
} rows[] = {
	{"no reboot is permitted", {9000, 9000, 9000, 9000},
		{{.run_s = 600, .nodes = 1, .barred = PM_HOLD_BARRED, .first_held_s = NOW - 99999}},
		"g"},
	{"none is needed", {9000}, {{.run_s = 600, .nodes = 3, .barred = PM_HOLD_BARRED}}, "s"},
	{"a job behind it starts", {9000, 9000, 9000, 9000},
		{{.run_s = 600, .nodes = 1, .barred = PM_HOLD_BARRED}, JOB(4, 1)}, "gs"},
	{"the idle nodes of its mode are not for it", {0},
		{{.run_s = 600, .nodes = 1, .barred = PM_HOLD_BARRED_FROM_ALL}, JOB(4, 0)}, "gs"},
	{"its own mode is idle", {[4] = 9, 9, 9, 9}, {JOB(4, 0)}, "s"},
	{"reboots are not paid", {9000, 9000, 9000, 9000}, {JOB(1, 0)}, "h"},
	{"they are", {9000, 9000, 9000, 9000}, {PAID(1, 0)}, "s"},
	{"they are, by an earlier job's wait", {9000, 9000, 9000, 9000}, {JOB(1, 0), PAID(1, 0)},
		"ss"},
	{"paid for one, not for two", {9000, 9000, 9000, 9000}, {JOB(2, 0), HELD(1, 0, 1300)},
		"hs"},
	{"but an earlier one takes its wait with it", {9000, 9000, 9000, 9000},
		{PAID(1, 0), JOB(1, 0)}, "sh"},
	{"an idle node does not come free", {[1] = 9000, 9000, 9000}, {PAID(2, 0)}, "s"},
	{"the other mode's job starts, and leaves enough", {9000, 9000, 9000, 9000},
		{JOB(2, 1), PAID(2, 0)}, "ss"},
	{"its queue is longer, but not by much", {9000, 9000, 9000, 9000},
		{PAID(1, 0), {.run_s = 100, .nodes = 4, .mode = 1, .may_hold = 1}}, "hs"},
	{"a node of its mode comes free soon", {1100, 9000, 9000, 9000}, {PAID(1, 0)}, "h"},
	{"it does not come soon enough", {1300, 9000, 9000, 9000}, {PAID(1, 0)}, "s"},
	{"it comes free for the job before", {1100, 9000, 9000, 9000}, {PAID(1, 0), PAID(1, 0)},
		"hs"},
	{"the other mode needs its nodes", {9000, 9000, 9000, 9000}, {PAID(1, 0), JOB(4, 1)}, "hs"},
	{"its queue is shorter by far", {9000, 9000, 9000, 9000},
		{{.run_s = 40000, .nodes = 1, .may_hold = 1, .first_held_s = NOW - 3000},
			JOB(4, 1)},
		"sg"},
	{"held for as long as is allowed", {1100, 9000, 9000, 9000}, {HELD(1, 0, MOST)}, "s"},
	{"a second less", {1100, 9000, 9000, 9000}, {HELD(1, 0, MOST - 1)}, "h"},
	{"it may not be held", {9000, 9000, 9000, 9000}, {{.run_s = 600, .nodes = 1}}, "s"},
	{"no node is idle, one would do", {9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000},
		{JOB(1, 0)}, "g"},
	{"three would", {9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000}, {JOB(3, 0)}, "s"},
	{"behind one that waits in Slurm's queue", {9000, 9000, 9000, 9000, 9000, 9000, 9000, 9000},
		{JOB(3, 0), JOB(1, 0)}, "sb"},
	{"Slurm leaves the idle nodes alone, then", {9000, 9000, 9000, 9000, 9000, 9000},
		{JOB(5, 0), JOB(1, 0), JOB(4, 2)}, "sbg"},
	{"held for as long as is allowed, behind one", {9000, 9000, 9000, 9000, 9000, 9000},
		{JOB(5, 0), HELD(1, 0, MOST)}, "ss"},
	{"but its mode has too few nodes", {9000, 9000, 9000, 9000, [6] = 9000, 9000},
		{JOB(8, 1), JOB(1, 2)}, "sh"},
};

static size_t count_jobs(const struct pm_hold_job *jobs)
{
	size_t n = 0;

	while (n < JOBS_MAX && jobs[n].nodes)
		n++;
	return n;
}

static char letter_of(const struct pm_hold_answer *answer)
{
	if (!answer->until_s)
		return answer->either ? 'b' : 's';
	return answer->counts ? 'h' : 'g';
}

static void try_row(size_t i)
{
	struct pm_hold_node nodes[NODES];
	struct pm_hold_answer answers[JOBS_MAX];
	size_t n = count_jobs(rows[i].jobs);
	char got[JOBS_MAX + 1] = "";

	for (size_t k = 0; k < NODES; k++)
		nodes[k] =
			(struct pm_hold_node){.free_s = NOW + rows[i].free_in_s[k], .mode = k / 4};
	pm_hold_decide(&rule, NOW, rows[i].jobs, n, nodes, NODES, answers);
	for (size_t k = 0; k < n; k++)
		got[k] = letter_of(&answers[k]);
	is_text(got, rows[i].answers, rows[i].name);
}

/* Mode 1 needs its node, mode 2 does not. */
static void try_donors(void)
{
	const struct pm_hold_node nodes[] = {{NOW + 9000, 0}, {0, 1}, {0, 2}};
	const struct pm_hold_job jobs[] = {PAID(1, 0), JOB(1, 1)};
	struct pm_hold_answer answers[2];

	pm_hold_decide(&rule, NOW, jobs, 2, nodes, 3, answers);
	ok(!answers[0].until_s && !answers[1].until_s,
		"nodes of the mode with the shortest queue reboot");
}

static double lease_end(double held_ago_s)
{
	const struct pm_hold_node nodes[] = {{NOW + 300, 0}, {0, 1}};
	const struct pm_hold_job job = HELD(1, 0, held_ago_s);
	struct pm_hold_answer answer;

	pm_hold_decide(&rule, NOW, &job, 1, nodes, 2, &answer);
	return answer.until_s;
}

static void try_ends(void)
{
	ok(lease_end(NOW) == NOW + LEASE, "the first lease is whole");
	ok(lease_end(MOST - LEASE - 1) == NOW + LEASE, "the last but one, too");
	ok(lease_end(MOST - 30) == NOW + 30, "the last ends with the hold");
	ok(lease_end(MOST) == 0, "there is none after it");
}

static uint32_t below(uint32_t n)
{
	static uint64_t state = 88172645463325252ULL; /* xorshift64 (Marsaglia, 2003) */

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32) % n;
}

static void change_nodes(struct pm_hold_node *nodes, double now)
{
	for (size_t k = 0; k < RANDOM_MAX; k++)
		if (!below(20))
			nodes[k] = (struct pm_hold_node){
				.free_s = now + (below(2) ? below(20000) : 0), .mode = below(4)};
}

static struct pm_hold_job random_job(void)
{
	return (struct pm_hold_job){.run_s = below(40000),
		.nodes = 1 + below(5),
		.mode = below(4),
		.may_hold = below(8) > 0};
}

/* What is promised of an answer, and what the service does with it. */
static bool keeps_promise(struct pm_hold_job *job, const struct pm_hold_answer *answer, double now)
{
	if (answer->counts && !job->first_held_s)
		job->first_held_s = now;
	if (!answer->until_s)
		return !answer->counts;
	if (job->first_held_s && now >= job->first_held_s + MOST)
		return false;
	return job->may_hold && answer->until_s > now && answer->until_s <= now + LEASE &&
	       (!job->first_held_s || answer->until_s <= job->first_held_s + MOST);
}

/* Returns how many answers broke a promise. A job that starts makes room for another. */
static unsigned run_random_queue(unsigned *ret_holds)
{
	struct pm_hold_rule dear = rule;
	struct pm_hold_node nodes[RANDOM_MAX] = {0};
	struct pm_hold_job jobs[RANDOM_MAX];
	struct pm_hold_answer answers[RANDOM_MAX];
	unsigned broken = 0;

	dear.rent = 1000; /* so that only time ends a hold */
	for (size_t k = 0; k < RANDOM_MAX; k++)
		jobs[k] = random_job();
	for (double now = NOW; now < NOW + RANDOM_S; now += STEP) {
		change_nodes(nodes, now);
		broken += pm_hold_decide(
				  &dear, now, jobs, RANDOM_MAX, nodes, RANDOM_MAX, answers) != 0;
		for (size_t k = 0; k < RANDOM_MAX; k++) {
			broken += !keeps_promise(&jobs[k], &answers[k], now);
			*ret_holds += answers[k].counts;
			if (!answers[k].until_s && !below(40))
				jobs[k] = random_job();
		}
	}
	return broken;
}

static void try_wrong_modes(void)
{
	struct pm_hold_job job = JOB(1, PM_HOLD_MODES_MAX);
	struct pm_hold_node node = {.mode = 0};
	struct pm_hold_answer answer = {.until_s = 7};

	ok(pm_hold_decide(&rule, NOW, &job, 1, &node, 1, &answer) == -EINVAL && answer.until_s == 7,
		"a job's mode is too high, and no answer is written");
	job.mode = 0;
	node.mode = PM_HOLD_MODES_MAX;
	ok(pm_hold_decide(&rule, NOW, &job, 1, &node, 1, &answer) == -EINVAL, "a node's is");
}

int main(void)
{
	unsigned holds = 0, broken;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		try_row(i);
	try_donors();
	try_ends();
	broken = run_random_queue(&holds);
	ok(!broken && holds > 1000, "no job is held beyond its time: %u of %u", broken, holds);
	try_wrong_modes();
	return tap_done();
}
