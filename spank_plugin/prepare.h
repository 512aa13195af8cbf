/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PREPARE_H
#define PM_PREPARE_H

/* 'pmctl job begin' and 'job end' for the job whose prolog or epilog runs. */
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
	const struct pm_requirement *requirement; /* for the beginning */
};

/*
 * Makes what the job expects, once the node's earlier job is gone for good. 0: its tasks may start,
 * or fail by what the job's view tells them: where another living job holds the node, this one goes
 * back to the queue, if it can. Others: the node's fault, with its sentence.
 */
int pm_prepare_begin(const struct pm_prepare *prepare, struct pm_err *err);

/* The job's tasks fail with the sentence, all of them, on this node. */
int pm_prepare_fail_tasks(
	const struct pm_prepare *prepare, const char *sentence, struct pm_err *err);

/* Sends the job back to the queue. Where that cannot be, it ends, unless it is a script on this
 * node alone. A negative errno: the job may go on. */
int pm_prepare_requeue(const struct pm_prepare *prepare, const char *sentence);

/* The same, with the controller's help; the tasks of what does not end fail with the sentence. A
 * negative errno: nothing of this could be done, and the prolog must fail. */
int pm_prepare_reject(const struct pm_prepare *prepare, const char *sentence);

enum pm_ending {
	PM_ENDING_DONE,
	PM_ENDING_REBOOT, /* the sentence says why */
	PM_ENDING_FAULT,  /* the same */
};

enum pm_ending pm_prepare_end(const struct pm_prepare *prepare, struct pm_err *err);

#endif
