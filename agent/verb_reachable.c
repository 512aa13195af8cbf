/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdio.h>

#include "agent/pmctl.h"
#include "agent/suspended.h"
#include "base/cleanup.h"
#include "node/act/substate.h"
#include "node/state/state.h"

/* Reads only the mode record: Slurm waits for the result, and ipmctl takes seconds. */
static int read_platform(const struct pm_config *config, enum pm_platform *ret, struct pm_err *err)
{
	struct pm_kernel kernel;
	struct pm_record record;
	int rc = pm_state_current_record(config, &record, &kernel, err);

	if (rc)
		return pm_err_prefix(err, "the node's mode is not known, run 'pmctl verify'");
	if (!record.verdict.platform)
		return pm_err_set(err, -EIO, "the node's mode is unknown: %s", record.verdict.why);
	*ret = record.verdict.platform;
	return 0;
}

/* False for flat: it shares the feature of appdirect, which is first in the table. */
static bool is_of_its_own(const struct pm_mode_info *row)
{
	return pm_mode_by_feature(row->feature) == row;
}

static bool may_serve(const struct pm_config *config, enum pm_platform platform)
{
	pm_mode_foreach(row)
		if (row->platform == platform && pm_config_allows(config, row->mode))
			return true;
	return false;
}

static void print(const struct pm_agent *agent, enum pm_platform own, bool may_change)
{
	pm_mode_foreach(row) {
		if (!is_of_its_own(row) || !may_serve(&agent->op.config, row->platform))
			continue;
		if (row->platform == own || may_change)
			puts(row->feature);
	}
}

int pm_verb_reachable(struct pm_agent *agent)
{
	enum pm_platform own = PM_PLATFORM_UNKNOWN;
	struct pm_err err;
	bool may_change;

	if (read_platform(&agent->op.config, &own, &err)) {
		pm_fail(agent, &err);
		return PM_EXIT_DONE;
	}
	/* The firmware may lay the regions out anew. */
	may_change = !pm_suspended_recheck(&agent->op, &err) &&
		     !pm_substate_check_empty(&agent->op.config, &err);
	if (!may_change)
		pm_fail(agent, &err);
	print(agent, own, may_change);
	return PM_EXIT_DONE;
}
