/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REACHABLE_H
#define PM_REACHABLE_H

#include <stdbool.h>

#include "base/err.h"
#include "site/config.h"

/*
 * Tells the controller which of its features the node can serve from where it is ('pmctl
 * reachable'), so that no job is sent here for a mode that the node cannot change to: its available
 * features shrink to these, and its comment says why ("pm: ...", where no other comment stands).
 * When it can change again they grow back. Nothing is drained. Slurm is asked only while something
 * is missing, or was.
 *
 * slurmd reports every feature of helpers.conf as available whenever it registers: at its start, at
 * 'scontrol reconfigure', and every half an hour. So this has to be told again and again, which is
 * what HealthCheckProgram= is for (pm-reachable); prolog and epilog tell at once what they changed.
 * A reason would say more than a comment, but Slurm keeps one only for nodes that are not usable.
 *
 * A node that Slurm 24.05 or later took down because it refused such a change is taken back.
 */
int pm_reachable_report(const struct pm_config *config, unsigned timeout_ms, struct pm_err *err);

/*
 * Can the node serve one of these modes, "memory,flat", without anything in its way? True also when
 * that is not known.
 */
bool pm_reachable_any(const struct pm_config *config, const char *modes, unsigned timeout_ms);

#endif
