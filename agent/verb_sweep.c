/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "agent/pmctl.h"
#include "base/cleanup.h"
#include "node/act/job.h"
#include "node/act/limits.h"
#include "node/act/substate.h"
#include "node/act/sweeper.h"
#include "node/see/file_system.h"
#include "node/state/state.h"
#include "node/wipe/trash.h"

/* A file system that is gone meanwhile has no trash. */
static int empty_trash(const struct pm_agent *agent, const struct pm_inventory *inventory)
{
	int status = PM_EXIT_DONE;

	for (size_t i = 0; i < inventory->n; i++) {
		const struct pm_inventory_region *region = &inventory->list[i];
		cleanup_close int fd = -1;
		struct pm_err err;

		if (!pm_file_system_is_mounted(region))
			continue;
		fd = pm_file_system_open(region, &err);
		if (fd >= 0 && !pm_trash_empty(fd, region->mount_point, &err))
			continue;
		pm_fail(agent, &err);
		status = PM_EXIT_FAILED;
	}
	return status;
}

/* A file system that is gone meanwhile has no limits. */
static int set_limits_of(
	const struct pm_inventory *inventory, const struct pm_tenants *tenants, struct pm_err *err)
{
	int rc = 0;

	for (size_t i = 0; !rc && i < inventory->n; i++) {
		cleanup_close int fd = -1;

		if (!pm_file_system_is_mounted(&inventory->list[i]))
			continue;
		fd = pm_file_system_open(&inventory->list[i], err);
		if (fd >= 0)
			rc = pm_limits_set(fd, tenants, err);
	}
	return rc;
}

/* A job that has no record yet sets the limits itself, after the trash is gone. */
static bool has_jobs(const struct pm_agent *agent)
{
	cleanup_with(pm_jobs_done) struct pm_jobs jobs = {0};

	return pm_jobs_of(&agent->op, &jobs, NULL) || jobs.n;
}

/*
 * The limits no longer include the trash. Begins and ends of jobs set limits under the same lock,
 * so the lock is held briefly.
 */
static int set_limits(const struct pm_agent *agent, struct pm_err *err)
{
	cleanup_with(pm_inventory_done) struct pm_inventory inventory = {0};
	cleanup_with(pm_jobs_done) struct pm_jobs jobs = {0};
	char boot_id[PM_BOOT_ID_MAX];
	const struct pm_tenants tenants = {.jobs = &jobs, .boot_id = boot_id};
	cleanup_close int lock_fd = -1;
	int rc;

	if (!has_jobs(agent))
		return 0;
	rc = pm_kernel_boot_id(agent->op.config.fs_root, boot_id, err);
	if (!rc)
		rc = pm_substate_look(&agent->op, &inventory, err);
	if (!rc)
		rc = pm_state_lock_within(
			&agent->op, agent->op.config.tool_timeout_s, &lock_fd, err);
	if (!rc)
		rc = pm_jobs_of(&agent->op, &jobs, err);
	return rc ? rc : set_limits_of(&inventory, &tenants, err);
}

int pm_verb_sweep(struct pm_agent *agent)
{
	cleanup_with(pm_inventory_done) struct pm_inventory inventory = {0};
	cleanup_close int sweep_fd = -1;
	struct pm_err err;
	int status, rc = pm_sweeper_enter(&agent->op, &sweep_fd, &err);

	if (rc == -EALREADY)
		return PM_EXIT_DONE;
	if (!rc)
		rc = pm_substate_look(&agent->op, &inventory, &err);
	status = rc ? PM_EXIT_FAILED : empty_trash(agent, &inventory);
	if (!rc)
		rc = set_limits(agent, &err);
	if (rc)
		pm_fail(agent, &err);
	return rc ? PM_EXIT_FAILED : status;
}
