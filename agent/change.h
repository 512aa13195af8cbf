/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_CHANGE_H
#define PM_AGENT_CHANGE_H

/*
 * The transaction that stages a mode: all sockets in one goal. Nothing is written before every
 * check has passed; each step is in the journal before it is taken; whatever fails after the goal
 * was written takes it back. Termination signals wait until it is over.
 */
#include "agent/pmctl.h"

/* 0: staged, or there already; says which. Logs nothing about failures: that is the caller's. */
int pm_change_stage(const struct pm_agent *agent, const struct pm_mode_info *mode, bool dry_run,
	struct pm_err *err);

#endif
