/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_EXPLAIN_POLICY_H
#define PM_EXPLAIN_POLICY_H

#include "agent/pmctl.h"

/*
 * 'pmctl explain -- OPTION...': runs sbatch --test-only with these options of sbatch. slurmctld
 * hands the job to pmem.lua and starts none; PM_EXPLAIN, which the plugin passes on, has pmem.lua
 * tell the policy of the job and the line of pmem.conf that decided each key. Prints it. An exit
 * code of pmctl: PM_EXIT_FAILED if the job would be refused.
 */
int pm_explain_policy(struct pm_agent *agent);

#endif
