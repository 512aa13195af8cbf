/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REPORTS_H
#define PM_REPORTS_H

/*
 * Reports of jobs, for 'pmctl report': a file ID.jsonl for each job, a JSON object a line. Each
 * node that ends the job adds its line (protocol/job_use.h) at the end; the first one also adds the
 * job as Slurm knows it, and the reboots for it. The job is added again when Slurm has its energy
 * later: of several such lines the last counts. A line that a crash has cut is skipped.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/json.h"
#include "controller/cluster.h"
#include "controller/reboots.h"
#include "protocol/job_use.h"
#include "protocol/message.h"

struct pm_reports {
	char *dir;
	unsigned keep_days; /* 0: nothing is kept */
	uint64_t swept_s;   /* when old files were last removed */
};

/* Makes the directory. Errors of mkdir(2), -ENOMEM. */
int pm_reports_open(struct pm_reports *reports, const char *dir, struct pm_err *err);

/* What a message 'used' tells; pm_job_use_done() it, also on failure. -EBADMSG as below. */
int pm_reports_read_use(
	const struct pm_message *message, struct pm_job_use *ret, struct pm_err *err);

/*
 * Adds the line of a message 'used'. -EBADMSG: it has other fields, or is for another job; -EFBIG:
 * the job's file is full; else of the file, which is then as it was: the node sends it again.
 */
int pm_reports_add(struct pm_reports *reports, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots, const struct pm_message *message, struct pm_err *err);

/*
 * The reply to 'report': an array of objects, each with "type":
 *
 *	job     job, uid, name, state, nodes, submit, start, end, ...; the first one
 *	reboot  node, from, to, start, end, failure
 *	node    node, and the fields of protocol/job_use.h
 *
 * `after` is the number of lines that were told already; as many as a reply holds. `viewer` is the
 * uid that asks, NULL for one that may see all jobs. -ENOENT: there is no such job, or it is
 * another user's.
 */
int pm_reports_answer(const struct pm_reports *reports, const struct pm_cluster *cluster,
	const struct pm_reboots *reboots, const struct pm_message *request, const uid_t *viewer,
	json_object **ret, struct pm_err *err);

/* Once an hour: removes files that no node has added to for keep_days. */
void pm_reports_sweep(struct pm_reports *reports, uint64_t now_s);

void pm_reports_done(struct pm_reports *reports);

#endif
