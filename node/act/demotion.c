/* SPDX-License-Identifier: Apache-2.0 */
#include "node/act/demotion.h"

#include <errno.h>
#include <string.h>

#include "node/state/state.h"
#include "node/tools/knob.h"

static const char switch_file[] = "sys/kernel/mm/numa/demotion_enabled";

static int turn_on(const struct pm_operation *op, struct pm_os_journal *journal, struct pm_err *err)
{
	char is[PM_KNOB_MAX];
	int rc = pm_knob_read(&op->config, switch_file, is, err);

	if (rc == -ENOENT)
		return pm_err_set(err, rc,
			"this kernel has no demotion of pages (Linux 5.15): programs that fill the "
			"DRAM of a socket may be killed because page tables find no free DRAM");
	if (rc || !strcmp(is, "true"))
		return rc;
	journal->demotion = true;
	rc = pm_state_write_os_journal(&op->config, journal, err);
	return rc ? rc : pm_knob_write(&op->config, switch_file, "1", err);
}

static int turn_off(
	const struct pm_operation *op, struct pm_os_journal *journal, struct pm_err *err)
{
	char is[PM_KNOB_MAX];
	int rc = pm_knob_read(&op->config, switch_file, is, err);

	if (!rc && strcmp(is, "false"))
		rc = pm_knob_write(&op->config, switch_file, "0", err);
	if (rc)
		return rc;
	journal->demotion = false;
	return pm_state_write_os_journal(&op->config, journal, err);
}

int pm_demotion_follow(
	const struct pm_operation *op, struct pm_os_journal *journal, struct pm_err *err)
{
	if (journal->wanted == PM_SUBSTATE_FLAT)
		return turn_on(op, journal, err);
	return journal->demotion ? turn_off(op, journal, err) : 0;
}

bool pm_demotion_is_on(const struct pm_config *config)
{
	char is[PM_KNOB_MAX];
	int rc = pm_knob_read(config, switch_file, is, NULL);

	return rc == -ENOENT || (!rc && !strcmp(is, "true"));
}
