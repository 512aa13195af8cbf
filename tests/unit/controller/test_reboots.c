/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "controller/announce.h"
#include "controller/overview.h"
#include "controller/reboot_sums.h"
#include "controller/reboots.h"
#include "controller/rejected_jobs.h"
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

static slurm_job_info_t jobs[1];
static job_info_msg_t job_table = {.record_count = 1, .job_array = jobs};

static void test_account(void)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0}, again = {0};
	const char *path = scratch_path("account.json");
	struct pm_err err;

	start_over();
	(void)pm_reboots_open(&reboots, path, &err);
	pm_reboots_look(&reboots, &cluster, &no_waiters, 1000);
	set(1, NODE_STATE_ALLOCATED | NODE_STATE_POWERING_UP, "pm_memory,rack1");
	pm_reboots_look(&reboots, &cluster, &no_waiters, 1010);
	pm_reboots_look(&reboots, &cluster, &one_waiter, 1011);
	is_text(pm_reboots_open_of(&reboots, "n1")->partition, NULL, "no table of jobs yet");
	cluster.jobs = &job_table;
	jobs[0] = (slurm_job_info_t){.job_id = 17, .account = "physics", .partition = "a,b"};
	pm_reboots_look(&reboots, &cluster, &one_waiter, 1012);
	is_text(pm_reboots_open_of(&reboots, "n1")->partition, NULL,
		"a pending job's partitions are not the one it has");
	jobs[0].partition = "b";
	set(1, NODE_STATE_ALLOCATED, "pm_memory,rack1");
	pm_reboots_look(&reboots, &cluster, &one_waiter, 1013);
	cluster.jobs = NULL;
	is_text(last_of(&reboots, "n1")->partition, "b", "the job's partition, at the last look");
	is_text(last_of(&reboots, "n1")->account, "physics", "its account");
	(void)pm_reboots_open(&again, path, &err);
	is_text(last_of(&again, "n1")->account, "physics", "in the file, too");
	is_number(last_of(&again, "n1")->uid, 1000, "with its user");
}

/* A job that waits for a node that is back may be the next one. */
static void test_next_job(void)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0};
	struct pm_err err;

	start_over();
	(void)pm_reboots_open(&reboots, scratch_path("next.json"), &err);
	pm_reboots_look(&reboots, &cluster, &no_waiters, 1000);
	set(1, NODE_STATE_IDLE | NODE_STATE_POWERING_UP, "pm_memory,rack1");
	pm_reboots_look(&reboots, &cluster, &no_waiters, 1010);
	set(1, NODE_STATE_ALLOCATED, "pm_memory,rack1");
	pm_reboots_look(&reboots, &cluster, &one_waiter, 1020);
	is_number(last_of(&reboots, "n1")->job_id, 0, "an administrator's reboot is no job's");
	reboot_n1(&reboots, 1030, 1);
	is_number(last_of(&reboots, "n1")->job_id, 17, "that of a job, though it is seen once");
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
	struct pm_rejected_jobs rejected = {0};
	cleanup_with(pm_substates_done) struct pm_substates substates = {0};
	struct pm_overview overview = {&cluster, &reboots, &rejected, &substates, NULL, 3000};
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
	records[1].boot_time = records[2].boot_time = 2500;
	(void)pm_substates_set(&substates, "n2", "flat", 2499, &err);
	(void)pm_substates_set(&substates, "n1", "flat", 2499, &err);
	(void)pm_substates_set(&substates, "n1", "fsdax", 2500, &err);
	is_number(pm_substates_set(&substates, "n1", "flut", 2600, &err), -EINVAL, "no sub-state");
	nodes = pm_overview_nodes(&overview, NULL);
	is_text(text_of(nodes, 0, "substate"), "fsdax", "the sub-state that was told last");
	is_text(text_of(nodes, 1, "substate"), NULL, "none that was told before the boot");
	records[1].boot_time = 0;
	json_object_put(nodes);
	(void)pm_substates_set(&substates, "n1", "fsdax", 1999, &err);
	nodes = pm_overview_nodes(&overview, NULL);
	is_text(text_of(nodes, 0, "substate"), NULL, "none before a reboot that was seen");
	is_number((long long)json_object_array_length(nodes), 2, "a login node has none");
	is_text(text_of(nodes, 1, "reason"), "the fan is loud", "a reason");
	set(0, NODE_STATE_IDLE | NODE_STATE_DRAIN, "");
	records[0].reason = "Low RealMemory (reported:1 < 100.00% of configured:2)";
	json_object_put(nodes);
	nodes = pm_overview_nodes(&overview, NULL);
	is_text(text_of(nodes, 0, "node"), "login", "a node whose features Slurm refused");
	records[0].features = "gpu";
	json_object_put(nodes);
	nodes = pm_overview_nodes(&overview, NULL);
	is_text(text_of(nodes, 0, "node"), "n1", "not one that has others");
	records[0].features = NULL;
	records[0].node_state = NODE_STATE_IDLE;
	json_object_put(nodes);
	nodes = pm_overview_nodes(&overview, NULL);
	is_text(text_of(nodes, 0, "node"), "n1", "not one that serves");
	rest = pm_overview_nodes(&overview, "n1");
	is_text(text_of(rest, 0, "node"), "n2", "the nodes behind one");
}

