/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_JOB_REPORT_CAUSE_H
#define PM_AGENT_JOB_REPORT_CAUSE_H

#include "agent/job_report.h"
#include "site/config.h"

#define PM_CAUSE_MAX 400

/*
 * A sentence about the end of a job that did not succeed: memory, space, a signal of the memory
 * system, time, or a node; of one that runs, about a process of it that was killed. False: none of
 * these is known to be the cause.
 */
bool pm_job_report_cause(
	const struct pm_job_report *report, const struct pm_config *config, char ret[PM_CAUSE_MAX]);

/* One thing to try next, with its reason in numbers. False: there is nothing to say. */
bool pm_job_report_advice(
	const struct pm_job_report *report, const struct pm_config *config, char ret[PM_CAUSE_MAX]);

#endif
