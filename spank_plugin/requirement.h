/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REQUIREMENT_H
#define PM_REQUIREMENT_H

/*
 * A job's requirement of its node, as the prolog reads it from constraint, options and variables;
 * 'pmctl job begin --expect' gets it.
 */
#include <slurm/spank.h>

#include "base/err.h"
#include "site/config.h"

struct pm_requirement {
	char *modes; /* "memory,flat": a mode of each platform mode that the constraint allows;
			NULL: the constraint names no mode */
	const struct pm_mode_info
		*recorded; /* if modes is NULL: the mode of --pm-mode or PM_MODE; else NULL */
	const char *size;  /* of --pm-size or PM_SIZE, if the modes use it; NULL: none */
	const char *kind;  /* of --pm-namespace or PM_NAMESPACE; both point into the environment */
};

/*
 * The constraint allows one platform mode or several, and modes may share a platform mode.
 * With --pm-mode only its platform mode is left. If one platform mode is left, the job's mode is
 * the first of these that belongs to it: --pm-mode, PM_MODE, the default of the partition, the
 * first mode of the platform mode. If several are left, PM_MODE does not count: each stands for the
 * default of the partition if that belongs to it, else for its first mode. pmem.lua reads a job in
 * the same way.
 *
 * -EINVAL: the constraint cannot be read; -EPERM: no mode satisfies it, or the mode of --pm-mode
 * does not. Both with a sentence for the user; *ret is then untouched. Release with
 * pm_requirement_done().
 */
int pm_requirement_read(spank_t sp, const char *constraints, const struct pm_config *config,
	struct pm_requirement *ret, struct pm_err *err);

void pm_requirement_done(struct pm_requirement *requirement);

#endif
