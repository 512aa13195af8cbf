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
static const struct pm_inventory_region *region_of(const struct show *show, int node)
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
		const struct pm_inventory_region *region = region_of(show, node);
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

static void add_mount(
	const struct pm_inventory_region *region, const struct pm_inventory_ns *ns, json_object *to)
{
	json_object *mount = pm_json_add_object(to, "mount");
	struct statvfs st;

	pm_json_add_string(mount, "place", region->mount_point);
	pm_json_add_string(mount, "type", *ns->fs.type ? ns->fs.type : NULL);
	if (!statvfs(region->mount_point, &st)) {
		pm_json_add_u64(mount, "size_bytes", (uint64_t)st.f_blocks * st.f_frsize);
		pm_json_add_u64(
			mount, "used_bytes", (uint64_t)(st.f_blocks - st.f_bfree) * st.f_frsize);
	}
}

static void add_use(
	const struct pm_inventory_region *region, const struct pm_job *job, json_object *list)
{
	cleanup_close int fd = open(region->mount_point, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
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
static void add_users(const struct show *show, const struct pm_inventory_region *region,
	const struct pm_inventory_ns *ns, json_object *to)
{
	json_object *list = pm_json_add_array(to, "jobs");

	for (size_t i = 0; i < show->jobs.n; i++) {
		const struct pm_job *job = &show->jobs.list[i];

		if (job->state != PM_JOB_REFUSED && lives(show, job) &&
			pm_inventory_serving(region, job->substate) == ns)
			add_use(region, job, list);
	}
}

static void judge(const struct show *show, const struct pm_inventory_ns *ns)
{
	const char *dev = ns->nd.dev, *name = *ns->nd.name ? ns->nd.name : "no name";

	if (ns->is_pinned)
		pm_show_block(show->root, "%s (%s) is pinned", dev, name);
	else if (!ns->is_own)
		pm_show_block(show->root, "%s (%s) is foreign", dev, name);
	if (*ns->elsewhere)
		pm_show_block(show->root, "%s is mounted at '%.200s' too", dev, ns->elsewhere);
}

static void add_namespace(const struct show *show, const struct pm_inventory_region *region,
	const struct pm_inventory_ns *ns, json_object *list)
{
	json_object *one = pm_json_append_object(list);

	pm_json_add_string(one, "name", ns->nd.dev);
	pm_json_add_string(one, "label", ns->nd.name);
	pm_json_add_string(one, "mode", ns->nd.mode);
	pm_json_add_string(one, "owner", ns->is_own ? "ours" : "foreign");
	pm_json_add_bool(one, "pinned", ns->is_pinned);
	pm_json_add_u64(one, "size_bytes", ns->nd.size_bytes);
	pm_json_add_string(one, "block_device", *ns->nd.blockdev ? ns->nd.blockdev : NULL);
	if (*ns->dax.chardev) {
		pm_json_add_string(one, "device", ns->dax.chardev);
		pm_json_add_string(one, "device_mode", ns->dax.mode);
	}
	if (ns->is_mounted || ns->has_other_options)
		add_mount(region, ns, one);
	add_users(show, region, ns, one);
	judge(show, ns);
}

static void add_region(
	const struct show *show, const struct pm_inventory_region *region, json_object *list)
{
	json_object *one = pm_json_append_object(list), *namespaces;

	pm_json_add_string(one, "name", region->nd.dev);
	pm_json_add_int(one, "socket", region->socket);
	pm_json_add_int(one, "numa_node", region->nd.numa_node);
	pm_json_add_int(one, "target_node", region->nd.target_node);
	pm_json_add_u64(one, "size_bytes", region->nd.size_bytes);
	pm_json_add_u64(one, "available_bytes", region->nd.available_bytes);
	namespaces = pm_json_add_array(one, "namespaces");
	for (size_t i = 0; i < region->n; i++)
		add_namespace(show, region, &region->list[i], namespaces);
	if (*region->occupant)
		pm_show_block(show->root, "'%.200s' is mounted at %.200s", region->occupant,
			region->mount_point);
}

static void add_regions(const struct show *show)
{
	json_object *list = pm_json_add_array(show->root, "regions");
	const struct pm_inventory *inventory = &show->survey.inventory;
	const struct pm_pin *lost = show->survey.lost;

	for (size_t i = 0; i < inventory->n; i++)
		add_region(show, &inventory->list[i], list);
	if (lost)
		pm_show_block(show->root, "pinned %s (%s) is missing", lost->dev, lost->name);
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
			job->state == PM_JOB_UNREADABLE || lives(show, job)
				? pm_job_state_name(job->state)
				: "of an earlier boot");
		pm_json_add_string(one, "since", job->time);
		if (job->state == PM_JOB_UNREADABLE ||
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
