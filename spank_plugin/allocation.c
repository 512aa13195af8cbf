/* SPDX-License-Identifier: Apache-2.0 */
#include "spank_plugin/allocation.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "site/features.h"
#include "spank_plugin/command.h"
#include "spank_plugin/node.h"

/* Each value is one word; the last may be empty. */
#define COLUMNS                                                                                    \
	"JobID:12,State:24,OverSubscribe:16,MinMemory:24,NumNodes:12,RestartCnt:12,SubmitTime:32," \
	"BatchFlag:4,HetJobID:12,ArrayJobID:12,ArrayTaskID:12,tres-alloc:4096"
#define EXCLUSIVE    "NO"
#define FEATURES_MAX 1024

struct row {
	unsigned id, nodes, restarts, batch;
	char state[24], shared[16], memory[24], submitted[32], leader[16], array[16], task[16];
	char tres[4096];
};

static bool read_row(const char *line, struct row *ret)
{
	struct row row = {0};

	if (sscanf(line, "%u %23s %15s %23s %u %u %31s %u %15s %15s %15s %4095s", &row.id,
		    row.state, row.shared, row.memory, &row.nodes, &row.restarts, row.submitted,
		    &row.batch, row.leader, row.array, row.task, row.tres) < 11)
		return false;
	*ret = row;
	return true;
}

/* squeue --jobs=ID also prints the other tasks of the array and the other components. */
static bool find_row(const char *text, uint32_t job_id, struct row *ret)
{
	for (; *text; text = pm_next_line(text))
		if (read_row(text, ret) && ret->id == job_id)
			return true;
	return false;
}

static bool is_over(const char *state)
{
	static const char *const states[] = {"COMPLETED", "CANCELLED", "FAILED", "TIMEOUT",
		"NODE_FAIL", "PREEMPTED", "BOOT_FAIL", "DEADLINE", "OUT_OF_MEMORY", "REVOKED",
		"PENDING", "REQUEUED", "REQUEUE_HOLD", "SPECIAL_EXIT"};

	for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
		if (!strcmp(state, states[i]))
			return true;
	return false;
}

/* "1500M" or "1.5G" in bytes; "0" is all memory; 0 also for other text. */
static uint64_t size_of(const char *text)
{
	static const char units[] = "KMGT";
	char *end;
	double number = strtod(text, &end);
	const char *unit = *end ? strchr(units, *end) : NULL;

	if (!unit || number <= 0 || end[1])
		return 0;
	return (uint64_t)(number * (double)(UINT64_C(1) << (10 * (unit - units + 1))));
}

/* Bytes on a node, on average, of "cpu=4,mem=3000M,node=2"; 0: Slurm does not allocate memory. */
static uint64_t allocated(const struct row *row)
{
	const char *at = strncmp(row->tres, "mem=", 4) ? strstr(row->tres, ",mem=") : row->tres;
	char text[24] = "";

	if (!at || sscanf(strchr(at, '=') + 1, "%23[^,]", text) != 1 || !row->nodes)
		return 0;
	return (size_of(text) + row->nodes - 1) / row->nodes;
}

/* squeue prints "N/A" for a job with one component; its own id then. */
static uint32_t leader(const struct row *row)
{
	unsigned long id = strtoul(row->leader, NULL, 10);

	return id ? (uint32_t)id : row->id;
}

static struct pm_allocation to_allocation(const struct row *row)
{
	uint64_t asked = size_of(row->memory), has = allocated(row);
	struct pm_allocation ret = {.is_alive = !is_over(row->state),
		.whole_nodes = !strcmp(row->shared, EXCLUSIVE),
		.is_batch = row->batch,
		.nodes = row->nodes,
		.leader = leader(row),
		.all_memory = !asked,
		.memory_bytes = has > asked ? has : asked};

	if (isdigit((unsigned char)*row->task)) /* "N/A" if the job is not an array */
		snprintf(ret.name, sizeof(ret.name), "%s_%s", row->array, row->task);
	else
		snprintf(ret.name, sizeof(ret.name), "%u", row->id);
	snprintf(ret.submitted, sizeof(ret.submitted), "%s", row->submitted);
	snprintf(ret.run, sizeof(ret.run), "%s.%u", row->submitted, row->restarts);
	return ret;
}

