/* SPDX-License-Identifier: Apache-2.0 */
#include "agent/recover.h"

#include "agent/substate.h"

int pm_recover(const struct pm_agent *agent, bool dry_run, struct pm_err *err)
{
	return pm_substate_recover(agent, dry_run, err);
}
