/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a job that nodes turn away: which nodes it is kept from, when it has them back,
 * and when it is held. Three nodes in one partition, and another node in another. */
#include <slurm/slurm.h>
#include <unistd.h>

#include "controller/reinstate.h"
#include "tests/unit/scratch.h"
#include "tests/unit/tap.h"

#define LIMIT	3
#define IDLE	NODE_STATE_IDLE
#define BUSY	NODE_STATE_ALLOCATED
#define DRAINED (NODE_STATE_IDLE | NODE_STATE_DRAIN)

static node_info_t n1 = {.name = "n1", .features = "pm_memory"};
static node_info_t n2 = {.name = "n2", .features = "pm_memory"};
static node_info_t n3 = {.name = "n3", .features = "pm_memory,big"};
static node_info_t n4 = {.name = "n4", .features = "pm_memory"};
static const node_info_t *by_name[] = {&n1, &n2, &n3, &n4};
static partition_info_t parts[] = {
	{.name = "main", .nodes = "n[1-3]"}, {.name = "own", .nodes = "n4"}};
static partition_info_msg_t partitions = {.partition_array = parts, .record_count = 2};
static const struct pm_cluster cluster = {
	.by_name = by_name, .n_by_name = 4, .partitions = &partitions};

static slurm_job_info_t new_job(void)
{
	return (slurm_job_info_t){.job_id = 7,
		.user_id = 1000,
		.partition = "main",
		.features = "pm_memory",
		.num_nodes = 1,
		.priority = 10,
		.job_state = JOB_PENDING};
}

static const struct {
	const char *name;
	uint32_t n2, n3, reason, priority;
	const char *partition, *features, *reservation;
	uint64_t idle_since, now;
	bool due;
	uint64_t idle_since_then;
} rows[] = {
	{"others are busy", BUSY, BUSY, WAIT_RESOURCES, 9, "main", "", NULL, 0, 1000, false, 0},
	{"one other is out of service", DRAINED, BUSY, WAIT_RESOURCES, 9, "main", "", NULL, 0, 1000,
		false, 0},
	{"both are", DRAINED, NODE_STATE_DOWN, WAIT_RESOURCES, 9, "main", "", NULL, 0, 1000, true,
		0},
	{"a node that boots is in service", DRAINED, BUSY | NODE_STATE_POWERING_UP, WAIT_RESOURCES,
		9, "main", "", NULL, 0, 1000, false, 0},
	{"the other lacks a feature", IDLE, DRAINED, WAIT_RESOURCES, 9, "main", "big", NULL, 0,
		1000, true, 0},
	{"another partition has a node", DRAINED, DRAINED, WAIT_RESOURCES, 9, "main,own", "", NULL,
		0, 1000, false, 1000},
	{"all are reserved for others", IDLE | NODE_STATE_RES, IDLE | NODE_STATE_MAINT,
		WAIT_RESOURCES, 9, "main", "", NULL, 0, 1000, true, 0},
	{"they are reserved for it", BUSY | NODE_STATE_RES, DRAINED, WAIT_RESOURCES, 9, "main", "",
		"mine", 0, 1000, false, 0},
	{"Slurm holds it", BUSY, BUSY, FAIL_BAD_CONSTRAINTS, 0, "main", "", NULL, 0, 1000, true, 0},
	{"its user holds it", DRAINED, DRAINED, WAIT_HELD_USER, 0, "main", "", NULL, 0, 1000, false,
		0},
	{"another is idle, first look", IDLE, BUSY, WAIT_RESOURCES, 9, "main", "", NULL, 0, 1000,
		false, 1000},
	{"for less than a minute", IDLE, BUSY, WAIT_RESOURCES, 9, "main", "", NULL, 1000, 1059,
		false, 1000},
	{"for a minute", IDLE, BUSY, WAIT_RESOURCES, 9, "main", "", NULL, 1000, 1060, true, 1000},
	{"the clock was set back meanwhile", IDLE, BUSY, WAIT_RESOURCES, 9, "main", "", NULL, 4600,
		1010, false, 1010},
	{"by Slurm's other reason", IDLE, BUSY, WAIT_NODE_NOT_AVAIL, 9, "main", "", NULL, 1000,
		1060, true, 1000},
	{"it waits for its turn", IDLE, BUSY, WAIT_PRIORITY, 9, "main", "", NULL, 1000, 1060, false,
		0},
	{"it is not idle any more", BUSY, BUSY, WAIT_RESOURCES, 9, "main", "", NULL, 1000, 1060,
		false, 0},
};

