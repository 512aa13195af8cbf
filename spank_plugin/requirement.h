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
 * The constraint allows platform modes. Of the modes of a single platform mode the job means that
 * of --pm-mode, else of PM_MODE, else the default of its partition, else the first. If the
 * constraint allows several platform modes, PM_MODE does not count, and the default only for its
 * own. pmem.lua reads a job in the same way.
 * -EINVAL: the constraint cannot be read; -EPERM: no mode satisfies it, or not that of --pm-mode.
 * Both with a sentence for the user; *ret is then untouched. Release with pm_requirement_done().
 */
int pm_requirement_read(spank_t sp, const char *constraints, const struct pm_config *config,
	struct pm_requirement *ret, struct pm_err *err);

void pm_requirement_done(struct pm_requirement *requirement);

#endif
