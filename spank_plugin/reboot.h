/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REBOOT_H
#define PM_REBOOT_H

/*
 * A reboot that the plugin orders, and the node's return to service. An administrator may drain the
 * node before, during or after the reboot. 'scontrol reboot ASAP' and nextstate=resume resume a
 * node that an administrator has drained (seen on 22.05 and 24.11), and Slurm has no update that
 * depends on a node's state. So:
 *
 * - The order is given without ASAP, which leaves drain and reason as they are. The epilog gives
 *   it; slurmctld sends it to the node when the epilog has ended.
 * - A node that is not drained is then drained with the plugin's reason, so that no job starts
 *   before the reboot. A later drain of an administrator replaces that reason.
 * - The drain is removed if its reason is still the plugin's, before slurmd registers. Until then
 *   slurmctld has the node as DOWN, which keeps jobs away and the reason in place. If an
 *   administrator drains the node between the plugin's look at the reason and its undrain, the
 *   plugin finds the new reason and drains the node again.
 *
 * One race stays: a drain between the plugin's look at the node and its own drain is lost.
 */
#include <stdbool.h>

#include "base/err.h"
#include "site/config.h"

/*
 * Orders a reboot for the time when the node's jobs have ended, and drains the node. `sentence` is
 * the cause, for the reason.
 */
int pm_reboot_order(const struct pm_config *config, const char *sentence, unsigned timeout_ms,
	struct pm_err *err);

/*
 * After such a reboot undrains the node, unless the drain has another reason. A file in StateDir
 * marks the reboot; without the file nothing is done.
 */
int pm_reboot_finish(const struct pm_config *config, unsigned timeout_ms, struct pm_err *err);

/* True until that reboot has been seen. */
bool pm_reboot_is_ordered(const struct pm_config *config);

#endif
