/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_HANDOVER_H
#define PM_HANDOVER_H

/* What a rank gets, and how pmrun becomes it. */
#include "plan/plan.h"

struct pm_handover {
	const struct pm_plan *plan;
	const struct pm_place *places; /* the request's */
	const char *file;	       /* of the program */
	char **words;		       /* its arguments, with its name */
	const char *runtime;	       /* path to preload; NULL: none */
	const char *profile, *advice;  /* what it is told of these; NULL: nothing */
	int attach_fd; /* where a rank waits for it: plan/apply/attach.h; -1: nowhere */
};

/*
 * Binds this process, puts the rank's variables into its environment and executes the program:
 * returns only the negative errno of what failed.
 */
int pm_handover(const struct pm_handover *handover, unsigned rank, struct pm_err *err);

#endif
