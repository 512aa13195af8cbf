/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REBOOT_H
#define PM_REBOOT_H

/*
 * A reboot of ours, and the node's way back into service, around administrators who drain it
 * before, meanwhile or after. 'scontrol reboot ASAP' and nextstate=resume take a node back over
 * their drain (seen on 22.05 and 24.11), and Slurm has no update that depends on a node's state.
 * So:
 *
 * - The order is given without ASAP, which leaves drain and reason as they are. The epilog gives
 *   it: slurmctld sends it on when that has ended.
 * - A node that nobody has drained is then drained with our reason, so that no job comes first.
 *   What an administrator does from then on replaces that reason.
 * - The drain is taken away while its reason is ours, before slurmd registers. Until then
 *   slurmctld has the node as DOWN, which keeps jobs away and the reason in place: a drain that
 *   comes between our look and our order is seen by its reason, and put back.
 *
 * What stays is the moment between that look and our drain.
 */
#include "base/err.h"
#include "site/config.h"

/* Reboots the node when its jobs have ended. `sentence`: why, for the reason. */
int pm_reboot_order(const struct pm_config *config, const char *sentence, unsigned timeout_ms,
	struct pm_err *err);

/*
 * After a reboot of ours takes the node back, unless it is drained for another reason by now. A
 * file in StateDir says whether there was one; else nothing is asked.
 */
int pm_reboot_finish(const struct pm_config *config, unsigned timeout_ms, struct pm_err *err);

#endif
