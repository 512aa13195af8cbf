/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_LAUNCHER_MACHINE_H
#define PM_LAUNCHER_MACHINE_H

/* The input of a plan: the machine, and the job's directories. */
#include "launcher/options.h"
#include "launcher/ranks.h"
#include "node/state/jobview.h"
#include "plan/plan.h"
#include "site/config.h"

/* This machine as the ranks of this launcher may use it, or the one that an option names
 * (pm_run_elsewhere()). */
int pm_machine_load(const struct pm_run_given *given, const struct pm_rank *rank,
	const struct pm_config *config, struct pm_topology **ret, struct pm_err *err);

/*
 * The job's directories on this node: from the file that pmctl wrote for it, else from PM_DIR0,
 * PM_DIR0_SOCKET and so on in the environment, which a launcher may have copied from another node.
 * Paths point into `view`, owned by the caller; *ret is malloc'ed.
 */
int pm_machine_directories(const struct pm_config *config, const struct pm_topology *topology,
	struct pm_jobview *view, struct pm_pmem_dir **ret, unsigned *ret_n, struct pm_err *err);

#endif