/* n1 is at 1 of the table, n2 at 2. */
static int32_t on_n1[] = {1, 1, -1}, on_both[] = {0, 0, 1, 2, -1}, on_login[] = {0, 0, -1};

static slurm_job_info_t affected[] = {
	{.job_id = 1,
		.user_id = 1000,
		.job_state = JOB_RUNNING,
		.nodes = "n[1-2]",
		.node_inx = on_both},
	{.job_id = 2,
		.user_id = 1001,
		.job_state = JOB_SUSPENDED,
		.nodes = "n1",
		.node_inx = on_n1},
	{.job_id = 3,
		.user_id = 1000,
		.job_state = JOB_RUNNING,
		.nodes = "login",
		.node_inx = on_login},
	{.job_id = 4,
		.user_id = 1000,
		.job_state = JOB_PENDING,
		.req_nodes = "n1",
		.req_node_inx = on_n1},
	{.job_id = 5, .user_id = 1001, .job_state = JOB_PENDING, .restart_cnt = 1},
	{.job_id = 6, .user_id = 1000, .job_state = JOB_COMPLETE, .nodes = "n1", .node_inx = on_n1},
	/* Tables of different times: n1 had another place. */
	{.job_id = 7, .user_id = 1000, .job_state = JOB_RUNNING, .nodes = "n2", .node_inx = on_n1},
	{.job_id = 8, .user_id = 1000, .job_state = JOB_PENDING, .restart_cnt = 1},
};

static void are_jobs(json_object *list, const char *key, const char *expected)
{
	json_object *member;
	bool found = json_object_object_get_ex(json_object_array_get_idx(list, 0), key, &member);

	is_text(found ? json_object_to_json_string_ext(member, JSON_C_TO_STRING_PLAIN) : NULL,
		expected, key);
}

static void test_affected(void)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0};
	cleanup_with(pm_rejected_done) struct pm_rejected_jobs rejected = {0};
	cleanup_with(pm_json_cleanup) json_object *all = NULL, *mine = NULL, *sound = NULL;
	job_info_msg_t table_of_jobs = {.record_count = 8, .job_array = affected};
	struct pm_overview overview = {&cluster, &reboots, &rejected, NULL, NULL, 3000};
	struct pm_rejection_verdict verdict = {0};
	const uid_t other = 1001;
	struct pm_err err;

	start_over();
	(void)pm_reboots_open(&reboots, scratch_path("affected-reboots.json"), &err);
	pm_reboots_look(&reboots, &cluster, &no_waiters, 1000);
	set(1, NODE_STATE_ALLOCATED | NODE_STATE_POWERING_UP, "pm_memory,rack1");
	pm_reboots_look(&reboots, &cluster, &one_waiter, 2000);
	pm_reboots_look(&reboots, &cluster, &one_waiter, 2001);
	cluster.jobs = &table_of_jobs;
	(void)pm_rejected_open(&rejected, scratch_path("affected.json"), &err);
	is_number(pm_rejected_add(&rejected, &cluster, &affected[4], "n1", "no", 3, &verdict, &err),
		0, "n1 turns job 5 away");
	pm_rejection_verdict_done(&verdict);
	set(1, NODE_STATE_ALLOCATED, "pm_memory,rack1");
	sound = pm_overview_nodes(&overview, NULL);
	are_jobs(sound, "running", NULL);
	set(1, NODE_STATE_DOWN, "pm_memory");
	records[1].comment = (char *)"pm: namespace0.0 is foreign";
	all = pm_overview_nodes(&overview, NULL);
	are_jobs(all, "running", "[1,2]");
	are_jobs(all, "waiting", "[4]");
	are_jobs(all, "turned_away", "[5]");
	are_jobs(all, "more", NULL);
	are_jobs(all, "job", "17");
	is_text(text_of(all, 0, "comment"), "namespace0.0 is foreign", "pmctl's own comment");
	records[1].comment = (char *)"rack 7";
	overview.only = &other;
	mine = pm_overview_nodes(&overview, NULL);
	are_jobs(mine, "running", "[2]");
	are_jobs(mine, "turned_away", "[5]");
	are_jobs(mine, "waiting", NULL);
	are_jobs(mine, "job", NULL);
	is_text(text_of(mine, 0, "comment"), NULL, "not the site's");
	cluster.jobs = NULL;
}

