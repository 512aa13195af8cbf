/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_JOB_REPORT_TEXT_H
#define PM_AGENT_JOB_REPORT_TEXT_H

#include <stdio.h>

#include "agent/job_report.h"
#include "site/config.h"

/* The report as people read it: a line for each thing that is known, with a word in front. */
void pm_job_report_print(const struct pm_job_report *report, uint32_t job_id,
	const struct pm_config *config, FILE *out);

#endif
