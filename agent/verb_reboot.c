/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>

#include "agent/pmctl.h"
#include "agent/suspended.h"
#include "base/cleanup.h"
#include "node/act/unwanted.h"
#include "node/state/state.h"
#include "node/tools/tools.h"

/* Only a staged change records its reboot. */
static int note(const struct pm_agent *agent, struct pm_journal *journal, struct pm_err *err)
{
	char boot_id[PM_BOOT_ID_MAX];
	int rc;

	if (journal->state != PM_JOURNAL_STAGED)
		return 0;
	rc = pm_kernel_boot_id(agent->op.config.fs_root, boot_id, err);
	return rc ? rc
		  : pm_state_step(&agent->op, journal, PM_JOURNAL_REBOOTING, boot_id,
			    "reboot asked for", err);
}

static int withdraw_jobs(
	const struct pm_agent *agent, struct pm_journal *journal, struct pm_err *err)
{
	int rc = pm_unwanted_withdraw(&agent->op, journal,
		"withdrawn: it was staged for a job, and this is not its reboot", err);

	if (!rc)
		pm_report(&agent->op, "goal %s was staged for a job that is gone, and is withdrawn",
			pm_mode_name(journal->mode));
	return rc;
}

/* Namespaces may have been made or pinned since the goal was staged. */
static int keep_data(const struct pm_agent *agent, struct pm_journal *journal,
	const struct pm_err *why, struct pm_err *err)
{
	int rc = pm_unwanted_withdraw(&agent->op, journal, why->text, err);

	if (!rc)
		pm_warn(&agent->op, "goal %s is withdrawn, since it would take data: %s",
			pm_mode_name(journal->mode), why->text);
	return rc;
}

static int prepare(const struct pm_agent *agent, struct pm_journal *journal, struct pm_err *err)
{
	int rc = pm_state_read_journal(&agent->op.config, journal, err);
	struct pm_err why;

	if (rc)
		return rc;
	if (pm_unwanted_at_reboot(journal, agent->words))
		return withdraw_jobs(agent, journal, err);
	if (pm_unwanted_takes_data(&agent->op, journal, &why))
		return keep_data(agent, journal, &why, err);
	return note(agent, journal, err);
}

/* Slurm no longer waits for a node for that job, so no later reboot may apply the job's goal. */
static int fail(const struct pm_agent *agent, struct pm_journal *journal, const struct pm_err *why)
{
	struct pm_err err;

	pm_fail(agent, why);
	if (pm_journal_is_open(journal) && journal->for_job && withdraw_jobs(agent, journal, &err))
		pm_warn(&agent->op, "%s", err.text);
	return PM_EXIT_FAILED;
}

static int refuse(const struct pm_agent *agent, struct pm_journal *journal, struct pm_err *why)
{
	(void)pm_state_read_journal(&agent->op.config, journal, NULL);
	(void)fail(agent, journal, why);
	return PM_EXIT_SUSPENDED;
}

/*
 * Slurm waits for this reboot: neither an unreadable journal nor a full or read-only disk stops it.
 * Without the reboot Slurm would believe that the node is in the new mode. Only a lock that another
 * pmctl still holds, and a suspended job, stop it.
 */
int pm_verb_reboot(struct pm_agent *agent)
{
	cleanup_with(pm_journal_done) struct pm_journal journal = {0};
	const char *const *argv = (const char *const *)agent->op.config.reboot_command;
	cleanup_close int lock_fd = -1;
	struct pm_err err, why;
	int rc = pm_state_lock(&agent->op, &lock_fd, &err);

	if (rc == -EBUSY)
		return pm_fail(agent, &err);
	if (pm_suspended_check(&agent->op, &why))
		return refuse(agent, &journal, &why);
	if (rc || prepare(agent, &journal, &err))
		pm_warn(&agent->op, "%s; rebooting anyway", err.text);
	pm_report(&agent->op, "rebooting: %s", agent->op.config.text[PM_KEY_REBOOT_COMMAND]);
	return pm_tool_act(&agent->op.config, argv, 0, &err) ? fail(agent, &journal, &err)
							     : PM_EXIT_DONE;
}
