/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/job_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "controller/node_features.h"

/* Slurm's texts have no limit. */
#define TEXT_MAX 400

static void add_text(json_object *line, const char *key, const char *text)
{
	char cut[TEXT_MAX];

	if (!text || !*text)
		return;
	snprintf(cut, sizeof(cut), "%s", text);
	pm_json_add_string(line, key, cut);
}

static void add_time(json_object *line, const char *key, time_t time)
{
	pm_json_add_u64(line, key, time > 0 ? (uint64_t)time : 0);
}

static const char *state_of(uint32_t job_state)
{
	static const char *const names[JOB_END] = {
		[JOB_PENDING] = "PENDING",
		[JOB_RUNNING] = "RUNNING",
		[JOB_SUSPENDED] = "SUSPENDED",
		[JOB_COMPLETE] = "COMPLETED",
		[JOB_CANCELLED] = "CANCELLED",
		[JOB_FAILED] = "FAILED",
		[JOB_TIMEOUT] = "TIMEOUT",
		[JOB_NODE_FAIL] = "NODE_FAIL",
		[JOB_PREEMPTED] = "PREEMPTED",
		[JOB_BOOT_FAIL] = "BOOT_FAIL",
		[JOB_DEADLINE] = "DEADLINE",
		[JOB_OOM] = "OUT_OF_MEMORY",
	};
	uint32_t base = job_state & JOB_STATE_BASE;

	if (job_state & JOB_REVOKED)
		return "REVOKED";
	return base < JOB_END && names[base] ? names[base] : "UNKNOWN";
}

/* Of the batch script, or of the first srun; wait(2). */
static void add_exit(json_object *line, uint32_t status)
{
	if (status == NO_VAL)
		return;
	if (WIFSIGNALED((int)status))
		pm_json_add_u64(line, "signal", (uint64_t)WTERMSIG((int)status));
	else
		pm_json_add_u64(line, "exit_status", (uint64_t)WEXITSTATUS((int)status));
}

/* What --mem or --mem-per-cpu asked for; 0: all of the node, or nothing. */
static void add_memory(json_object *line, uint64_t pn_min_memory)
{
	if (pn_min_memory & MEM_PER_CPU)
		pm_json_add_u64(line, "memory_per_cpu_bytes", (pn_min_memory & ~MEM_PER_CPU) << 20);
	else
		pm_json_add_u64(line, "memory_bytes", pn_min_memory << 20);
}

/*
 * "energy=2K" of "cpu=2,energy=2K,node=1": Slurm writes multiples of 1024 with a unit. It has none
 * where the site does not account energy, and UINT64_MAX or nearly that where a node had no
 * reading.
 */
static bool read_energy(const char *tres, uint64_t *ret_joules)
{
	static const char units[] = "KMGTP", name[] = "energy=";
	char *end;

	while (tres && strncmp(tres, name, sizeof(name) - 1) != 0) {
		tres = strchr(tres, ',');
		tres += tres != NULL;
	}
	if (!tres)
		return false;
	*ret_joules = strtoull(tres + sizeof(name) - 1, &end, 10);
	if (*end && strchr(units, *end))
		*ret_joules <<= 10 * (strchr(units, *end++) - units + 1);
	return (!*end || *end == ',') && *ret_joules && *ret_joules < INT64_MAX;
}

/* Of its nodes, as slurmctld adds it up when the job's last step has ended. */
static void add_energy(json_object *line, const char *tres)
{
	uint64_t joules;

	if (read_energy(tres, &joules))
		pm_json_add_u64(line, "energy_joules", joules);
}

json_object *pm_job_line(const slurm_job_info_t *job)
{
	json_object *line = json_object_new_object();
	const char *feature = pm_job_feature(job);

	if (!line)
		return NULL;
	pm_json_add_string(line, "type", "job");
	pm_json_add_u64(line, "job", job->job_id);
	pm_json_add_u64(line, "uid", job->user_id);
	add_text(line, "name", job->name);
	add_text(line, "account", job->account);
	add_text(line, "partition", job->partition);
	add_text(line, "nodes", job->nodes);
	pm_json_add_u64(line, "n_nodes", job->num_nodes);
	pm_json_add_string(line, "feature", feature ? feature : "");
	pm_json_add_string(line, "state", state_of(job->job_state));
	add_exit(line, job->exit_code);
	add_time(line, "submit", job->submit_time);
	add_time(line, "start", job->start_time);
	add_time(line, "end", job->end_time);
	if (job->time_limit != NO_VAL && job->time_limit != INFINITE)
		pm_json_add_u64(line, "time_limit_s", (uint64_t)job->time_limit * 60);
	pm_json_add_u64(line, "restarts", job->restart_cnt);
	add_memory(line, job->pn_min_memory);
	add_energy(line, job->tres_alloc_str);
	return line;
}

json_object *pm_reboot_line(const struct pm_reboot *reboot)
{
	json_object *line = json_object_new_object();

	if (!line)
		return NULL;
	pm_json_add_string(line, "type", "reboot");
	pm_json_add_string(line, "node", reboot->node);
	pm_json_add_u64(line, "uid", reboot->uid);
	add_text(line, "from", reboot->from);
	add_text(line, "to", reboot->to);
	pm_json_add_u64(line, "start", reboot->start_s);
	pm_json_add_u64(line, "end", reboot->end_s);
	add_text(line, "failure", reboot->failure);
	return line;
}
