/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/pmctl.h"
#include "base/cleanup.h"
#include "node/act/recover.h"
#include "node/state/state.h"

int pm_verb_recover(struct pm_agent *agent)
{
	cleanup_close int lock_fd = -1;
	struct pm_err err;
	int rc = pm_state_lock_within(&agent->op, agent->op.config.tool_timeout_s, &lock_fd, &err);

	if (!rc)
		rc = pm_recover(&agent->op, agent->given & PM_OPT_DRY_RUN, &err);
	return pm_finish(agent, rc, &err);
}