static void test_due(void)
{
	FOR_EACH(row, rows)
	{
		slurm_job_info_t job = new_job();
		uint64_t idle_since = row->idle_since;

		n1.node_state = n4.node_state = IDLE;
		n2.node_state = row->n2;
		n3.node_state = row->n3;
		job.exc_nodes = "n1";
		job.partition = (char *)row->partition;
		job.features = *row->features ? (char *)row->features : "pm_memory";
		job.resv_name = (char *)row->reservation;
		job.state_reason = row->reason;
		job.priority = row->priority;
		is_number(pm_reinstate_is_due(&cluster, &job, (time_t)row->now, &idle_since),
			row->due, row->name);
		is_number((long long)idle_since, (long long)row->idle_since_then, row->name);
	}
}

static struct pm_rejected_jobs rejected;

static void open_rejected(void)
{
	struct pm_err err = {0};

	memset(&rejected, 0, sizeof(rejected));
	ok(!pm_rejected_open(&rejected, scratch_path("turned-away.json"), &err), "opened");
}

static void open_again(void)
{
	pm_rejected_done(&rejected);
	open_rejected();
}

/* The job's list from now on; is it to be held? */
static bool reject(slurm_job_info_t *job, const char *node, char *list, size_t size)
{
	struct pm_rejection_verdict verdict = {0};
	struct pm_err err = {0};
	bool held;

	is_number(pm_rejected_add(
			  &rejected, &cluster, job, node, "it is full", LIMIT, &verdict, &err),
		0, node);
	held = verdict.sentence;
	snprintf(list, size, "%s", verdict.excluded);
	pm_rejection_verdict_done(&verdict);
	job->exc_nodes = list;
	job->restart_cnt++;
	return held;
}

static void reinstate(slurm_job_info_t *job, char *list, size_t size)
{
	char *excluded = NULL;
	struct pm_err err = {0};

	ok(pm_rejected_has_exclusions(&rejected, job), "it has exclusions of ours");
	is_number(
		pm_rejected_begin_reinstatement(&rejected, job, &excluded, &err), 0, "given back");
	pm_rejected_end_reinstatement(&rejected, job);
	snprintf(list, size, "%s", excluded);
	free(excluded);
}

static void test_limit(void)
{
	slurm_job_info_t job = new_job();
	char list[64];

	n1.node_state = n2.node_state = n3.node_state = IDLE;
	open_rejected();
	ok(!reject(&job, "n1", list, sizeof(list)), "by one node");
	is_text(list, "n1", "it is kept from that");
	ok(!reject(&job, "n2", list, sizeof(list)), "by two");
	is_text(list, "n1,n2", "from both");
	ok(reject(&job, "n3", list, sizeof(list)), "after three it is held");
	is_text(list, "", "and kept from none");
	pm_rejected_forget(&rejected, job.job_id);
	pm_rejected_done(&rejected);
}

