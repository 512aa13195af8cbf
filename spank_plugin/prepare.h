/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PREPARE_H
#define PM_PREPARE_H

/* Runs 'pmctl job begin' and 'pmctl job end' for the job of the running prolog or epilog. */
#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "site/config.h"
#include "spank_plugin/requirement.h"

struct pm_prepare {
	const struct pm_config *config;
	uint32_t job_id;
	uid_t uid;
	gid_t gid;
	const struct pm_requirement *requirement; /* NULL in the epilog */
};

/*
 * Prepares the node for the job, after it has ended earlier jobs of the node that are over. 0: the
 * node is prepared; or the job's tasks fail by the job view; or another running job is in the way,
 * and this one was requeued or cancelled. -ERESTART: only a reboot gives the flat memory of an
 * earlier job back. Any other error is the node's fault. Both come with a sentence.
 */
int pm_prepare_begin(const struct pm_prepare *prepare, struct pm_err *err);

/* Writes a job view by which all tasks of the job on this node fail with the sentence. */
int pm_prepare_fail_tasks(
	const struct pm_prepare *prepare, const char *sentence, struct pm_err *err);

/*
 * Requeues the job. If it cannot be requeued it is cancelled, unless it is a batch script on this
 * node alone, which fails by its job view. A negative errno: the job may start.
 */
int pm_prepare_requeue(const struct pm_prepare *prepare, const char *sentence);

/*
 * Writes that job view and requeues the job. A negative errno: one of these failed, and the prolog
 * must fail.
 */
int pm_prepare_withdraw(const struct pm_prepare *prepare, const char *sentence);

/* Rejects the job: as pm_prepare_withdraw(), but pm-controller requeues the job if it can. */
int pm_prepare_reject(const struct pm_prepare *prepare, const char *sentence);

enum pm_ending {
	PM_ENDING_DONE,
	PM_ENDING_REBOOT, /* only a reboot recovers the memory; the sentence says why */
	PM_ENDING_FAULT,  /* the node is at fault; the sentence says why */
};

/* Runs 'pmctl job make-way'; err is set unless PM_ENDING_DONE. */
enum pm_ending pm_prepare_make_way(const struct pm_prepare *prepare, struct pm_err *err);

/* Runs 'pmctl job end'; err is set unless PM_ENDING_DONE. */
enum pm_ending pm_prepare_end(const struct pm_prepare *prepare, struct pm_err *err);

#endif
