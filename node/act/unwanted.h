/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_UNWANTED_H
#define PM_UNWANTED_H

/*
 * Goals that were staged for a job of Slurm's and wait for a reboot that is not that job's: it was
 * cancelled or requeued, or its reboot failed. Nobody asks for the mode any more, so the firmware
 * must not apply it at whatever reboot comes next. What an administrator has staged stays.
 */
#include <stdbool.h>

#include "node/operation.h"
#include "node/state/journal.h"

/*
 * Does this reboot belong to the goal? From Slurm 23.02 on slurmd names the features of a job's
 * reboot behind the command, `words`; without them the goal must be as young as one is when slurmd
 * calls the helper and RebootProgram one behind the other.
 */
bool pm_unwanted_at_reboot(const struct pm_journal *journal, char *const *words);

/* Takes the goal back, and says so in the journal. */
int pm_unwanted_withdraw(
	const struct pm_operation *op, struct pm_journal *journal, struct pm_err *err);

#endif