static void test_given_back(void)
{
	slurm_job_info_t job = new_job();
	char list[64];

	open_rejected();
	job.exc_nodes = "n3";
	ok(!reject(&job, "n1", list, sizeof(list)), "by one node");
	is_text(list, "n3,n1", "beside what its user has");
	pm_rejected_set_idle_since(&rejected, &job, 1234);
	open_again();
	is_number((long long)pm_rejected_idle_since(&rejected, &job), 1234,
		"a new service knows since when");
	reinstate(&job, list, sizeof(list));
	is_text(list, "n3", "its user's list stays");
	ok(!pm_rejected_has_exclusions(&rejected, &job), "nothing of ours is in it");
	job.exc_nodes = "n3,n1";
	ok(!pm_rejected_has_exclusions(&rejected, &job), "that its user writes afterwards is his");
	job.exc_nodes = list;
	ok(!reject(&job, "n1", list, sizeof(list)), "the second time");
	is_number((long long)pm_rejected_idle_since(&rejected, &job), 0, "it waits anew");
	open_again();
	reinstate(&job, list, sizeof(list));
	ok(reject(&job, "n1", list, sizeof(list)), "the third time it is held, though n2 is idle");
	is_text(list, "n3", "with its user's list");
	pm_rejected_forget(&rejected, job.job_id);
	pm_rejected_done(&rejected);
}

static void test_users_list(void)
{
	slurm_job_info_t job = new_job();
	char list[64];

	open_rejected();
	ok(!reject(&job, "n1", list, sizeof(list)), "by one node");
	job.exc_nodes = "n1,n3";
	ok(!pm_rejected_has_exclusions(&rejected, &job), "a list that its user has changed is his");
	ok(!reject(&job, "n2", list, sizeof(list)), "by another");
	is_text(list, "n1,n3", "and stays, as it has no others");
	job.exc_nodes = "n1,n3,n2";
	ok(!pm_rejected_has_exclusions(&rejected, &job),
		"its user excludes the node that turned it away");
	job.user_id = 1001;
	ok(!pm_rejected_has_exclusions(&rejected, &job), "an id that is used again is another job");
	pm_rejected_done(&rejected);
}

static void test_held(void)
{
	slurm_job_info_t job = new_job();
	char list[64];

	open_rejected();
	reject(&job, "n1", list, sizeof(list));
	reject(&job, "n2", list, sizeof(list));
	ok(reject(&job, "n3", list, sizeof(list)), "after three it is held");
	ok(!pm_rejected_is_held(&rejected, &job), "not before that is noted");
	pm_rejected_set_held(&rejected, &job);
	open_again();
	ok(pm_rejected_is_held(&rejected, &job), "a new service knows it");
	ok(!pm_rejected_has_exclusions(&rejected, &job), "nothing of ours is in its list");
	ok(!reject(&job, "n1", list, sizeof(list)), "once released it begins anew");
	is_text(list, "n1", "kept from that node alone");
	ok(!pm_rejected_is_held(&rejected, &job), "and is held no more");
	pm_rejected_forget(&rejected, job.job_id);
	pm_rejected_done(&rejected);
}

static void test_broken(void)
{
	scratch_file("turned-away.json", "{");
	open_rejected();
	is_number(json_object_object_length(rejected.jobs), 0, "a broken file is begun anew");
	ok(!access(scratch_path("turned-away.json.unreadable"), F_OK), "and kept beside");
	pm_rejected_done(&rejected);
}

/* Longer than most files may be. */
static void test_many(void)
{
	struct pm_rejection_verdict verdict;
	struct pm_err err = {0};
	char sentence[900] = "";
	int rc = 0;

	memset(sentence, 'x', sizeof(sentence) - 1);
	open_rejected();
	for (uint32_t id = 1; !rc && id <= 300; id++) {
		slurm_job_info_t job = new_job();

		job.job_id = id;
		memset(&verdict, 0, sizeof(verdict));
		rc = pm_rejected_add(
			&rejected, &cluster, &job, "n1", sentence, LIMIT, &verdict, &err);
		pm_rejection_verdict_done(&verdict);
	}
	is_number(rc, 0, "300 jobs are turned away");
	open_again();
	is_number(json_object_object_length(rejected.jobs), 300, "and known after a restart");
	pm_rejected_done(&rejected);
	(void)unlink(scratch_path("turned-away.json"));
}

int main(void)
{
	test_broken();
	test_many();
	test_due();
	test_limit();
	test_given_back();
	test_users_list();
	test_held();
	return tap_done();
}
