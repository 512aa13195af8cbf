/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_ACTIVE_H
#define PM_ACTIVE_H

#include "base/err.h"
#include "site/config.h"

/* The feature of the mode that the node is in; NULL when that is unknown or cannot be read. */
const char *pm_active_feature(const struct pm_config *config, unsigned timeout_ms);

/*
 * What the controller should take for this node's active features: those it holds now, with the
 * mode's replaced by what pmctl finds the node in (none when that is unknown). malloc'ed; *ret is
 * NULL when it is right already, or has never heard of our features.
 *
 * The controller takes a node for changed as soon as it orders the reboot. From Slurm 23.02 on a
 * node that registers without a mode it is thought to be in becomes 'inval': it cannot be resumed,
 * and its reason is replaced by "Reported active features (...) are not a superset ..."
 * (slurmctld, validate_node_specs()). So the controller has to be told before.
 */
int pm_active_correction(const struct pm_config *config, unsigned pmctl_ms, unsigned scontrol_ms,
	char **ret, struct pm_err *err);

/* Tells the controller, when it has to be. */
int pm_active_report(const struct pm_config *config, unsigned timeout_ms, struct pm_err *err);

#endif
