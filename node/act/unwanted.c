/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/unwanted.h"

#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/signals.h"
#include "base/strv.h"
#include "node/act/substate.h"
#include "node/state/state.h"
#include "node/tools/tools.h"

/*
 * The longest time between the helper that stages a goal and RebootProgram, which slurmd starts
 * when the helper has ended.
 */
#define YOUNG_S 120

static bool is_young(const struct pm_journal *journal)
{
	uint64_t now_s = pm_journal_clock();

	return now_s >= journal->ordered_s && now_s - journal->ordered_s <= YOUNG_S;
}

static bool names(const char *words, const char *feature)
{
	cleanup_with(pm_strv_cleanup) char **list = pm_strv_split(words, ",");

	return list && pm_strv_contains(list, feature);
}

bool pm_unwanted_at_reboot(const struct pm_journal *journal, char *const *words)
{
	if (!pm_journal_is_open(journal) || !journal->for_job)
		return false;
	if (words[0] && *words[0])
		return !names(words[0], pm_mode_info(journal->mode)->feature);
	return !is_young(journal);
}

bool pm_unwanted_takes_data(
	const struct pm_operation *op, const struct pm_journal *journal, struct pm_err *ret_why)
{
	bool is_open;

	return !pm_state_goal_is_open(&op->config, journal, &is_open, NULL) && is_open &&
	       pm_substate_check_empty(&op->config, ret_why) == -EPERM;
}

int pm_unwanted_withdraw(const struct pm_operation *op, struct pm_journal *journal, const char *why,
	struct pm_err *err)
{
	bool is_open;
	sigset_t before;
	int rc = pm_state_goal_is_open(&op->config, journal, &is_open, err);

	if (rc || !is_open) /* a goal of an earlier boot is left to 'pmctl verify' */
		return rc;
	pm_signals_hold(&before);
	rc = pm_tool_delete_goal(&op->config, err);
	if (!rc)
		rc = pm_state_step(op, journal, PM_JOURNAL_UNDONE, journal->boot_id, why, err);
	pm_signals_release(&before);
	return rc ? pm_err_prefix(err, "withdraw the goal %s", pm_mode_name(journal->mode)) : 0;
}
