/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REQUEST_H
#define PM_REQUEST_H

#include <slurm/spank.h>

#include "base/err.h"

/*
 * Checks a new job where it is submitted: --pm-mode, else PM_MODE, and passes its variables on to
 * slurmctld. It reads pmem.conf only if one of them is given. pmem.lua checks the same on the
 * controller, as users can bypass this; here a mistake is reported before anything is sent.
 * -EINVAL: unknown mode, mode that Modes= does not offer, bad configuration.
 */
int pm_request_check(spank_t sp, int ac, char **av, struct pm_err *err);

/* Checks only the plan's variables, for a step of a job that was checked before. -EINVAL. */
int pm_request_check_plan(struct pm_err *err);

#endif
