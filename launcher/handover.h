/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PM_HANDOVER_H
#define PM_HANDOVER_H

/* How pmrun becomes a rank. */
#include "plan/apply/rank_environment.h"
#include "site/site_profile.h"

struct pm_handover {
	struct pm_rank_environment environment; /* but for `model`, which is each rank's own */
	const struct pm_site_profile *profile;	/* without sockets: none */
	const struct pm_topology *topology;	/* of the plan */
	const char *file;			/* of the program */
	char **words;				/* its argv, the name first */
};

/*
 * Binds this process, puts the rank's variables into its environment and executes the program.
 * Returns only if one of these fails: the negative errno.
 */
int pm_handover(const struct pm_handover *handover, unsigned rank, struct pm_err *err);

#endif
