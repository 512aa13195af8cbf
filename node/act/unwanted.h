/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_UNWANTED_H
#define PM_UNWANTED_H

/*
 * Goals that a reboot must not apply: one that was staged for a job, since the job was cancelled or
 * requeued, or its reboot failed; and one that would take a foreign or pinned namespace, which was
 * made or pinned since. Any other goal that an administrator has staged stays.
 */
#include <stdbool.h>

#include "node/operation.h"
#include "node/state/journal.h"

/*
 * True if the open goal was staged for a job and this reboot is not that job's. `words`: the
 * arguments of RebootProgram. slurmd of Slurm 23.02 and later names the features of the job's
 * reboot there. Without them a goal counts as the job's for two minutes, since slurmd calls the
 * helper and RebootProgram one after the other.
 */
bool pm_unwanted_at_reboot(const struct pm_journal *journal, char *const *words);

/*
 * True if the goal of this boot would take a namespace that is foreign or pinned; *ret_why then
 * names it. False also if the namespaces cannot be read.
 */
bool pm_unwanted_takes_data(
	const struct pm_operation *op, const struct pm_journal *journal, struct pm_err *ret_why);

/* Deletes the goal and closes the journal as UNDONE, with `why`. The caller holds the lock. */
int pm_unwanted_withdraw(const struct pm_operation *op, struct pm_journal *journal, const char *why,
	struct pm_err *err);

#endif
