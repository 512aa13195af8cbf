/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "agent/show.h"
#include "base/cleanup.h"
#include "base/cpulist.h"
#include "base/file.h"
#include "node/act/job.h"
#include "node/see/survey.h"
#include "node/tools/node_memory.h"
#include "node/tools/quota.h"

struct show {
	const struct pm_agent *agent;
	json_object *root;
	struct pm_survey survey;
	struct pm_jobs jobs;
	char boot_id[PM_BOOT_ID_MAX];
};

static void done(struct show *show)
{
	pm_survey_done(&show->survey);
	pm_jobs_done(&show->jobs);
}

static bool lives(const struct show *show, const struct pm_job *job)
{
	return !strcmp(job->boot_id, show->boot_id);
}

/* The region that the memory of a node belongs to; NULL: it is main memory. */
static const struct pm_pmem *region_of(const struct show *show, int node)
{
	const struct pm_inventory *inventory = &show->survey.inventory;

	for (size_t i = 0; i < inventory->n; i++)
		if (inventory->list[i].nd.target_node == node)
			return &inventory->list[i];
	return NULL;
}

static void add_nodes(const struct show *show)
{
	json_object *list = pm_json_add_array(show->root, "memory_nodes");
	cleanup_free char *text = NULL;
	char path[4200];
	cpu_set_t nodes;

	snprintf(path, sizeof(path), "%s/sys/devices/system/node/online",
		show->agent->op.config.fs_root);
	CPU_ZERO(&nodes);
	if (!pm_file_read(AT_FDCWD, path, 4096, &text, NULL, NULL))
		(void)pm_cpulist_parse(text, &nodes);
	for (int node = 0; node < CPU_SETSIZE; node++) {
		struct pm_node_memory memory = {0};
		const struct pm_pmem *region = region_of(show, node);
		json_object *one;

		if (!CPU_ISSET(node, &nodes) ||
			pm_node_memory_read(show->agent->op.config.fs_root, node, &memory, NULL))
			continue;
		one = pm_json_append_object(list);
		pm_json_add_int(one, "node", node);
		pm_json_add_int(one, "socket",
			region ? region->socket
			       : pm_node_socket(show->agent->op.config.fs_root, node));
		pm_json_add_string(one, "kind", region ? "pmem" : "main");
		pm_json_add_u64(one, "total_bytes", memory.total_bytes);
		pm_json_add_u64(one, "free_bytes", memory.free_bytes);
	}
}

static void add_mount(const struct pm_pmem *pmem, const struct pm_stored *stored, json_object *to)
{
	json_object *mount = pm_json_add_object(to, "mount");
	struct statvfs st;

	pm_json_add_string(mount, "place", pmem->place);
	pm_json_add_string(mount, "type", *stored->fs.type ? stored->fs.type : NULL);
	if (!statvfs(pmem->place, &st)) {
		pm_json_add_u64(mount, "size_bytes", (uint64_t)st.f_blocks * st.f_frsize);
		pm_json_add_u64(
			mount, "used_bytes", (uint64_t)(st.f_blocks - st.f_bfree) * st.f_frsize);
	}
}

