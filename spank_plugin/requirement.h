/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_REQUIREMENT_H
#define PM_REQUIREMENT_H

/* What a job expects of its node, as the prolog sees it: 'pmctl job begin' is told so. */
#include <slurm/spank.h>

#include "base/err.h"
#include "site/config.h"

struct pm_requirement {
	char *modes; /* "flat,memory", the wanted one first, one for each platform mode;
		      * NULL: the constraint names no mode */
	const struct pm_mode_info *recorded; /* then that of --pm-mode or PM_MODE, or NULL */
	const char *size; /* of --pm-size or PM_SIZE where the modes have a use for it */
	const char *kind; /* the same of --pm-namespace; both belong to the environment */
};

/*
 * The constraint says which platform modes do. Of the modes of one of them the job means that of
 * --pm-mode, else of PM_MODE, else the default of its partition, else the first; a constraint that
 * leaves the platform open overrules PM_MODE and the default. pmem.lua reads a job in the same way.
 * -EINVAL: the constraint cannot be read; -EPERM: no mode satisfies it, or not that of --pm-mode;
 * both with the sentence for the user. Release with pm_requirement_done().
 */
int pm_requirement_read(spank_t sp, const char *constraints, const struct pm_config *config,
	struct pm_requirement *ret, struct pm_err *err);

void pm_requirement_done(struct pm_requirement *requirement);

#endif
