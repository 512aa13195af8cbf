/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/top_here.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/asprintf.h"
#include "base/cleanup.h"
#include "base/file.h"
#include "node/state/job_use_look.h"
#include "node/state/jobview.h"
#include "node/tools/job_cgroup.h"

#define ENVIRON_BYTES (1024 * 1024)

/* The ranks of a node, and the NUMA nodes that are persistent memory. */
struct ranks {
	json_object *list;
	const struct pm_job_use *use;
};

/* The number in a variable of a process; its environment has a NUL behind each. */
static uint64_t variable_of(const char *environ, size_t length, const char *name)
{
	size_t name_length = strlen(name);

	for (const char *at = environ; at < environ + length; at += strlen(at) + 1)
		if (!strncmp(at, name, name_length) && at[name_length] == '=')
			return strtoull(at + name_length + 1, NULL, 10);
	return 0;
}

static bool is_pmem(const struct pm_job_use *use, unsigned node)
{
	for (size_t i = 0; i < use->n_parts; i++)
		if (use->parts[i].number == node && !strcmp(use->parts[i].tier, "pmem"))
			return true;
	return false;
}

/* The step that this process is in, which shows the others; a user may have set the variable. */
static bool is_own(const char *step)
{
	const char *own = getenv("SLURM_STEP_ID");

	return own && !strcmp(own, step);
}

/* Of "batch" and "interactive" the task is the script, which is not a rank. */
static void add_rank(void *context, const char *step, unsigned task, pid_t process,
	const struct pm_job_cgroup *cgroup)
{
	struct ranks *ranks = context;
	cleanup_free char *path = pm_asprintf("/proc/%d/environ", (int)process), *environ = NULL;
	uint64_t dram = 0, pmem = 0, budget;
	json_object *row;
	size_t length;

	if (is_own(step))
		return;
	row = pm_json_append_object(ranks->list);

	for (unsigned node = 0; node < cgroup->n_nodes; node++)
		*(is_pmem(ranks->use, node) ? &pmem : &dram) += cgroup->node_bytes[node];
	pm_json_add_string(row, "step", step);
	pm_json_add_u64(row, "task", task);
	pm_json_add_u64(row, "dram_bytes", dram);
	pm_json_add_u64(row, "pmem_bytes", pmem);
	if (!path || pm_file_read(AT_FDCWD, path, ENVIRON_BYTES, &environ, &length, NULL))
		return;
	pm_json_add_u64(row, "rank", variable_of(environ, length, "SLURM_PROCID"));
	budget = variable_of(environ, length, "PM_RANK_DRAM");
	if (budget)
		pm_json_add_u64(row, "budget_bytes", budget);
}

static json_object *as_json(const struct pm_config *config, const struct pm_job_use *use)
{
	cleanup_free char *path = pm_job_cgroup_find(config->fs_root, use->job_id);
	json_object *root = json_object_new_object();
	struct ranks ranks = {.use = use};

	if (!root)
		return NULL;
	pm_json_add_string(root, "node", config->node);
	pm_fields_format(pm_job_use_fields, use, root);
	ranks.list = pm_json_add_array(root, "ranks");
	if (path)
		pm_job_cgroup_each_task(path, add_rank, &ranks);
	return root;
}

/* 0 for root: it may see the job of any user. */
static int read_view(
	const struct pm_config *config, uint32_t job_id, struct pm_jobview *ret, struct pm_err *err)
{
	cleanup_free char *path = pm_jobview_path(config->run_dir, job_id);
	int rc = path ? pm_jobview_read(path, ret, err) : pm_err_nomem(err);

	if (rc == -ENOENT)
		return pm_err_set(err, rc, "job %u has no mode, or does not run on this node",
			(unsigned)job_id);
	if (!rc && getuid() && ret->owner.uid != getuid())
		return pm_err_set(err, -EPERM, "job %u is another user's", (unsigned)job_id);
	return rc;
}

int pm_top_here(
	const struct pm_config *config, uint32_t job_id, json_object **ret, struct pm_err *err)
{
	cleanup_with(pm_jobview_done) struct pm_jobview view = {0};
	cleanup_with(pm_job_use_done) struct pm_job_use use = {.job_id = job_id};
	int rc = read_view(config, job_id, &view, err);

	if (rc)
		return rc;
	use.uid = view.owner.uid;
	snprintf(use.mode, sizeof(use.mode), "%s", pm_mode_name(view.mode));
	pm_use_look_at(config, &use);
	*ret = as_json(config, &use);
	return *ret ? 0 : pm_err_nomem(err);
}
