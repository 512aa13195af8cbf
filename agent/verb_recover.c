/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/pmctl.h"
#include "base/cleanup.h"
#include "node/act/recover.h"
#include "node/act/substate.h"
#include "node/state/state.h"

int pm_verb_recover(struct pm_agent *agent)
{
	cleanup_close int lock_fd = -1;
	struct pm_err err;
	int rc = pm_state_lock_within(&agent->op, agent->op.config.tool_timeout_s, &lock_fd, &err);

	if (!rc)
		rc = pm_recover(&agent->op, agent->given & PM_OPT_DRY_RUN, &err);
	if (!rc)
		return PM_EXIT_DONE;
	pm_fail(agent, &err);
	return rc == PM_NEEDS_REBOOT ? PM_EXIT_REBOOT : PM_EXIT_FAILED;
}
