/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REQUEST_H
#define PM_REQUEST_H

#include <slurm/spank.h>

#include "base/err.h"

/*
 * Checks what a new job asks for, where it is submitted: --pm-mode, else PM_MODE; the variables are
 * passed on to the controller. Without either nothing is read. On the server pmem.lua checks the
 * same, as this can be bypassed; here a mistake is told before anything is sent.
 * -EINVAL: unknown mode, mode that Modes= does not offer, bad configuration.
 */
int pm_request_check(spank_t sp, int ac, char **av, struct pm_err *err);

/* The variables of the plan alone, for a step, whose job has been checked before. -EINVAL. */
int pm_request_check_plan(struct pm_err *err);

#endif
