/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_FLAT_H
#define PM_AGENT_FLAT_H

/*
 * Regions as main memory. daxctl(1) refuses to make system-ram while the kernel would online new
 * memory by itself (auto_online_blocks), in the zone of its choice. So the policy is "offline"
 * during the steps; the previous policy stays in the journal until it is restored.
 */
#include "node/act/steps.h"
#include "node/operation.h"
#include "node/state/os_journal.h"

/* Takes steps of kind PM_STEP_RAM. The policy is restored whether they succeed or fail. */
int pm_flat_make(const struct pm_operation *op, struct pm_os_journal *journal,
	const struct pm_step *steps, size_t n, struct pm_err *err);

/*
 * Takes steps of kind PM_STEP_OFFLINE: evicts caches, and offlines only if the pages in use on the
 * steps' NUMA nodes fit on the others. PM_NEEDS_REBOOT: they do not fit, or the kernel has not
 * offlined the memory within OfflineTimeout; it is online again.
 */
int pm_flat_offline(
	const struct pm_operation *op, const struct pm_step *steps, size_t n, struct pm_err *err);

/* Restores the policy that the journal has, and removes it there. Does nothing if it has none. */
int pm_flat_restore_policy(
	const struct pm_operation *op, struct pm_os_journal *journal, struct pm_err *err);

#endif
