/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_TOP_HERE_H
#define PM_AGENT_TOP_HERE_H

#include "base/json.h"
#include "site/config.h"

/*
 * A job's present use of this node: "node", the fields of protocol/job_use.h, and "ranks", an
 * object for each task: step, task, dram_bytes, pmem_bytes, rank, and budget_bytes of a rank that
 * has one. -ENOENT: it does not run here, or has no mode; -EPERM: it is another user's.
 */
int pm_top_here(
	const struct pm_config *config, uint32_t job_id, json_object **ret, struct pm_err *err);

#endif
