/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_AGENT_JOB_REPORT_H
#define PM_AGENT_JOB_REPORT_H

/*
 * A job's report, put together from the lines of pm-controller (controller/reports.h). Pointers
 * into the lines; the last run of a requeued job alone.
 */
#include "agent/runtime_reports.h"
#include "base/json.h"
#include "protocol/job_use.h"

struct pm_report_node {
	const char *node;
	struct pm_job_use use;
};

struct pm_job_report {
	json_object *job; /* NULL: Slurm no longer knew it when its first node ended it */
	struct pm_report_node *nodes;
	size_t n_nodes;
	/* Of the reboots for the job: */
	unsigned reboots, failed;
	uint64_t first_s, last_s; /* Unix time of the first one's start and the last one's end */
	struct pm_runtime_sums runtime; /* zeroed by pm_job_report_read() */
};

/* -ENOMEM; -EBADMSG: a node's line has other fields. Release with pm_job_report_done(). */
int pm_job_report_read(json_object *lines, struct pm_job_report *ret, struct pm_err *err);

/* By Slurm's word. */
bool pm_job_report_is_running(const struct pm_job_report *report);

/* Its nodes report, as it asked for a mode. */
bool pm_job_report_has_mode(const struct pm_job_report *report);

/* A node failed while the job ran, by Slurm's word; that node may never report. */
bool pm_job_report_lost_node(const struct pm_job_report *report);

/* Another cluster of the federation has started the job; its nodes report there. */
bool pm_job_report_is_elsewhere(const struct pm_job_report *report);

/*
 * The job has ended and each of its nodes has reported, or none will: it had no mode, or runs
 * elsewhere.
 */
bool pm_job_report_is_whole(const struct pm_job_report *report);

/* The node with the highest use of a tier ("dram", "pmem", "dir"), or of memory in all (NULL);
 * NULL: none has any. */
const struct pm_report_node *pm_job_report_highest(
	const struct pm_job_report *report, const char *tier);

void pm_job_report_done(struct pm_job_report *report);

#endif
