/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_JOB_LINES_H
#define PM_JOB_LINES_H

/* Lines of a job's report (controller/reports.h) that the controller itself knows. */
#include "base/json.h"
#include "controller/cluster.h"
#include "controller/reboots.h"

/* "type": "job"; NULL when out of memory. Times are Unix time, 0: not yet. */
json_object *pm_job_line(const slurm_job_info_t *job);

/* "type": "reboot"; NULL when out of memory. */
json_object *pm_reboot_line(const struct pm_reboot *reboot);

#endif
