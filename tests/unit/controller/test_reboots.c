/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "controller/announce.h"
#include "controller/overview.h"
#include "controller/reboots.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define ALL_FEATURES "pm_memory,pm_appdirect,pm_mixed"

static node_info_t records[3];
static const node_info_t *by_name[3] = {&records[0], &records[1], &records[2]};
static node_info_msg_t table = {.record_count = 3, .node_array = records};
static struct pm_cluster cluster = {.nodes = &table, .by_name = by_name, .n_by_name = 3};

static char *names[] = {"login", "n1", "n2"};
static char *waiting[] = {"n1", NULL};
static struct pm_waiter waiter = {.job_id = 17, .uid = 1000, .names = waiting};
static struct pm_waiters no_waiters, one_waiter = {&waiter};

static void set(int i, uint32_t state, char *active)
{
	records[i] = (node_info_t){.name = names[i],
		.node_state = state,
		.features = i ? ALL_FEATURES : "",
		.features_act = active,
		.reason_uid = NO_VAL};
	table.last_update++;
}

static void start_over(void)
{
	set(0, NODE_STATE_IDLE, "");
	set(1, NODE_STATE_IDLE, "pm_appdirect,rack1");
	set(2, NODE_STATE_IDLE, "pm_memory");
}

static const struct pm_reboot *last_of(const struct pm_reboots *reboots, const char *node)
{
	size_t n;
	const struct pm_reboot *list = pm_reboots_of(reboots, node, &n);

	return n ? &list[n - 1] : NULL;
}

/* n1 into Memory Mode; Slurm shows that as active at once. */
static void reboot_n1(struct pm_reboots *reboots, uint64_t start_s, uint64_t seconds)
{
	set(1, NODE_STATE_ALLOCATED | NODE_STATE_POWERING_UP, "pm_memory,rack1");
	pm_reboots_look(reboots, &cluster, &one_waiter, start_s);
	set(1, NODE_STATE_ALLOCATED, "pm_memory,rack1");
	pm_reboots_look(reboots, &cluster, &no_waiters, start_s + seconds);
	set(1, NODE_STATE_IDLE, "pm_appdirect,rack1");
	pm_reboots_look(reboots, &cluster, &no_waiters, start_s + seconds + 1);
}

static void test_a_reboot(void)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0}, again = {0};
	const char *path = scratch_path("reboots.json");
	const struct pm_reboot *reboot;
	struct pm_err err;

	start_over();
	is_number(pm_reboots_open(&reboots, path, &err), 0, "without a file");
	pm_reboots_look(&reboots, &cluster, &no_waiters, 1000);
	is_number((long long)reboots.n, 0, "nodes that serve do not reboot");
	set(1, NODE_STATE_ALLOCATED | NODE_STATE_POWERING_UP, "pm_memory,rack1");
	pm_reboots_look(&reboots, &cluster, &no_waiters, 1010);
	ok(pm_reboots_open_of(&reboots, "n1") && !pm_reboots_open_of(&reboots, "n2"), "one does");
	pm_reboots_look(&reboots, &cluster, &one_waiter, 1020);
	is_number(pm_reboots_open_of(&reboots, "n1")->job_id, 17, "for a job that waits for it");
	set(1, NODE_STATE_ALLOCATED | NODE_STATE_NO_RESPOND, "pm_memory,rack1");
	pm_reboots_look(&reboots, &cluster, &one_waiter, 1030);
	ok(pm_reboots_open_of(&reboots, "n1") != NULL, "a silent node is not back");
	is_number(pm_reboots_open(&again, path, &err), 0, "a service that starts now");
	is_number((long long)again.n_open, 1, "knows of it");
	set(1, NODE_STATE_ALLOCATED, "pm_memory,rack1");
	pm_reboots_look(&again, &cluster, &no_waiters, 1090);
	reboot = last_of(&again, "n1");
	is_text(reboot->from, "pm_appdirect", "from the mode before Slurm's order");
	is_text(reboot->to, "pm_memory", "into the mode that it came back in");
	is_number((long long)(reboot->end_s - reboot->start_s), 80, "in seconds");
	is_text(reboot->failure, NULL, "without a failure");
}

static void test_failures(void)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0};
	struct pm_err err;

	start_over();
	(void)pm_reboots_open(&reboots, scratch_path("failures.json"), &err);
	pm_reboots_look(&reboots, &cluster, &no_waiters, 1000);
	set(1, NODE_STATE_ALLOCATED | NODE_STATE_POWERING_UP, "pm_memory");
	set(2, NODE_STATE_ALLOCATED | NODE_STATE_POWERING_UP, "pm_appdirect");
	pm_reboots_look(&reboots, &cluster, &no_waiters, 1010);
	set(1, NODE_STATE_DOWN, "pm_memory");
	records[1].reason = "reboot timed out";
	set(2, NODE_STATE_IDLE, "pm_memory");
	pm_reboots_look(&reboots, &cluster, &no_waiters, 1040);
	is_text(last_of(&reboots, "n1")->failure, "did not come back: reboot timed out",
		"Slurm gave the node up");
	is_text(last_of(&reboots, "n2")->failure, "came back in mode memory, not appdirect",
		"the other mode");
	is_text(last_of(&reboots, "n2")->to, "pm_memory", "which it is in");
	is_number(
		(long long)pm_reboots_median_s(&reboots, "pm_memory"), 0, "neither is a duration");
}