static void test_many_affected(void)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0};
	cleanup_with(pm_json_cleanup) json_object *nodes = NULL;
	static slurm_job_info_t many[50];
	job_info_msg_t table_of_jobs = {.record_count = 50, .job_array = many};
	struct pm_rejected_jobs rejected = {0};
	struct pm_overview overview = {&cluster, &reboots, &rejected, NULL, NULL, 3000};

	start_over();
	set(1, NODE_STATE_DOWN, "pm_memory");
	for (uint32_t i = 0; i < 50; i++)
		many[i] = (slurm_job_info_t){.job_id = i + 1,
			.job_state = JOB_PENDING,
			.req_nodes = (char *)"n1",
			.req_node_inx = on_n1};
	cluster.jobs = &table_of_jobs;
	nodes = pm_overview_nodes(&overview, NULL);
	cluster.jobs = NULL;
	are_jobs(nodes, "waiting", "[1,2,3,4,5,6,7,8]");
	are_jobs(nodes, "more", "42");
}

static void add(struct pm_reboots *reboots, struct pm_reboot reboot, const char *account,
	const char *failure)
{
	reboot.node = strdup("n1");
	reboot.account = account ? strdup(account) : NULL;
	reboot.failure = failure ? strdup(failure) : NULL;
	reboots->list[reboots->n++] = reboot;
}

static void add_some(struct pm_reboots *reboots)
{
	reboots->list = calloc(8, sizeof(*reboots->list));
	add(reboots, (struct pm_reboot){.start_s = 100, .end_s = 160}, NULL, NULL);
	add(reboots, (struct pm_reboot){.start_s = 200, .end_s = 300, .job_id = 1, .uid = 1000},
		"physics", NULL);
	add(reboots, (struct pm_reboot){.start_s = 300, .end_s = 310, .job_id = 2, .uid = 1000},
		"a+b", "did not come back: lost");
	add(reboots, (struct pm_reboot){.start_s = 400, .end_s = 405, .job_id = 3, .uid = 0},
		"physics", NULL);
	add(reboots, (struct pm_reboot){.start_s = 500, .job_id = 4, .uid = 1000}, NULL, NULL);
}

static void is_row(json_object *list, size_t row, const char *name, long long n, long long failed,
	long long seconds)
{
	is_text(text_of(list, row, "name"), name, name ? name : "no name");
	is_number((long long)of(list, row, "reboots"), n, "reboots");
	is_number((long long)of(list, row, "failed"), failed, "failed");
	is_number((long long)of(list, row, "seconds"), seconds, "seconds");
}

static void test_sums(void)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0};
	cleanup_with(pm_json_cleanup) json_object *users = NULL, *accounts = NULL, *since = NULL,
						  *mine = NULL, *rest = NULL, *partitions = NULL;
	struct pm_message request = {.by = PM_BY_USER};
	const uid_t root = 0;

	add_some(&reboots);
	users = pm_reboot_sums(&reboots, &request, NULL, 1000);
	is_number((long long)json_object_array_length(users), 3, "two users, and one of nobody");
	is_row(users, 0, "0", 1, 0, 5);
	is_row(users, 1, "1000", 3, 1, 610);
	is_row(users, 2, NULL, 1, 0, 60);
	request.since_s = 301;
	since = pm_reboot_sums(&reboots, &request, NULL, 1000);
	is_row(since, 1, "1000", 1, 0, 500);
	request.since_s = 0;
	mine = pm_reboot_sums(&reboots, &request, &root, 1000);
	is_number((long long)json_object_array_length(mine), 1,
		"a user's own, and no reboot without a job");
	is_row(mine, 0, "0", 1, 0, 5);
	request.by = PM_BY_ACCOUNT;
	accounts = pm_reboot_sums(&reboots, &request, NULL, 1000);
	is_row(accounts, 0, "a+b", 1, 1, 10);
	is_row(accounts, 1, "physics", 2, 0, 105);
	is_row(accounts, 2, NULL, 2, 0, 560);
	request.after = (char *)"a+b";
	rest = pm_reboot_sums(&reboots, &request, NULL, 1000);
	is_row(rest, 0, "physics", 2, 0, 105);
	is_row(rest, 1, NULL, 2, 0, 560);
	request = (struct pm_message){.by = PM_BY_PARTITION};
	partitions = pm_reboot_sums(&reboots, &request, NULL, 1000);
	is_row(partitions, 0, NULL, 5, 1, 675);
}

