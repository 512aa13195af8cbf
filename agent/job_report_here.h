/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_JOB_REPORT_HERE_H
#define PM_AGENT_JOB_REPORT_HERE_H

/*
 * The line of this node for the report of a job that runs here, which pm-controller gets at the
 * job's end: root alone can read it.
 */
#include "base/json.h"
#include "site/config.h"

/* Adds the line, as pm-controller would keep it, with "end" 0; nothing if there is none. */
void pm_job_report_add_here(const struct pm_config *config, uint32_t job_id, json_object *lines);

#endif
