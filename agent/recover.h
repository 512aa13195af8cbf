/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_RECOVER_H
#define PM_AGENT_RECOVER_H

/*
 * After a crash or a boot: finishes or undoes what was interrupted below the platform mode. The
 * caller holds the lock. It mounts nothing: the next job does, and at boot a service's mounts
 * would not be seen by others.
 */
#include "agent/pmctl.h"

/* PM_NEEDS_REBOOT of agent/substate.h: flat memory that the kernel does not give back. */
int pm_recover(const struct pm_agent *agent, bool dry_run, struct pm_err *err);

#endif