static void add_use(const struct pm_pmem *pmem, const struct pm_job *job, json_object *list)
{
	cleanup_close int fd = open(pmem->place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	json_object *one = pm_json_append_object(list);
	struct pm_quota quota;

	pm_json_add_u64(one, "job", job->id);
	pm_json_add_u64(one, "uid", job->uid);
	if (fd >= 0 &&
		!pm_quota_get(fd, PM_QUOTA_OF_PROJECT, PM_QUOTA_PROJECT(job->id), &quota, NULL)) {
		pm_json_add_u64(one, "quota_bytes", job->size_bytes);
		pm_json_add_u64(one, "used_bytes", quota.used.bytes);
	}
}

/* The jobs that use this namespace: it serves their sub-state. */
static void add_users(const struct show *show, const struct pm_pmem *pmem,
	const struct pm_stored *stored, json_object *to)
{
	json_object *list = pm_json_add_array(to, "jobs");

	for (size_t i = 0; i < show->jobs.n; i++) {
		const struct pm_job *job = &show->jobs.list[i];

		if (job->state != PM_JOB_REFUSED && lives(show, job) &&
			pm_pmem_serving(pmem, job->substate) == stored)
			add_use(pmem, job, list);
	}
}

static void judge(const struct show *show, const struct pm_stored *stored)
{
	const char *dev = stored->nd.dev, *name = *stored->nd.name ? stored->nd.name : "no name";

	if (stored->is_pinned)
		pm_show_block(show->root, "%s (%s) is pinned", dev, name);
	else if (!stored->is_ours)
		pm_show_block(show->root, "%s (%s) is not ours", dev, name);
	if (*stored->elsewhere)
		pm_show_block(show->root, "%s is mounted at '%.200s' too", dev, stored->elsewhere);
}

static void add_namespace(const struct show *show, const struct pm_pmem *pmem,
	const struct pm_stored *stored, json_object *list)
{
	json_object *one = pm_json_append_object(list);

	pm_json_add_string(one, "name", stored->nd.dev);
	pm_json_add_string(one, "label", stored->nd.name);
	pm_json_add_string(one, "mode", stored->nd.mode);
	pm_json_add_string(one, "owner", stored->is_ours ? "ours" : "foreign");
	pm_json_add_bool(one, "pinned", stored->is_pinned);
	pm_json_add_u64(one, "size_bytes", stored->nd.size_bytes);
	pm_json_add_string(one, "block_device", *stored->nd.blockdev ? stored->nd.blockdev : NULL);
	if (*stored->dax.chardev) {
		pm_json_add_string(one, "device", stored->dax.chardev);
		pm_json_add_string(one, "device_mode", stored->dax.mode);
	}
	if (stored->is_mounted || stored->is_misplaced)
		add_mount(pmem, stored, one);
	add_users(show, pmem, stored, one);
	judge(show, stored);
}

static void add_region(const struct show *show, const struct pm_pmem *pmem, json_object *list)
{
	json_object *one = pm_json_append_object(list), *namespaces;

	pm_json_add_string(one, "name", pmem->nd.dev);
	pm_json_add_int(one, "socket", pmem->socket);
	pm_json_add_int(one, "numa_node", pmem->nd.numa_node);
	pm_json_add_int(one, "target_node", pmem->nd.target_node);
	pm_json_add_u64(one, "size_bytes", pmem->nd.size_bytes);
	pm_json_add_u64(one, "available_bytes", pmem->nd.available_bytes);
	namespaces = pm_json_add_array(one, "namespaces");
	for (size_t i = 0; i < pmem->n; i++)
		add_namespace(show, pmem, &pmem->list[i], namespaces);
	if (*pmem->occupant)
		pm_show_block(
			show->root, "'%.200s' is mounted at %.200s", pmem->occupant, pmem->place);
}

static void add_regions(const struct show *show)
{
	json_object *list = pm_json_add_array(show->root, "regions");
	const struct pm_inventory *inventory = &show->survey.inventory;
	const struct pm_pin *lost = show->survey.lost;

	for (size_t i = 0; i < inventory->n; i++)
		add_region(show, &inventory->list[i], list);
	if (lost)
		pm_show_block(
			show->root, "pinned %s (%s) is not there any more", lost->dev, lost->name);
}

static void add_jobs(const struct show *show)
{
	json_object *list = pm_json_add_array(show->root, "jobs");

	for (size_t i = 0; i < show->jobs.n; i++) {
		const struct pm_job *job = &show->jobs.list[i];
		json_object *one = pm_json_append_object(list);

		pm_json_add_u64(one, "job", job->id);
		pm_json_add_u64(one, "uid", job->uid);
		pm_json_add_string(one, "mode", pm_mode_name(job->mode));
		pm_json_add_string(one, "substate", pm_substate_name(job->substate));
		pm_json_add_string(one, "state",
			job->state == PM_JOB_LOST || lives(show, job)
				? pm_job_state_name(job->state)
				: "of an earlier boot");
		pm_json_add_string(one, "since", job->time);
		if (job->state == PM_JOB_LOST ||
			(lives(show, job) && job->substate != PM_SUBSTATE_EMPTY &&
				job->state != PM_JOB_REFUSED))
			pm_show_block(show->root, "job %u uses it", (unsigned)job->id);
	}
}

static void read_jobs(struct show *show)
{
	struct pm_err err;

	if (geteuid() != 0)
		pm_show_unseen(show->root, "jobs and quotas", "must be root");
	else if (pm_kernel_boot_id(show->agent->op.config.fs_root, show->boot_id, &err) ||
		 pm_jobs_of(&show->agent->op, &show->jobs, &err))
		pm_show_unseen(show->root, "jobs and quotas", err.text);
}

void pm_show_regions(const struct pm_agent *agent, json_object *root)
{
	cleanup_with(done) struct show show = {.agent = agent, .root = root};
	struct pm_err err;

	read_jobs(&show);
	if (pm_survey(&agent->op.config, &show.survey, &err))
		pm_show_unseen(root, "regions", err.text);
	else
		add_regions(&show);
	if (geteuid() == 0)
		add_jobs(&show);
	add_nodes(&show);
}
