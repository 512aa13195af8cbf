/* SPDX-License-Identifier: Apache-2.0 */
#include "node/state/job_use_look.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/param.h>

#include "base/cleanup.h"
#include "node/state/jobview.h"
#include "node/tools/job_cgroup.h"
#include "node/tools/node_memory.h"
#include "node/tools/quota.h"

/* An empty directory has a block, which its owner has not written. */
#define EMPTY_BYTES 4096

static void set(struct pm_use_part *part, uint64_t bytes)
{
	if (!part)
		return;
	part->bytes = bytes;
	part->peak_bytes = MAX(part->peak_bytes, bytes);
}

/* Flat memory is that of the NUMA nodes that the job was given; NULL: the node is DRAM. */
static const struct pm_allotment *flat_node(const struct pm_jobview *view, unsigned node)
{
	for (size_t i = 0; i < view->n; i++)
		if (view->allotments[i].kind == PM_ALLOTMENT_NODE &&
			strtoul(view->allotments[i].value, NULL, 10) == node)
			return &view->allotments[i];
	return NULL;
}

/* A node of persistent memory has no CPU by which its socket is known, but the view has it. */
static struct pm_use_part *part_of(const struct pm_config *config, const struct pm_jobview *view,
	struct pm_job_use *use, unsigned node)
{
	const struct pm_allotment *flat = flat_node(view, node);
	int socket = flat ? flat->socket : pm_node_socket(config->fs_root, (int)node);

	return pm_job_use_part(use, flat ? "pmem" : "dram", node, (uint32_t)socket);
}

static void look_at_memory(
	const struct pm_config *config, const struct pm_jobview *view, struct pm_job_use *use)
{
	cleanup_free char *path = pm_job_cgroup_find(config->fs_root, use->job_id);
	struct pm_job_cgroup cgroup;

	if (!path || pm_job_cgroup_read(path, &cgroup))
		return;
	use->memory_peak_bytes = MAX(use->memory_peak_bytes, MAX(cgroup.peak_bytes, cgroup.bytes));
	use->memory_limit_bytes = cgroup.limit_bytes;
	use->oom_kills = MAX(use->oom_kills, cgroup.oom_kills);
	for (unsigned node = 0; node < cgroup.n_nodes; node++)
		set(part_of(config, view, use, node), cgroup.node_bytes[node]);
}

/* Only root may ask for a project's: a user gets his own, of all his jobs. */
static int get_quota(int fd, const struct pm_job_use *use, struct pm_quota *ret)
{
	int rc = pm_quota_get(fd, PM_QUOTA_OF_PROJECT, PM_QUOTA_PROJECT(use->job_id), ret, NULL);

	return rc ? pm_quota_get(fd, PM_QUOTA_OF_USER, use->uid, ret, NULL) : 0;
}

/*
 * The directory belongs to the job, the path to it to root. A project without a limit has its
 * user's.
 */
static void look_at_directory(
	const struct pm_allotment *allotment, uint32_t number, struct pm_job_use *use)
{
	cleanup_close int fd = open(
		allotment->value, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	struct pm_quota quota, of_user;
	struct pm_use_part *part;

	if (fd < 0 || get_quota(fd, use, &quota))
		return;
	part = pm_job_use_part(use, "dir", number, (uint32_t)allotment->socket);
	set(part, quota.used.bytes > EMPTY_BYTES ? quota.used.bytes : 0);
	if (!quota.limit.bytes && !pm_quota_get(fd, PM_QUOTA_OF_USER, use->uid, &of_user, NULL))
		quota.limit.bytes = of_user.limit.bytes;
	if (part)
		part->limit_bytes = quota.limit.bytes;
}

void pm_use_look_at(const struct pm_config *config, struct pm_job_use *use)
{
	cleanup_with(pm_jobview_done) struct pm_jobview view = {0};
	uint32_t n_dirs = 0;

	if (pm_jobview_read_of(
		    config->run_dir, use->job_id, use->uid, config->fs_root, &view, NULL))
		return;
	look_at_memory(config, &view, use);
	for (size_t i = 0; i < view.n; i++)
		if (view.allotments[i].kind == PM_ALLOTMENT_DIR)
			look_at_directory(&view.allotments[i], n_dirs++, use);
}
