/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_EXIT_STATUS_H
#define PM_EXIT_STATUS_H

/* With what pmctl ends; beginning a job knows them too. */
enum {
	PM_EXIT_DONE = 0,
	PM_EXIT_FAILED = 1,
	PM_EXIT_USAGE = 2,
	PM_EXIT_CONFLICT = 3, /* job begin: another job holds the node */
	PM_EXIT_REFUSED = 4,  /* job begin: the user asks for what there is not */
	PM_EXIT_REBOOT = 5,   /* only a reboot gives the memory back */
};

#endif
