/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/recover.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "node/act/job.h"
#include "node/act/substate.h"

static int find_conflict(
	const struct pm_operation *op, enum pm_substate wanted, uint32_t *ret, struct pm_err *err)
{
	cleanup_with(pm_jobs_done) struct pm_jobs jobs = {0};
	struct pm_job target = {.substate = wanted};
	const struct pm_job *other;
	int rc = pm_kernel_boot_id(op->config.fs_root, target.boot_id, err);

	if (!rc)
		rc = pm_jobs_of(op, &jobs, err);
	if (rc)
		return rc;
	other = pm_jobs_conflict(&jobs, &target);
	*ret = other ? other->id : 0;
	return 0;
}

int pm_recover_check_jobs(
	const struct pm_operation *op, enum pm_substate wanted, struct pm_err *err)
{
	uint32_t id = 0;
	int rc = find_conflict(op, wanted, &id, err);

	if (rc || !id)
		return rc;
	return pm_err_set(err, -EBUSY,
		"job %u has persistent memory of this node; 'pmctl job end --job=%u' reclaims it "
		"when the job is over",
		(unsigned)id, (unsigned)id);
}

/* Recovery keeps file systems, so jobs that use them do not conflict with it. */
int pm_recover(const struct pm_operation *op, bool dry_run, struct pm_err *err)
{
	int rc = dry_run ? 0 : pm_jobs_sweep(op, err);
	uint32_t id = 0;

	if (!rc)
		rc = find_conflict(op, PM_SUBSTATE_FSDAX, &id, err);
	if (!rc && id) {
		pm_report(op, "job %u uses the devices or the flat memory, so they stay",
			(unsigned)id);
		return 0;
	}
	return rc ? rc : pm_substate_recover(op, dry_run, err);
}