/* The sums of all pages are those of the list, whatever the number of users. */
static void test_pages(void)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0};
	struct pm_message request = {.by = PM_BY_USER};
	char after[16] = "";
	uint64_t seconds = 0;
	unsigned pages = 0, rows = 0;

	reboots.list = calloc(PM_REBOOTS_MAX, sizeof(*reboots.list));
	for (uint32_t i = 0; i < PM_REBOOTS_MAX; i++)
		add(&reboots,
			(struct pm_reboot){
				.start_s = 100, .end_s = 107, .job_id = i, .uid = 1000 + i / 2},
			NULL, NULL);
	do {
		cleanup_with(pm_json_cleanup) json_object *list =
			pm_reboot_sums(&reboots, &request, NULL, 1000);
		size_t n = json_object_array_length(list);
		const char *name = n ? text_of(list, n - 1, "name") : NULL;

		for (size_t i = 0; i < n; i++)
			seconds += of(list, i, "seconds");
		rows += (unsigned)n;
		pages++;
		snprintf(after, sizeof(after), "%s", name ? name : "");
		request.after = after;
	} while (*after && pages < 100);
	ok(pages > 2, "a reply does not hold all users");
	is_number(rows, PM_REBOOTS_MAX / 2 + 1, "each has one row, and reboots of no job one");
	is_number((long long)seconds, PM_REBOOTS_MAX * 7LL, "the sum is the whole");
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

static void test_a_clock_that_is_set(void)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0};
	static const int64_t jumps[] = {3600, -3600};
	struct pm_err err;

	start_over();
	(void)pm_reboots_open(&reboots, scratch_path("clock.json"), &err);
	pm_reboots_look(&reboots, &cluster, &no_waiters, 10000);
	for (size_t i = 0; i < 2; i++) {
		set(1, NODE_STATE_ALLOCATED | NODE_STATE_POWERING_UP, "pm_memory,rack1");
		pm_reboots_look(&reboots, &cluster, &one_waiter, 10010);
		pm_reboots_shift(&reboots, jumps[i]);
		set(1, NODE_STATE_ALLOCATED, "pm_memory,rack1");
		pm_reboots_look(&reboots, &cluster, &no_waiters, (uint64_t)(10030 + jumps[i]));
		is_number((long long)(last_of(&reboots, "n1")->end_s -
				      last_of(&reboots, "n1")->start_s),
			20, "a reboot takes as long as it takes");
		set(1, NODE_STATE_IDLE, "pm_appdirect,rack1");
		pm_reboots_look(&reboots, &cluster, &no_waiters, 10040);
	}
	is_number((long long)pm_reboots_median_s(&reboots, "pm_memory"), 20, "also in the median");
	pm_reboots_shift(&reboots, 3600);
	is_number((long long)pm_reboots_median_s(&reboots, "pm_memory"), 20,
		"those that have ended stay as they are");
}

static void test_a_clock_that_was_ahead(void)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0};
	struct pm_err err;

	start_over();
	(void)pm_reboots_open(&reboots, scratch_path("ahead.json"), &err);
	pm_reboots_look(&reboots, &cluster, &no_waiters, 900000);
	reboot_n1(&reboots, 900010, 20);
	pm_reboots_look(&reboots, &cluster, &no_waiters, 900000);
	is_number((long long)last_of(&reboots, "n1")->end_s, 900030, "by a minute at most");
	pm_reboots_look(&reboots, &cluster, &no_waiters, 10000);
	is_number((long long)last_of(&reboots, "n1")->end_s, 10000, "it ends now");
	is_number((long long)last_of(&reboots, "n1")->start_s, 9980, "and took as long");
	pm_reboots_look(&reboots, &cluster, &no_waiters, 10200);
	is_number((long long)last_of(&reboots, "n1")->end_s, 10000, "and stays there");
}