static void test_a_node_that_goes(void)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0};
	struct pm_err err;

	start_over();
	(void)pm_reboots_open(&reboots, scratch_path("goes.json"), &err);
	pm_reboots_look(&reboots, &cluster, &no_waiters, 1000);
	set(2, NODE_STATE_ALLOCATED | NODE_STATE_POWERING_UP, "pm_appdirect");
	pm_reboots_look(&reboots, &cluster, &no_waiters, 1010);
	is_number((long long)reboots.n_open, 1, "a node reboots");
	cluster.n_by_name = 2;
	pm_reboots_look(&reboots, &cluster, &no_waiters, 1020);
	cluster.n_by_name = 3;
	is_number((long long)reboots.n_open, 0, "and is taken out of slurm.conf meanwhile");
	ok(last_of(&reboots, "n2")->failure != NULL, "which is a failure");
}

static void test_median(void)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0};
	struct pm_err err;

	start_over();
	(void)pm_reboots_open(&reboots, scratch_path("median.json"), &err);
	pm_reboots_look(&reboots, &cluster, &no_waiters, 1);
	is_number((long long)pm_reboots_median_s(&reboots, "pm_memory"), 0, "no reboot, no median");
	for (unsigned i = 0; i < 40; i++)
		reboot_n1(&reboots, 1000 + i * 100, i < 9 ? 5 : 50 + i % 3);
	is_number((long long)pm_reboots_median_s(&reboots, "pm_memory"), 51,
		"the median of the last ones");
	is_number((long long)pm_reboots_median_s(&reboots, "pm_mixed"), 0, "into this mode");
}

static void test_limit(void)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0};
	struct pm_err err;
	size_t n;

	start_over();
	(void)pm_reboots_open(&reboots, scratch_path("limit.json"), &err);
	reboots.list = calloc(PM_REBOOTS_MAX, sizeof(*reboots.list));
	for (reboots.n = 0; reboots.n < PM_REBOOTS_MAX; reboots.n++)
		reboots.list[reboots.n] = (struct pm_reboot){
			.node = strdup("n2"), .start_s = 100 + reboots.n, .end_s = 200 + reboots.n};
	reboot_n1(&reboots, 10000, 60);
	is_number((long long)reboots.n, PM_REBOOTS_MAX, "so many are kept");
	is_number((long long)pm_reboots_of(&reboots, "n2", &n)->start_s, 101, "without the oldest");
	ok(last_of(&reboots, "n1") != NULL, "with the newest");
}

static uint64_t of(json_object *list, size_t row, const char *key)
{
	uint64_t value = 0;

	(void)pm_json_u64(json_object_array_get_idx(list, row), key, &value);
	return value;
}

static const char *text_of(json_object *list, size_t row, const char *key)
{
	return pm_json_string(json_object_array_get_idx(list, row), key);
}

static void test_overview(void)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0};
	cleanup_with(pm_json_cleanup) json_object *modes = NULL, *nodes = NULL, *rest = NULL;
	struct pm_err err;

	start_over();
	(void)pm_reboots_open(&reboots, scratch_path("overview.json"), &err);
	pm_reboots_look(&reboots, &cluster, &no_waiters, 1000);
	reboot_n1(&reboots, 2000, 60);
	set(2, NODE_STATE_IDLE | NODE_STATE_DRAIN, "pm_memory");
	records[2].reason = "the fan is loud";
	modes = pm_overview_modes(&cluster, &reboots, 3000);
	is_text(text_of(modes, 0, "feature"), "pm_memory", "a row for each feature");
	is_number((long long)of(modes, 0, "out"), 1, "a drained node is out");
	is_number((long long)of(modes, 0, "could"), 1, "another could be in that mode");
	is_number((long long)of(modes, 0, "reboot_s"), 60, "after so long");
	is_number((long long)of(modes, 0, "reboots"), 1, "as one in this day");
	is_number((long long)of(modes, 1, "could"), 0, "a node out of service could not");
	is_number((long long)json_object_array_length(modes), 3, "each node has a mode");
	nodes = pm_overview_nodes(&cluster, &reboots, NULL, 3000);
	is_number((long long)json_object_array_length(nodes), 2, "a login node has none");
	is_text(text_of(nodes, 1, "reason"), "the fan is loud", "a reason");
	rest = pm_overview_nodes(&cluster, &reboots, "n1", 3000);
	is_text(text_of(rest, 0, "node"), "n2", "the nodes behind one");
}

static void is_announced(struct pm_announced job, const struct pm_reboot *reboot, unsigned open,
	unsigned total, uint64_t median_s, const char *expected)
{
	cleanup_free char *text = pm_announce_text(&job, reboot, open, total, median_s, 100);

	is_text(text, expected, expected);
}

static void test_announcements(void)
{
	struct pm_reboot reboot = {.node = "n1", .to = "pm_memory"};
	struct pm_reboot failed = {
		.node = "n1", .to = "pm_memory", .failure = "did not come back: timed out"};
	struct pm_announced first = {.job_id = 1, .since_s = 90};
	struct pm_announced later = {.job_id = 1, .since_s = 40, .told_s = 41};

	is_announced(first, &reboot, 1, 1, 0, "pm: n1 reboots into mode memory for this job");
	is_announced(first, &reboot, 3, 3, 95,
		"pm: 3 nodes, n1 among them, reboot into mode memory for this job; the last "
		"reboots "
		"took 95 s");
	is_announced(later, &reboot, 1, 3, 95, "pm: 2 of 3 nodes are back after 60 s");
	is_announced(later, &reboot, 0, 3, 95, "pm: all 3 nodes have rebooted after 60 s");
	is_announced(later, &reboot, 0, 1, 95, "pm: n1 is back after 60 s");
	is_announced(later, &failed, 0, 1, 95, "pm: n1 did not come back: timed out");
}

int main(void)
{
	test_a_reboot();
	test_failures();
	test_a_node_that_goes();
	test_median();
	test_limit();
	test_overview();
	test_announcements();
	return tap_done();
}
