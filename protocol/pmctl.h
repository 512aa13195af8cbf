/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_PMCTL_H
#define PM_PMCTL_H

/* The answers of pmctl to its callers, the plugin first of all; pmctl(8) has them for others. */

/* Exit statuses. */
enum {
	PM_EXIT_DONE = 0,
	PM_EXIT_FAILED = 1,
	PM_EXIT_USAGE = 2,
	PM_EXIT_CONFLICT = 3, /* job begin: other jobs are in the way */
	PM_EXIT_REFUSED = 4,  /* job begin: the user asks for something that there is not */
	PM_EXIT_REBOOT = 5,   /* only a reboot gives the memory back */
};

/* Lines on stdout of job begin that ends with PM_EXIT_CONFLICT: the id of each job in the way, or
 * bytes of memory that no job has by a record. */
#define PM_ANSWER_HOLDER     "holder="
#define PM_ANSWER_UNRECORDED "unrecorded="

/* Lines on stdout of job turn-away: pm-controller has requeued or held the job, or noted it. */
#define PM_ANSWER_REQUEUED "requeued"
#define PM_ANSWER_NOTED	   "noted"

#endif
