/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_ROOM_H
#define PM_AGENT_ROOM_H

/*
 * Makes room for a job that begins while trash of earlier jobs fills a file system. The file system
 * is made anew if no other job is on the node, it holds only trash, and no process has it open;
 * else the call waits a few seconds for the removal of trash. If room is still missing then,
 * pm_allotments_check_size() reports that. `job`: the job that begins; nothing is done unless it
 * gets directories.
 */
#include "node/operation.h"
#include "node/see/inventory.h"
#include "node/state/jobs.h"

int pm_room_make(const struct pm_operation *op, const struct pm_inventory *inventory,
	const struct pm_jobs *jobs, const struct pm_job *job, struct pm_err *err);

#endif
