/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_ROOM_H
#define PM_AGENT_ROOM_H

/*
 * Room for a job that begins while trash of earlier jobs fills a file system. When no other job is
 * there, nothing on it but trash, and nobody has it open, the file system is made anew; else the
 * removal gets a few seconds. What is still missing then, pm_allotments_check_size() says.
 */
#include "node/operation.h"
#include "node/see/inventory.h"
#include "node/state/jobs.h"

int pm_room_make(const struct pm_operation *op, const struct pm_inventory *inventory,
	const struct pm_jobs *jobs, const struct pm_job *job, struct pm_err *err);

#endif
