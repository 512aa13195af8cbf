/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_FLAT_H
#define PM_AGENT_FLAT_H

/*
 * Regions as main memory. daxctl refuses while the kernel would put new memory online by itself
 * (auto_online_blocks), in the zone of its choice: the policy is "offline" meanwhile, and put back
 * afterwards; until then it is in the journal.
 */
#include "node/act/steps.h"
#include "node/operation.h"
#include "node/state/os_journal.h"

/* Steps of kind PM_STEP_RAM. The policy is put back whatever happens. */
int pm_flat_make(const struct pm_operation *op, struct pm_os_journal *journal,
	const struct pm_step *steps, size_t n, struct pm_err *err);

/*
 * Steps of kind PM_STEP_OFFLINE: caches are dropped, and then only when all that is on their nodes
 * fits on the others. PM_NEEDS_REBOOT: it does not, or the kernel does not give it back within
 * OfflineTimeout; that memory is online again.
 */
int pm_flat_offline(
	const struct pm_operation *op, const struct pm_step *steps, size_t n, struct pm_err *err);

/* Gives the kernel the policy that the journal remembers, if it does, and forgets it. */
int pm_flat_restore_policy(
	const struct pm_operation *op, struct pm_os_journal *journal, struct pm_err *err);

#endif
