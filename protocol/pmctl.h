/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PMCTL_H
#define PM_PMCTL_H

/*
 * Output and exit status of pmctl for its callers, above all the plugin; pmctl(8) documents them.
 */

/* Exit statuses. */
enum {
	PM_EXIT_DONE = 0,
	PM_EXIT_FAILED = 1,
	PM_EXIT_USAGE = 2,
	PM_EXIT_CONFLICT = 3,  /* job begin: other jobs are in the way */
	PM_EXIT_REFUSED = 4,   /* job begin: the node lacks something that the job asks for */
	PM_EXIT_REBOOT = 5,    /* job begin, end, idle, make-way: only a reboot recovers memory */
	PM_EXIT_SUSPENDED = 6, /* helper, reboot: a job is suspended on this node */
};

/*
 * stdout of a job begin with PM_EXIT_CONFLICT, a line each: the id of a job in the way, or bytes of
 * memory that no job record has.
 */
#define PM_ANSWER_HOLDER     "holder="
#define PM_ANSWER_UNRECORDED "unrecorded="

/*
 * stdout of job turn-away: pm-controller has requeued the job, or has only recorded the rejection.
 */
#define PM_ANSWER_REQUEUED "requeued"
#define PM_ANSWER_NOTED	   "noted"

#endif