static int forgotten(uint32_t job_id, struct pm_err *err)
{
	return pm_err_set(err, -ESRCH, "Slurm does not know job %u any more", (unsigned)job_id);
}

/* *ret has the rows of the job, of the other tasks of its array and of its other components. */
static int ask_of(const struct pm_config *config, uint32_t job_id, const char *columns,
	unsigned timeout_ms, struct pm_output *ret, struct pm_err *err)
{
	char id[16];
	const char *argv[] = {config->squeue_path, "--local", "--noheader", "--noconvert",
		"--states=all", "--jobs", id, columns, NULL};
	int rc;

	snprintf(id, sizeof(id), "%u", (unsigned)job_id);
	rc = pm_command_output(argv, timeout_ms, ret, err);
	return rc && err && strstr(err->text, "Invalid job id") ? forgotten(job_id, err) : rc;
}

int pm_allocation_ask(const struct pm_config *config, uint32_t job_id, unsigned timeout_ms,
	struct pm_allocation *ret, struct pm_err *err)
{
	cleanup_with(pm_output_done) struct pm_output output = {0};
	struct row row;
	int rc = ask_of(config, job_id, "--Format=" COLUMNS, timeout_ms, &output, err);

	if (rc)
		return rc;
	if (!find_row(output.out, job_id, &row))
		return forgotten(job_id, err);
	*ret = to_allocation(&row);
	return 0;
}

/* A constraint that cannot be read names no mode: pmctl does not run for such a job. */
static bool names_mode(const char *constraint)
{
	struct pm_features features = {0};

	return !pm_features_read(constraint, &features, NULL) && features.mentioned;
}

#define CONSTRAINTS "--Format=JobID:12,State:24,Feature:1024"

struct constraint {
	unsigned id;
	char state[24], features[FEATURES_MAX + 1];
};

/* squeue pads the column with spaces. */
static bool read_constraint(const char *line, struct constraint *ret)
{
	*ret = (struct constraint){0};
	return sscanf(line, "%u %23s %1024[^ \n]", &ret->id, ret->state, ret->features) >= 2;
}

int pm_allocation_has_mode(const struct pm_config *config, uint32_t job_id, unsigned timeout_ms,
	bool *ret, struct pm_err *err)
{
	cleanup_with(pm_output_done) struct pm_output output = {0};
	struct constraint job;
	int rc = ask_of(config, job_id, CONSTRAINTS, timeout_ms, &output, err);

	if (rc)
		return rc;
	for (const char *line = output.out; *line; line = pm_next_line(line))
		if (read_constraint(line, &job) && job.id == job_id) {
			*ret = names_mode(job.features);
			return 0;
		}
	return forgotten(job_id, err);
}

/* True for another job with nodes here that has no feature of ours in its constraint. */
static bool is_without_mode(const char *line, uint32_t job_id)
{
	struct constraint job;

	return read_constraint(line, &job) && job.id != job_id && !is_over(job.state) &&
	       !names_mode(job.features);
}

bool pm_allocation_beside(const struct pm_config *config, uint32_t job_id, unsigned timeout_ms)
{
	cleanup_with(pm_output_done) struct pm_output output = {0};
	cleanup_free char *node = pm_node_name();
	const char *argv[] = {config->squeue_path, "--local", "--noheader", "--states=all",
		"--nodelist", node, CONSTRAINTS, NULL};

	if (!node || pm_command_output(argv, timeout_ms, &output, NULL))
		return true;
	for (const char *line = output.out; *line; line = pm_next_line(line))
		if (is_without_mode(line, job_id))
			return true;
	return false;
}

bool pm_job_is_alive(const struct pm_config *config, uint32_t job_id, unsigned timeout_ms)
{
	struct pm_allocation allocation = {0};
	struct pm_err err = {0};
	int rc = pm_allocation_ask(config, job_id, timeout_ms, &allocation, &err);

	return rc ? rc != -ESRCH : allocation.is_alive;
}
