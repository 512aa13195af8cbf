/* SPDX-License-Identifier: Apache-2.0 */
/* Which of the jobs that are held slurmctld should look at again. Two nodes in a partition, of
 * which the first can be in memory mode alone; another partition has another node. */
#include "controller/holds.h"

#include "tests/unit/tap.h"

#define IDLE	NODE_STATE_IDLE
#define BUSY	NODE_STATE_ALLOCATED
#define DRAINED (NODE_STATE_IDLE | NODE_STATE_DRAIN)

static node_info_t n1 = {.name = "n1", .features = "pm_memory"};
static node_info_t n2 = {.name = "n2", .features = "pm_memory,pm_mixed,big"};
static node_info_t n3 = {.name = "n3", .features = "pm_memory,pm_mixed"};
static const node_info_t *by_name[] = {&n1, &n2, &n3};
static partition_info_t parts[] = {
	{.name = "main", .nodes = "n[1-2]"}, {.name = "own", .nodes = "n3"}};
static partition_info_msg_t partitions = {.partition_array = parts, .record_count = 2};
static const struct pm_cluster cluster = {
	.by_name = by_name, .n_by_name = 3, .partitions = &partitions};

static const struct {
	const char *name;
	uint32_t n2, nodes, reason, priority;
	char *features, *required, *excluded;
	bool mistaken;
} rows[] = {
	{"any node may do", BUSY, 1, FAIL_BAD_CONSTRAINTS, 0, "pm_memory", NULL, NULL, true},
	{"another reason", BUSY, 1, WAIT_HELD_USER, 0, "pm_memory", NULL, NULL, false},
	{"an administrator's", BUSY, 1, WAIT_HELD, 0, "pm_memory", NULL, NULL, false},
	{"it has a priority", BUSY, 1, FAIL_BAD_CONSTRAINTS, 9, "pm_memory", NULL, NULL, false},
	{"no mode of ours", BUSY, 1, FAIL_BAD_CONSTRAINTS, 0, "big", NULL, NULL, false},
	{"no constraint", BUSY, 1, FAIL_BAD_CONSTRAINTS, 0, NULL, NULL, NULL, false},
	{"two nodes have the mode", BUSY, 2, FAIL_BAD_CONSTRAINTS, 0, "pm_memory", NULL, "", true},
	{"one of two has it", BUSY, 2, FAIL_BAD_CONSTRAINTS, 0, "pm_mixed", NULL, NULL, false},
	{"none of three", BUSY, 3, FAIL_BAD_CONSTRAINTS, 0, "pm_memory", NULL, NULL, false},
	{"the one that has it is excluded", BUSY, 1, FAIL_BAD_CONSTRAINTS, 0, "pm_mixed", NULL,
		"n2", false},
	{"and is drained", DRAINED, 1, FAIL_BAD_CONSTRAINTS, 0, "pm_mixed", NULL, NULL, false},
	{"a feature that is an alternative", BUSY, 1, FAIL_BAD_CONSTRAINTS, 0,
		"pm_mixed&(big|small)", NULL, NULL, true},
	{"a node that it names", BUSY, 1, FAIL_BAD_CONSTRAINTS, 0, "pm_mixed", "n2", NULL, true},
	{"that one has not the mode", BUSY, 1, FAIL_BAD_CONSTRAINTS, 0, "pm_mixed", "n1", NULL,
		false},
	{"a node that is none", BUSY, 1, FAIL_BAD_CONSTRAINTS, 0, "pm_memory", "n9", NULL, false},
};

int main(void)
{
	FOR_EACH(row, rows)
	{
		slurm_job_info_t job = {.job_id = 7,
			.partition = "main",
			.job_state = JOB_PENDING,
			.state_reason = row->reason,
			.priority = row->priority,
			.num_nodes = row->nodes,
			.features = row->features,
			.req_nodes = row->required,
			.exc_nodes = row->excluded};

		n1.node_state = n3.node_state = BUSY;
		n2.node_state = row->n2;
		ok(pm_hold_is_mistaken(&cluster, &job) == row->mistaken, "%s", row->name);
	}
	return tap_done();
}
