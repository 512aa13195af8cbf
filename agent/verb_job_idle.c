/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/pmctl.h"
#include "base/cleanup.h"
#include "node/act/background.h"
#include "node/act/substate.h"
#include "node/state/idle.h"
#include "node/state/state.h"

static int lock(const struct pm_agent *agent, int *ret_fd, struct pm_err *err)
{
	return pm_state_lock_within(&agent->op, agent->op.config.tool_timeout_s, ret_fd, err);
}

static int finish(const struct pm_agent *agent, int rc, const struct pm_err *err)
{
	if (!rc)
		return PM_EXIT_DONE;
	(void)pm_fail(agent, err);
	return rc == PM_NEEDS_REBOOT ? PM_EXIT_REBOOT : PM_EXIT_FAILED;
}

/* After a failure the time starts again: the next call would fail, too. */
static int retire(const struct pm_agent *agent, struct pm_err *err)
{
	struct pm_err second;
	int rc = pm_substate_retire(&agent->op, err);

	if (rc && pm_idle_mark(&agent->op.config, &second))
		pm_warn(&agent->op, "%s", second.text);
	return rc;
}

/* A wipe that runs already is left to itself: the lock would end it. */
int pm_verb_job_idle(struct pm_agent *agent)
{
	const struct pm_config *config = &agent->op.config;
	cleanup_close int lock_fd = -1;
	struct pm_err err;
	int rc;

	if (!pm_idle_is_due(config) || pm_idle_wipe_runs(config))
		return PM_EXIT_DONE;
	rc = lock(agent, &lock_fd, &err);
	if (rc || !pm_idle_is_due(config))
		return finish(agent, rc, &err);
	rc = retire(agent, &err);
	if (!rc) /* which tells pm-controller the sub-state */
		pm_background_start(&agent->op, (const char *const[]){"job", "watch", NULL});
	return finish(agent, rc, &err);
}

int pm_verb_job_make_way(struct pm_agent *agent)
{
	cleanup_close int lock_fd = -1;
	struct pm_err err;
	int rc = lock(agent, &lock_fd, &err);

	if (!rc)
		rc = pm_substate_make_way(&agent->op, &err);
	return finish(agent, rc, &err);
}