/* Slurm has given n1 to job 18, of which no prolog tells. */
static void test_a_job_without_a_waiter(void)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0};
	int32_t of_n1[] = {1, 1, -1}, of_n2[] = {2, 2, -1};
	slurm_job_info_t three[] = {{.job_id = 17, .job_state = JOB_RUNNING, .node_inx = of_n1},
		{.job_id = 19, .job_state = JOB_RUNNING | JOB_CONFIGURING, .node_inx = of_n2},
		{.job_id = 18,
			.user_id = 1001,
			.job_state = JOB_RUNNING | JOB_CONFIGURING,
			.partition = "main",
			.node_inx = of_n1}};
	job_info_msg_t queue = {.record_count = 3, .job_array = three};
	struct pm_cluster own = cluster;
	struct pm_err err;

	start_over();
	(void)pm_reboots_open(&reboots, scratch_path("unasked.json"), &err);
	pm_reboots_look(&reboots, &own, &no_waiters, 1000);
	set(1, NODE_STATE_ALLOCATED | NODE_STATE_POWERING_UP, "pm_memory,rack1");
	pm_reboots_look(&reboots, &own, &no_waiters, 1010);
	is_number(last_of(&reboots, "n1")->job_id, 0, "without a table of jobs");
	own.jobs = &queue;
	pm_reboots_look(&reboots, &own, &no_waiters, 1011);
	is_number(last_of(&reboots, "n1")->job_id, 18, "the job that is configuring");
	is_number(last_of(&reboots, "n1")->uid, 1001, "its user");
	is_text(last_of(&reboots, "n1")->partition, "main", "its partition");
}

static void write_one(const char *path)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0};
	struct pm_err err;

	start_over();
	(void)pm_reboots_open(&reboots, path, &err);
	pm_reboots_look(&reboots, &cluster, &no_waiters, 1000);
	reboot_n1(&reboots, 1010, 20);
}

static size_t count_in(const char *path)
{
	cleanup_with(pm_reboots_done) struct pm_reboots reboots = {0};
	struct pm_err err;

	(void)pm_reboots_open(&reboots, path, &err);
	return reboots.n;
}

static void test_a_torn_file(void)
{
	const char *path = scratch_path("torn.json"), *copy = scratch_path("torn.json.copy");
	struct stat st = {0};

	write_one(path);
	ok(!stat(path, &st) && st.st_size > 20, "written");
	for (off_t size = 0; size < st.st_size - 2; size += 7) {
		write_one(path);
		ok(!truncate(path, size), "torn");
		ok(count_in(path) > 0, "the copy serves");
	}
	write_one(path);
	(void)unlink(path);
	ok(count_in(path) > 0, "of a missing file, too");
	write_one(path);
	ok(!truncate(path, 9) && !truncate(copy, 9), "torn, both");
	is_number((long long)count_in(path), 0, "nothing is known");
}

static void test_the_look_at_the_clock(void)
{
	struct pm_cluster own = {.nodes = &table};

	table.last_update = 20000;
	is_number(pm_cluster_look_at_clock(&own, 20000, 500), 0, "the first look");
	is_number(pm_cluster_look_at_clock(&own, 20061, 560), 0, "between two readings");
	is_number(table.last_update, 20000, "slurmctld sends what is newer");
	is_number(pm_cluster_look_at_clock(&own, 16470, 570), -3600, "set back");
	is_number(table.last_update, 0, "it sends all: its next changes are older than ours");
	table.last_update = 16470;
	is_number(pm_cluster_look_at_clock(&own, 16480, 580), 0, "once");
	is_number(table.last_update, 16470, "and then what is newer");
	is_number(pm_cluster_look_at_clock(&own, 20090, 590), 3600, "set forward");
	for (int i = 1; i < 4; i++)
		is_number(pm_cluster_look_at_clock(&own, 20090 + i * 10 - (i == 3), 590 + i * 10),
			0, "a clock that is slewed");
}

int main(void)
{
	test_a_reboot();
	test_a_clock_that_is_set();
	test_a_clock_that_was_ahead();
	test_a_job_without_a_waiter();
	test_a_torn_file();
	test_the_look_at_the_clock();
	test_failures();
	test_a_node_that_goes();
	test_median();
	test_limit();
	test_overview();
	test_affected();
	test_many_affected();
	test_account();
	test_next_job();
	test_sums();
	test_pages();
	test_announcements();
	return tap_done();
}
