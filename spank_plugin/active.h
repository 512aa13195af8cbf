/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ACTIVE_H
#define PM_ACTIVE_H

#include "base/err.h"
#include "site/config.h"

/* The feature of the node's mode, a string of the modes table; NULL if the mode is unknown. */
const char *pm_active_feature(const struct pm_config *config, unsigned timeout_ms);

/*
 * *ret is the list of active features that slurmctld should have for this node, malloc'ed: the
 * present list, with the features of modes replaced by the feature of the mode that pmctl reports,
 * or by none if that mode is unknown. NULL: the list is right, or has none of our features.
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
