/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REACHABLE_H
#define PM_REACHABLE_H

#include <stdbool.h>

#include "base/err.h"
#include "site/config.h"

/*
 * Reports to slurmctld the features that the node can change to ('pmctl reachable'), so that no job
 * is sent here for another mode. The available features shrink to these, and the node's comment
 * gets the cause ("pm: ...", unless another comment stands there). They grow again when the node
 * can change. Nothing is drained. It asks slurmctld only if features are missing, or were.
 *
 * slurmd reports every feature of helpers.conf as available when it registers: at its start, at
 * 'scontrol reconfigure', and every half hour. So HealthCheckProgram (pm-reachable) must repeat the
 * report; prolog and epilog report changes at once. The cause is in the comment because Slurm keeps
 * a reason only for nodes that are not usable.
 *
 * A node that Slurm 24.05 or later took down because it refused such a change is resumed.
 */
int pm_reachable_report(const struct pm_config *config, unsigned timeout_ms, struct pm_err *err);

/*
 * True if the node can change to one of these modes, "memory,flat". Also true if pmctl fails or
 * reports no feature.
 */
bool pm_reachable_any(const struct pm_config *config, const char *modes, unsigned timeout_ms);

#endif
