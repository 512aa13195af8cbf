/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ACTIVE_H
#define PM_ACTIVE_H

#include "base/err.h"
#include "site/config.h"

/* The feature of the node's mode, a string of the modes table; NULL if the mode is unknown. */
const char *pm_active_feature(const struct pm_config *config, unsigned timeout_ms);

/*
 * The list of active features that slurmctld should have for this node: its present list, with the
 * mode's feature replaced by that of the mode that pmctl reports, or by none if that is unknown.
 * *ret is malloc'ed; NULL if the list is right, or has none of our features.
 *
 * slurmctld sets the active features when it orders the reboot, not when the node is back. From
 * Slurm 23.02 on a node that registers without a mode that slurmctld expects becomes 'inval': it
 * cannot be resumed, and its reason is replaced by "Reported active features (...) are not a
 * superset ..." (validate_node_specs() in slurmctld's node_mgr.c). So slurmctld must have the right
 * list before slurmd registers.
 */
int pm_active_correction(const struct pm_config *config, unsigned pmctl_ms, unsigned scontrol_ms,
	char **ret, struct pm_err *err);

/* Sends that list to slurmctld if it is not NULL. */
int pm_active_report(const struct pm_config *config, unsigned timeout_ms, struct pm_err *err);

#endif
